"""A person at a real pseudo-terminal, in a process of its own."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from tests.extent import PATIENCE

from llm_runtime.errors import EmptyReply
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.terminal import terminal

REQUEST = Request("a-person", (Message("user", "What now?"),), CallLabel("crucible", "position"))


def typed(*lines: str) -> Callable[[], Awaitable[str]]:
    rest = iter(lines)

    async def read() -> str:
        return next(rest, "")

    return read


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["one\n", ".\n"], "one"),
        (["one\n", "\n", "two\n", ".\n", "not this\n"], "one\n\ntwo"),
        (["no dot, but the end"], "no dot, but the end"),
        (["..\n", " .\n", ".\r\n"], "..\n ."),
    ],
)
async def test_a_dot_alone_or_the_end_of_input_ends_an_answer(lines: list[str], answer: str) -> None:
    reply = await terminal(read=typed(*lines), write=lambda _: None)(REQUEST)
    assert (reply.text, reply.provider, reply.cost_source) == (answer, "terminal", "free")


async def test_a_blank_answer_is_empty() -> None:
    with pytest.raises(EmptyReply):
        await terminal(read=typed(" \n", ".\n"), write=lambda _: None)(REQUEST)


async def test_one_question_at_a_time() -> None:
    shown: list[str] = []
    keys: asyncio.Queue[str] = asyncio.Queue()
    generate = terminal(read=keys.get, write=shown.append)

    async def ask(content: str) -> str:
        return (await generate(Request("m", (Message("user", content),), CallLabel("t", "p")))).text

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(f"question {number}")) for number in range(3)]
        for number in range(3):
            while len(shown) <= number:  # noqa: ASYNC110 - a list has no event to wait for
                await asyncio.sleep(0)
            assert len(shown) == number + 1
            assert f"question {number}" in shown[-1]
            for line in (f"answer {number}\n", ".\n"):
                keys.put_nowait(line)
    assert [task.result() for task in tasks] == ["answer 0", "answer 1", "answer 2"]


async def test_a_question_cannot_steer_the_terminal() -> None:
    controls = "".join(map(chr, [*range(9), *range(11, 32), *range(127, 160)]))
    hidden = "\u202e\u2066\u200b\u2028\ufeff\U000e0041"
    osc = "\x1b]8;;http://evil.invalid\x07link\x1b]8;;\x07 \x1b]52;c;Zm9v\x07"
    shown: list[str] = []
    request = Request(f"m{controls}", (Message("user", f"a{controls}{hidden}{osc}\tz\né漢👍"),), CallLabel("t", osc))
    await terminal(read=typed("x\n"), write=shown.append)(request)
    assert set(re.findall(r"[\x00-\x1f\x7f-\x9f]", shown[0])) == {"\n", "\t"}
    assert not set(hidden) & set(shown[0])
    assert "\tz\né漢👍" in shown[0]


_PROGRAM = """
import asyncio
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.terminal import terminal

def question(text):
    return Request("m", (Message("user", text),), CallLabel("t", "p"))

async def main():
    generate = terminal()
    print("GOT", repr((await generate(question("first"))).text), flush=True)
    try:
        async with asyncio.timeout(0.05):
            await generate(question("cancelled"))
    except TimeoutError:
        print("CANCELLED", flush=True)
    # Two models at one keyboard take turns.
    both = await asyncio.gather(generate(question("left")), terminal()(question("right")))
    print("GOT", [reply.text for reply in both], flush=True)
    # Nobody else may take the line that is typed now.
    print("GOT", repr(input("input> ")), flush=True)
    print("GOT", repr((await generate(question("last"))).text), flush=True)

asyncio.run(main())
print("DONE", flush=True)
"""


class Screen:
    """The far end of a pseudo-terminal: what a person sees and types."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.seen = ""

    async def until(self, words: str) -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(PATIENCE):
            while words not in self.seen:
                ready = asyncio.Event()
                loop.add_reader(self._descriptor, ready.set)
                try:
                    await ready.wait()
                finally:
                    loop.remove_reader(self._descriptor)
                self.seen += os.read(self._descriptor, 65536).decode()

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())


@pytest.fixture
def pseudo_terminal() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    yield ours, theirs
    for descriptor in (ours, theirs):
        os.close(descriptor)


@pytest.fixture
def screen(pseudo_terminal: tuple[int, int]) -> Iterator[Screen]:
    ours, theirs = pseudo_terminal
    settings = termios.tcgetattr(theirs)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdin=theirs, stdout=theirs, stderr=theirs)
    yield Screen(ours)
    process.kill()
    process.wait()


async def test_a_person_at_a_terminal(screen: Screen) -> None:
    await screen.until("[user]\r\nfirst")
    screen.type("one\ntwo\n.\n")
    await screen.until(r"GOT 'one\ntwo'")
    await screen.until("CANCELLED")
    for side in ("left", "right"):
        await screen.until(f"[user]\r\n{side}")
        assert ("right" in screen.seen) is (side == "right")
        screen.type(f"{side} hand\n.\n")
    await screen.until("GOT ['left hand', 'right hand']")
    await screen.until("input> ")
    screen.type("for input\n")
    await screen.until("GOT 'for input'")
    await screen.until("[user]\r\nlast")
    screen.type("ended by control-d\n\x04")
    await screen.until("GOT 'ended by control-d'")
    await screen.until("DONE")


@pytest.mark.parametrize(("typed", "outcome"), [("from elsewhere\n.\n", "GOT 'from elsewhere'"), ("", "EmptyReply")])
def test_input_need_not_be_a_terminal(typed: str, outcome: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROGRAM.split("    try:")[0] + "asyncio.run(main())"]
    place = tmp_path / "typed"
    place.write_text(typed, encoding="utf-8")
    with place.open() as file:
        from_file = subprocess.run(command, stdin=file, capture_output=True, text=True, timeout=PATIENCE)
    from_pipe = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=PATIENCE)
    for done in (from_file, from_pipe):
        assert outcome in done.stdout + done.stderr
