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
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
# Where in seccomp_data a thing stands: the number, the machine, the lower half of each argument.
_NUMBER, _MACHINE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32

_NEW_NAMESPACES = 0x7E020000
_FAMILIES = (1, 2, 10)  # unix, inet, inet6: what stays inside the box's own network
_TYPE_INTO_TERMINAL = (0x5412, 0x541C)
_SOL_SOCKET, _BUFFERS = 1, (7, 8)

_PRIORITY = (141, 140)
_CLONE_THREAD, _CLONE3 = 0x10000, 435
_CALLS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    resources.files("sandbox").joinpath("filter.toml").read_text(encoding="utf-8")
)
_MACHINES: Mapping[str, Mapping[str, Any]] = _CALLS["machines"]


def program(machine: str = "") -> bytes:
    """Return the filter of a box; empty for a machine whose numbers are not known here.

    Args:
        machine: as :func:`platform.machine` names it; this one where left out.
    """
    here = _numbers(machine)
    if not here:
        return b""
    column: int = here["column"]
    # With one more bit, x32, every call has a second number, under which it would not be looked for.
    rules = [*_begin(here["audit"]), (_AT_LEAST, 0, 1, 0x40000000), _give(errno.ENOSYS)]
    for calls, fault in ((_CALLS["refused"], errno.EPERM), (_CALLS["absent"], errno.ENOSYS)):
        for numbers in calls.values():
            if numbers[column] >= 0:
                rules += [(_EQUAL, 0, 1, numbers[column]), _give(fault)]
    itself = [(_LOAD, 0, 0, _FIRST), (_EQUAL, 1, 0, 0), _give(errno.EPERM)]
    for numbers in _CALLS["of_itself"].values():
        rules += _when(numbers[column], itself)
    rules += _when(_PRIORITY[column], [*itself, (_LOAD, 0, 0, _SECOND), *itself[1:]])
    rules += _when(here["clone"], [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 0, 1, _NEW_NAMESPACES), _give(errno.EPERM)])
    families = [(_EQUAL, len(_FAMILIES) - place, 0, family) for place, family in enumerate(_FAMILIES)]
    rules += _when(here["socket"], [(_LOAD, 0, 0, _FIRST), *families, _give(errno.EAFNOSUPPORT)])
    typed = [rule for one in _TYPE_INTO_TERMINAL for rule in ((_EQUAL, 0, 1, one), _give(errno.EPERM))]
    rules += _when(here["ioctl"], [(_LOAD, 0, 0, _SECOND), *typed])
    # A buffer's size stays what it is, and whoever asks is told that all is well.
    inner = [(_LOAD, 0, 0, _THIRD), *[rule for one in _BUFFERS for rule in ((_EQUAL, 0, 1, one), _give(0))]]
    rules += _when(here["setsockopt"], [(_LOAD, 0, 0, _SECOND), (_EQUAL, 0, len(inner), _SOL_SOCKET), *inner])
    return _packed([*rules, (_GIVE, 0, 0, _ALLOW)])


def confining(machine: str = "") -> bytes:
    """Return the filter of a program that starts threads but no process, and opens no socket; empty as above."""
    here = _numbers(machine)
    if not here:
        return b""
    rules = [*_begin(here["audit"]), (_AT_LEAST, 0, 1, 0x40000000), _give(errno.EPERM)]
    rules += [(_EQUAL, 0, 1, _CLONE3), _give(errno.ENOSYS)]
    for number in here["confined"]:
        rules += [(_EQUAL, 0, 1, number), _give(errno.EPERM)]
    threads = [(_LOAD, 0, 0, _FIRST), (_ANY_BIT, 1, 0, _CLONE_THREAD), _give(errno.EPERM)]
    return _packed([*rules, *_when(here["clone"], threads), (_GIVE, 0, 0, _ALLOW)])


def sealing(machine: str = "") -> bytes:
    """Return the filter that a program which serves puts on itself before its first call; empty as above.

    Any other call ends the process (SIGSYS). Threads go on starting, by clone, whose flags the filter can see.
    """
    here = _numbers(machine)
    if not here:
        return b""
    rules = _begin(here["audit"])
    for number in here["sealed"]:
        rules += [(_EQUAL, 0, 1, number), (_GIVE, 0, 0, _ALLOW)]
    rules += [(_EQUAL, 0, 1, _CLONE3), _give(errno.ENOSYS)]
    # Refused, the abort of a C library ends the process by other means, and is not taken for an escape.
    rules += [(_EQUAL, 0, 1, here["tgkill"]), _give(errno.EPERM)]
    rules += [
        (_EQUAL, 0, 3, here["clone"]),
        (_LOAD, 0, 0, _FIRST),
        (_ANY_BIT, 0, 1, _CLONE_THREAD),
        (_GIVE, 0, 0, _ALLOW),
    ]
    return _packed([*rules, (_GIVE, 0, 0, _KILL)])


def _numbers(machine: str) -> Mapping[str, Any]:
    """Return what is known of a machine, by the kernel's own name of it; empty where nothing is."""
    machine = machine or platform.machine()
    return _MACHINES.get({"AMD64": "x86_64", "arm64": "aarch64"}.get(machine, machine), {})


def _begin(audit: int) -> list[tuple[int, int, int, int]]:
    return [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, audit), (_GIVE, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]


def _packed(rules: list[tuple[int, int, int, int]]) -> bytes:
    return b"".join(struct.pack("<HBBI", *rule) for rule in rules)


def _give(fault: int) -> tuple[int, int, int, int]:
    return (_GIVE, 0, 0, _ERRNO | fault)


def _when(number: int, rules: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Look closer at one call; what none of the rules refuses is allowed."""
    return [(_EQUAL, 0, len(rules) + 1, number), *rules, (_GIVE, 0, 0, _ALLOW)]
