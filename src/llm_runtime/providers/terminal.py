"""A model that is the person at the keyboard."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from llm_runtime.errors import ConfigurationError, EmptyReply
from llm_runtime.http.shape import harmless
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.rewording import instead
from llm_runtime.tokens import estimated_usage

END = "."

_CHUNK_BYTES = 65536


def terminal(
    *, read: Callable[[], Awaitable[str]] | None = None, write: Callable[[str], object] | None = None
) -> Generate:
    """Return a model function that shows each request and takes the answer from the keyboard, one at a time.

    The answer may have many lines; a line with a single dot, or the end of input, ends it. Nothing in a request
    can steer the terminal: control and bidirectional characters are left out of what is shown.

    Args:
        read: returns the next line with its newline, or ``""`` at the end of input; standard input by default.
        write: shows a text; standard error by default, so that standard output stays free for results.

    Returns:
        A function that raises :class:`EmptyReply` for an answer without text, and :class:`ConfigurationError`
        where there is no standard input.
    """
    keyboard = _STANDARD_INPUT if read is None else _Keyboard(read)
    show = write or _to_stderr

    async def generate(request: Request) -> Reply:
        async with keyboard.turn():
            show(_question(request))
            lines: list[str] = []
            while (line := await keyboard.read()) and line.rstrip("\r\n") != END:
                lines.append(line)
        answer = "".join(lines).rstrip("\r\n")
        if not answer.strip():
            raise EmptyReply("the answer at the keyboard is blank", provider="terminal", model=request.model)
        return Reply(answer, request.model, "terminal", estimated_usage(request, answer), cost=0, cost_source="free")

    return generate


class _Keyboard:
    """Lines, and whose turn it is to wait for them."""

    def __init__(self, read: Callable[[], Awaitable[str]]) -> None:
        self.read = read
        self._turns: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}

    def turn(self) -> asyncio.Lock:
        return self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())


class _StandardInput:
    """The lines of standard input, read only while somebody waits for one.

    A thread in ``readline`` cannot be called back: after a cancelled question it would take the next line from
    whoever asks then. So the event loop watches the descriptor, and only what is there already is read; at a
    terminal that is one line at a time, which leaves the rest to others.
    """

    def __init__(self) -> None:
        self._pending = b""

    async def line(self) -> str:
        """Read the next line with its newline; ``""`` at the end of input."""
        while b"\n" not in self._pending:
            chunk = await _chunk(_descriptor())
            if not chunk:
                break
            self._pending += chunk
        line, newline, self._pending = self._pending.partition(b"\n")
        return (line + newline).decode(errors="replace")


# A process has one standard input, so all who ask there take turns, and share what was read ahead from a pipe.
_STANDARD_INPUT = _Keyboard(_StandardInput().line)


async def _chunk(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:
        # A regular file cannot be watched, and need not be.
        return os.read(descriptor, _CHUNK_BYTES)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _CHUNK_BYTES)


def _descriptor() -> int:
    refused = ConfigurationError("terminal: needs a standard input; run it from a terminal")
    with instead(refused, AttributeError, OSError, ValueError):
        return sys.stdin.fileno()


def _question(request: Request) -> str:
    parts = [f"── {request.label} ── asked of {request.model}"]
    parts += [f"[{message.role}]\n{message.content}" for message in request.messages]
    if request.schema is not None:
        parts.append(f"[the answer must be JSON that fits]\n{request.schema}")
    parts.append(f"Your answer, ended by a line with a single {END!r}:\n")
    return harmless("\n\n".join(parts))


def _to_stderr(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
