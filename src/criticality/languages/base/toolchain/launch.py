"""The last step into the box: limits, a filter of system calls, then the program itself.

``python launch.py JSON PROGRAM ARGUMENT...`` with ``{"seconds", "memory", "file", "confined"}``. A confined program
starts threads but no process and opens no socket; that holds for root too, whom the kernel's process limit does not
bind, and where there is no bubblewrap. Stands alone: nothing of the tool is imported in here.
"""

# pyright: basic
# Standard library only: this file is copied to where the tool itself is not.
import ctypes
import json
import os
import platform
import resource
import sys

_REFUSE, _NOT_THERE, _ALLOW, _KILL = 0x00050001, 0x00050026, 0x7FFF0000, 0x80000000
_CLONE_THREAD = 0x10000
#: By machine: the kernel's name for it, clone, clone3, and the calls that are refused: processes, sockets, looking
#: into other processes, and the ring that does all of it without calls.
_CALLS = {
    "x86_64": (0xC000003E, 56, 435, (57, 58, 322, 41, 42, 49, 101, 310, 311, 425)),
    "aarch64": (0xC00000B7, 220, 435, (281, 198, 203, 200, 117, 270, 271, 425)),
}


def confine() -> bool:
    """Filter the calls of this process and of what comes of it; whether the machine has such a filter."""
    known = _CALLS.get(platform.machine())
    if known is None or not sys.platform.startswith("linux"):
        return False
    architecture, clone, clone3, refused = known
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    rules = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, _KILL), (load, 0, 0, 0)]
    # Numbers with the x32 bit name the same calls again.
    rules += [(at_least, 0, 1, 0x40000000), (give, 0, 0, _REFUSE)]
    # What clone3 is asked for lies behind a pointer; told that it is missing, the C library takes clone.
    rules += [(equal, 0, 1, clone3), (give, 0, 0, _NOT_THERE)]
    for number in refused:
        rules += [(equal, 0, 1, number), (give, 0, 0, _REFUSE)]
    rules += [(equal, 0, 3, clone), (load, 0, 0, 16), (any_bit, 1, 0, _CLONE_THREAD), (give, 0, 0, _REFUSE)]
    rules.append((give, 0, 0, _ALLOW))

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]

    array = (Instruction * len(rules))(*[Instruction(*rule) for rule in rules])
    program = Program(len(rules), array)
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0


def limit(what, value):
    """Lower a limit; one that is lower already stays."""
    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))


def main():
    """Set what the first argument says, then become the program."""
    wanted, command = json.loads(sys.argv[1]), sys.argv[2:]
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_NOFILE, 1024)
    limit(resource.RLIMIT_CPU, int(wanted["seconds"] * 4) + 2)
    limit(resource.RLIMIT_FSIZE, wanted["file"])
    if wanted["memory"] and sys.platform.startswith("linux"):
        limit(resource.RLIMIT_DATA, wanted["memory"])
    if wanted["confined"]:
        confine()
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
