"""Councils counted in instructions of the client's process, which a busy machine does not change; needs valgrind.

What the kernel does, the disk above all, is not in them. Valgrind lacks the processor's instructions for SHA-256: the
315 kB that a recorded council hashes are 9 million here, and less than one outside. ``python -m bench instructions``
takes some minutes.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

from bench.councils import SIZES, calls
from bench.figures import Figure
from bench.server import server

#: Councils of the shorter and of the longer run, whose difference leaves out what a process does once.
_FEW, _MANY = 3, 9
_TOTAL = re.compile(r"I\s+refs:\s+([\d,]+)")
_BARE = "bare, whole answers"


def millions(kind: str, url: str, sent: str) -> float:
    """Return the million instructions of one council by one kind of client, one at a time."""

    def counted(councils: int) -> int:
        tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        client = [sys.executable, "-m", "bench.clients", kind, url, "1", str(councils)]
        done = subprocess.run([*tool, *client], check=True, input=sent, capture_output=True, text=True)
        found = _TOTAL.search(done.stderr)
        assert found is not None, done.stderr
        return int(found[1].replace(",", ""))

    # A third as many again are held before anything is measured.
    return (counted(_MANY) - counted(_FEW)) / (_MANY - _FEW + _MANY // 3 - _FEW // 3) / 1e6


def figures() -> Iterator[Figure]:
    """The councils beside the bare client that makes the same calls."""
    if shutil.which("valgrind") is None:
        return
    with server(0) as url:
        for kind in SIZES:
            sent = calls(kind)
            bare, own = (millions(client, url, sent) for client in (_BARE, kind))
            yield Figure(f"instructions, a council of {SIZES[kind][0]} calls, {_BARE}", bare, "million")
            yield Figure(f"... {kind}", own, "million")
            yield Figure(f"... {kind}, of {_BARE}", own / bare, "x")
