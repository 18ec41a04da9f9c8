"""The last step into a box: limits, filters of system calls, then the program itself.

``python launch.py JSON PROGRAM ARGUMENT...`` with ``{"limits": {NAME: VALUE}, "filters": [HEX], "must": BOOL}``.
Stands alone: it is handed to the box as text, and runs under whatever Python is there.
"""

# pyright: basic
import ctypes
import json
import os
import resource
import sys


def limit(name, value):
    """Lower a limit; one that is lower already stays."""
    what = getattr(resource, "RLIMIT_" + name)
    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))


def confine(rules):
    """Filter the calls of this process and of what comes of it; whether the kernel took the filter."""

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    libc, program = ctypes.CDLL(None, use_errno=True), Program(len(rules) // 8, rules)
    return libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0


def main():
    """Set what the first argument says, then become the program."""
    wanted, command = json.loads(sys.argv[1]), sys.argv[2:]
    for name, value in wanted["limits"].items():
        limit(name, value)
    for rules in wanted["filters"] if sys.platform.startswith("linux") else ():
        if not confine(bytes.fromhex(rules)) and wanted["must"]:
            sys.exit("the kernel takes no filter of system calls")
    try:
        os.execvp(command[0], command)
    except OSError as fault:
        sys.exit("%s: %s" % (command[0], fault.strerror))  # noqa: UP031 - under whatever Python is there


if __name__ == "__main__":
    main()
