"""Attacks on a box, of every backend; each prints ESCAPED where it got what it wanted, and none does."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox import Box, BoxLimits, open_box

LIMITS = BoxLimits(seconds=12, memory=96 << 20, disk=8 << 20, inodes=400, processes=24)
CANARY = "q7canary"

NOTHING = b"\0" * 10240
"""An archive of nothing."""

SHARED, *PARTS = (Path(__file__).with_name("escapes.txt").read_text(encoding="utf-8")).split("\n# --- ")
ATTACKS = dict(part.split("\n", 1) for part in PARTS)
TABLE = (Path(__file__).parents[2] / "docs/attacks.md").read_text(encoding="utf-8")


@pytest.fixture
def bait(tmp_path: Path) -> Path:
    """A file that a solver would like to read."""
    place = tmp_path / "oracle" / "canary-q7.txt"
    place.parent.mkdir()
    place.write_text(CANARY)
    return place


@pytest.fixture
def listeners(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """A port, and an abstract name, on which the host listens."""
    name = f"assay-{tmp_path.name}"
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        unix.bind("\0" + name)
        unix.listen()
        yield tcp.getsockname()[1], name


@pytest.fixture
async def box(boxes: str) -> AsyncIterator[Box]:
    box = await open_box(LIMITS, by=boxes)
    yield box
    await box.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def besieged(boxes: str) -> AsyncIterator[Box]:
    """One box for all attacks, as if nothing had been after each of them."""
    box = await open_box(LIMITS, by=boxes)
    yield box
    await box.close()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("attack", ATTACKS)
async def test_no_attack_gets_what_it_wants(besieged: Box, bait: Path, listeners: tuple[int, str], attack: str) -> None:
    port, name = listeners
    facts = f"CANARY_FILE, CANARY_NAME, PORT, ABSTRACT = {str(bait)!r}, {bait.name!r}, {port}, {name!r}\n"
    done = await besieged.run(["python3", "-c", f"{SHARED}\n{facts}{ATTACKS[attack]}"])
    assert b"ESCAPED" not in done.stdout and CANARY.encode() not in done.stdout, done
    assert b"SyntaxError" not in done.stderr and b"NameError" not in done.stderr, done.stderr.decode()
    # How many there are when they are counted, is told by no clock; that there are too many, is.
    assert done.ended == "files" or f"| {attack} | the command is ended: files" not in TABLE
    with suppress(ValueError):  # too deep to be copied out
        assert (await besieged.pack())[:1]
    after = await besieged.run(["sh", "-c", "rm -f /tmp/late; sleep 0.03; test -e /tmp/late || echo alone"])
    assert after.stdout == b"alone\n"
    await besieged.unpack(NOTHING)


def test_the_table_names_every_attack() -> None:
    assert len(ATTACKS) >= 40 and not [name for name in ATTACKS if f"| {name} |" not in TABLE]


async def test_what_cannot_be_copied_out_ends_the_attempt_and_not_the_box(boxes: str) -> None:
    box = await open_box(replace_limits(disk=24 << 20, archive=16 << 20, inodes=5000), by=boxes)
    try:
        deep = "import os\nfor _ in range(1500):\n os.mkdir('d')\n os.chdir('d')"
        for spoil in (["python3", "-c", deep], ["sh", "-c", "yes '' | head -c 20000000 > total.py"]):
            await box.run(spoil)
            with pytest.raises(ValueError, match=r"deep|larger"):
                await box.pack()
            await box.run(["sh", "-c", "rm -rf *"])
        for path in ("half\ud800", "null\0", ""):
            with pytest.raises(OSError, match="half a character"):
                await box.write(path, b"")
        assert (await box.run(["ls"])).stdout == b""
    finally:
        await box.close()


async def test_shared_memory_is_emptied_between_two_exercises(box: Box) -> None:
    empty = await box.pack()
    await box.run(["sh", "-c", "echo seen > /dev/shm/note; mkdir -p /dev/shm/a/b /tmp/c; chmod 500 /dev/shm/a"])
    await box.unpack(empty)
    assert (await box.run(["sh", "-c", "ls -A /dev/shm /tmp | grep -v :"])).stdout.strip() == b""


def replace_limits(**changes: int) -> BoxLimits:
    return LIMITS.model_copy(update=changes)
