"""One command in a box of its own, and a program that is served over its pipes, for every backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import BoxLimits, Gone, Order, Root, Served, run

LIMITS = BoxLimits(seconds=20, output=2048, processes=64, address_space=1 << 30)
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
ECHO = """
import struct, sys, time
while True:
    size = struct.unpack(">I", sys.stdin.buffer.read(4))[0]
    said = sys.stdin.buffer.read(size)
    while said == b"loop": pass
    if said == b"end": sys.exit(3)
    if said == b"much": sys.stdout.buffer.write(struct.pack(">I", 1 << 30)); sys.stdout.buffer.flush()
    sys.stdout.buffer.write(struct.pack(">I", size) + said); sys.stdout.buffer.flush()
"""


def order(*command: str, seconds: float = 20, **holds: object) -> Order:
    limits = LIMITS.model_copy(update={"seconds": seconds})
    return Order(command, limits, root=Root(whole=True), environment=ENVIRONMENT, **holds)  # type: ignore[arg-type]


async def test_a_command_writes_where_it_may_and_nowhere_else(boxes: str, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir(), other.mkdir()
    script = f"echo 1 > {mine}/new; echo 1 > {other}/new; echo 1 > /usr/new; env; exit 7"
    done = await run(order("sh", "-c", script, writable=(mine,), readable=(other,)), by=boxes)
    assert done.code == 7 and not done.ended
    assert (mine / "new").exists() and not (other / "new").exists()
    assert {line.partition("=")[0] for line in done.text.splitlines() if "=" in line} >= {"PATH"}
    assert "ASSAY" not in done.text


@pytest.mark.parametrize(
    ("script", "ended"),
    [("while :; do :; done", "time"), ("yes | head -c 5000000; echo end", ""), ("(setsid sleep 600 &) ; echo off", "")],
)
async def test_a_command_ends_and_all_that_it_started(boxes: str, script: str, ended: str) -> None:
    done = await run(order("sh", "-c", script, seconds=2 if ended else 20), by=boxes)
    assert done.ended == ended and len(done.stdout) <= LIMITS.output


async def test_who_is_confined_starts_no_process_and_opens_no_socket(boxes: str) -> None:
    script = "import os, socket\nfor act in (os.fork, socket.socket):\n try: act()\n except OSError: print('no')"
    done = await run(order("python3", "-c", script, confined=True), by=boxes)
    assert done.text.split() == ["no", "no"]


def test_a_program_answers_until_it_ends_and_says_why(boxes: str) -> None:
    for said, why in ((b"end", "ended"), (b"much", "larger than"), (b"loop", "more than 0.4 s")):
        served = Served(order("python3", "-c", ECHO), by=boxes)
        try:
            served.send(5, b"hello")
            assert served.receive(20) == b"hello"
            served.send(5, said)
            with pytest.raises(Gone, match=why):
                served.receive(0.4 if said == b"loop" else 20)
        finally:
            served.close()
