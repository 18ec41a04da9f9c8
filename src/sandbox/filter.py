"""The filter of system calls that a box runs under, as the kernel's own small program (classic BPF, seccomp(2)).

Everything is allowed but what stands here. A program is a row of instructions of eight bytes: operation, two jumps
(how many instructions to skip where a test holds, and where it does not), and a number. It loads the call's number,
compares it with one after the other, and gives a verdict. Numbers differ by machine; a call of another machine's
kind (32-bit on 64) ends the process, since its numbers mean something else.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
# Where in seccomp_data a thing stands: the number, the machine, the lower half of each argument.
_NUMBER, _MACHINE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32

_NEW_NAMESPACES = 0x7E020000
_FAMILIES = (1, 2, 10)  # unix, inet, inet6: what stays inside the box's own network
_TYPE_INTO_TERMINAL = (0x5412, 0x541C)
_SOL_SOCKET, _BUFFERS = 1, (7, 8)

#: Refused as not permitted: by name, the number on x86_64 and on aarch64 (-1 where there is none).
REFUSED: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "perf_event_open": (298, 241), "bpf": (321, 280),
    "userfaultfd": (323, 282), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "acct": (163, 89), "quotactl": (179, 60),
    "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "fanotify_init": (300, 262), "personality": (135, 92), "sethostname": (170, 161),
    "setdomainname": (171, 162), "iopl": (172, -1), "ioperm": (173, -1), "modify_ldt": (154, -1),
    "move_pages": (279, 239), "migrate_pages": (256, 238), "vmsplice": (278, 75), "lookup_dcookie": (212, 18),
    "ioprio_set": (251, 30),
}  # fmt: skip
#: Refused as if the kernel had no such call, so that programs take another way. These hold memory that no process
#: is seen to hold, or reach the kernel without calls.
ABSENT: dict[str, tuple[int, int]] = {
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "semget": (64, 190), "semctl": (66, 191), "semop": (65, 193), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180),
    # What it is asked for lies behind a pointer; told that it is missing, the C library takes clone.
    "clone3": (435, 435),
}  # fmt: skip
#: A process may ask these about itself alone: about the supervisor they would slow it down or take its limits away.
OF_ITSELF: dict[str, tuple[int, int]] = {
    "prlimit64": (302, 261), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
}  # fmt: skip
_PRIORITY = (141, 140)
#: By machine: the kernel's name for it, and the numbers of clone, socket, ioctl and setsockopt.
_MACHINES = {"x86_64": (0xC000003E, 56, 41, 16, 54), "aarch64": (0xC00000B7, 220, 198, 29, 208)}

_CLONE_THREAD, _CLONE3 = 0x10000, 435
#: Refused to who is confined: processes, sockets, looking into other processes, and the ring that does it all.
_CONFINED = {
    "x86_64": (57, 58, 322, 41, 42, 49, 101, 310, 311, 425),
    "aarch64": (281, 198, 203, 200, 117, 270, 271, 425),
}
#: tgkill, and all that a sealed program is left: the calls for pipes, memory, threads, signals and time.
_SEALED = {
    "x86_64": (
        234,
        (0, 1, 9, 10, 11, 12, 13, 14, 15, 20, 24, 25, 28, 35, 39, 60, 96, 131, 186, 202, 204, 228, 230, 231, 232,
         233, 273, 281, 290, 291, 318, 334),
    ),
    "aarch64": (
        131,
        (19, 20, 21, 22, 63, 64, 66, 93, 94, 98, 99, 101, 113, 115, 123, 124, 132, 134, 135, 139, 169, 172, 178,
         214, 215, 216, 222, 226, 233, 278, 293),
    ),
}  # fmt: skip


def program(machine: str = "") -> bytes:
    """Return the filter of a box; empty for a machine whose numbers are not known here.

    Args:
        machine: as :func:`platform.machine` names it; this one where left out.
    """
    machine = _known(machine)
    if not machine:
        return b""
    column = list(_MACHINES).index(machine)
    audit, clone, socket, ioctl, setsockopt = _MACHINES[machine]
    # With one more bit, x32, every call has a second number, under which it would not be looked for.
    rules = [*_begin(audit), (_AT_LEAST, 0, 1, 0x40000000), _give(errno.ENOSYS)]
    for calls, fault in ((REFUSED, errno.EPERM), (ABSENT, errno.ENOSYS)):
        for numbers in calls.values():
            if numbers[column] >= 0:
                rules += [(_EQUAL, 0, 1, numbers[column]), _give(fault)]
    itself = [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, 0), _give(errno.EPERM)]
    for numbers in OF_ITSELF.values():
        rules += _when(numbers[column], itself)
    rules += _when(_PRIORITY[column], [*itself, (_LOAD, 0, 0, _SECOND), *itself[1:]])
    rules += _when(clone, [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), _give(errno.EPERM)])
    families = [(_EQUAL, len(_FAMILIES) - place, 0, family) for place, family in enumerate(_FAMILIES)]
    rules += _when(socket, [(_LOAD, 0, 0, _FIRST), *families, _give(errno.EAFNOSUPPORT)])
    typed = [rule for one in _TYPE_INTO_TERMINAL for rule in ((_EQUAL, 0, 1, one), _give(errno.EPERM))]
    rules += _when(ioctl, [(_LOAD, 0, 0, _SECOND), *typed])
    # A buffer's size stays what it is, and whoever asks is told that all is well.
    sized = [rule for one in _BUFFERS for rule in ((_EQUAL, 0, 1, one), _give(0))]
    inner = [(_LOAD, 0, 0, _THIRD), *sized]
    rules += _when(setsockopt, [(_LOAD, 0, 0, _SECOND), (_EQUAL, 0, len(inner), _SOL_SOCKET), *inner])
    return _packed([*rules, (_GIVE, 0, 0, _ALLOW)])


def confining(machine: str = "") -> bytes:
    """Return the filter of a program that starts threads but no process, and opens no socket; empty as above."""
    machine = _known(machine)
    if not machine:
        return b""
    audit, clone = _MACHINES[machine][:2]
    rules = [*_begin(audit), (_AT_LEAST, 0, 1, 0x40000000), _give(errno.EPERM)]
    rules += [(_EQUAL, 0, 1, _CLONE3), _give(errno.ENOSYS)]
    for number in _CONFINED[machine]:
        rules += [(_EQUAL, 0, 1, number), _give(errno.EPERM)]
    threads = [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 1, 0, _CLONE_THREAD), _give(errno.EPERM)]
    return _packed([*rules, *_when(clone, threads), (_GIVE, 0, 0, _ALLOW)])


def sealing(machine: str = "") -> bytes:
    """Return the filter that a program which serves puts on itself before its first call; empty as above.

    Any other call ends the process (SIGSYS). Threads go on starting, by clone, whose flags the filter can see.
    """
    machine = _known(machine)
    if not machine:
        return b""
    audit, clone = _MACHINES[machine][:2]
    tgkill, allowed = _SEALED[machine]
    rules = _begin(audit)
    for number in allowed:
        rules += [(_EQUAL, 0, 1, number), (_GIVE, 0, 0, _ALLOW)]
    rules += [(_EQUAL, 0, 1, _CLONE3), _give(errno.ENOSYS)]
    # Refused, the abort of a C library ends the process by other means, and is not taken for an escape.
    rules += [(_EQUAL, 0, 1, tgkill), _give(errno.EPERM)]
    rules += [(_EQUAL, 0, 3, clone), (_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _CLONE_THREAD), (_GIVE, 0, 0, _ALLOW)]
    return _packed([*rules, (_GIVE, 0, 0, _KILL)])


def _known(machine: str) -> str:
    """Return a machine by the kernel's own name; empty where its numbers are not known here."""
    machine = machine or platform.machine()
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    return machine if machine in _MACHINES else ""


def _begin(audit: int) -> list[tuple[int, int, int, int]]:
    return [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, audit), (_GIVE, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]


def _packed(rules: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("<HBBI", *rule) for rule in rules)


def _give(fault: int) -> tuple[int, int, int, int]:
    return (_GIVE, 0, 0, _ERRNO | fault)


def _when(number: int, rules: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Look closer at one call; what none of the rules refuses is allowed."""
    return [(_EQUAL, 0, len(rules) + 1, number), *rules, (_GIVE, 0, 0, _ALLOW)]
