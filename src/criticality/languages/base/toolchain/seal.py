"""The seal of a served program: what it may still ask the kernel for, once it is ready for its first call."""

from __future__ import annotations

import json
import platform
import struct
import sys
from collections.abc import Sequence

from criticality.languages.base.data import read_text
from criticality.languages.base.toolchain.sandbox import can_confine

_LOAD, _EQUAL, _ANY_BIT, _GIVE = 0x20, 0x15, 0x45, 0x06
_ALLOW, _KILL, _ABSENT, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050026, 0x00050001
_CLONE_THREAD = 0x10000
_CLONE3 = 435
#: By machine: the kernel's name for it, clone, tgkill, and the calls for pipes, memory, threads, signals and time.
_CALLS = {
    "x86_64": (
        0xC000003E, 56, 234,
        (0, 1, 9, 10, 11, 12, 13, 14, 15, 20, 24, 25, 28, 35, 39, 60, 96, 131, 186, 202, 204, 228, 230, 231, 232,
         233, 273, 281, 290, 291, 318, 334),
    ),
    "aarch64": (
        0xC00000B7, 220, 131,
        (19, 20, 21, 22, 63, 64, 66, 93, 94, 98, 99, 101, 113, 115, 123, 124, 132, 134, 135, 139, 169, 172, 178,
         214, 215, 216, 222, 226, 233, 278, 293),
    ),
}  # fmt: skip


def seal() -> str:
    """Return the filter that a program puts on itself, in hexadecimal; empty where there is none for this machine.

    Any other call ends the process (SIGSYS). Threads go on starting, by clone, whose flags the filter can see.
    """
    known = _CALLS.get(platform.machine())
    if known is None or not sys.platform.startswith("linux"):
        return ""
    architecture, clone, tgkill, allowed = known
    rules = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_GIVE, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    for number in allowed:
        rules += [(_EQUAL, 0, 1, number), (_GIVE, 0, 0, _ALLOW)]
    rules += [(_EQUAL, 0, 1, _CLONE3), (_GIVE, 0, 0, _ABSENT)]
    # Refused, the abort of a C library ends the process by other means, and is not taken for an escape.
    rules += [(_EQUAL, 0, 1, tgkill), (_GIVE, 0, 0, _REFUSE)]
    rules += [(_EQUAL, 0, 3, clone), (_LOAD, 0, 0, 16), (_ANY_BIT, 0, 1, _CLONE_THREAD), (_GIVE, 0, 0, _ALLOW)]
    return b"".join(struct.pack("<HBBI", *rule) for rule in [*rules, (_GIVE, 0, 0, _KILL)]).hex()


def launched(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command that starts without processes and sockets, for a program that cannot seal itself.

    It gets what seals it, in words, as the last argument before its variant.
    """
    limits = {"seconds": 3600, "memory": 0, "file": 1 << 20, "confined": True}
    words = (sys.executable, "-I", "-S", "-B", "launch.py", json.dumps(limits), *command)
    return (*words, "no processes, no sockets" if can_confine() else "")


def launcher() -> dict[str, str]:
    """Return the launcher as a file of a served program."""
    return {"launch.py": read_text("criticality.languages.base.toolchain", "launch.py")}
