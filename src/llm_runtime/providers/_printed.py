"""What a program prints, as an answer: read line by line as its entry says, within bounds; what its errors mean."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from llm_runtime.errors import (
    AuthenticationFailed,
    CallError,
    ErrorInReply,
    MalformedReply,
    NotSignedIn,
    QuotaExhausted,
    RateLimited,
    ReplyRepeats,
    ReplyTooLarge,
    RequestRefused,
)
from llm_runtime.http.causes import error_in_reply
from llm_runtime.http.reading import REPEATS, parse_json
from llm_runtime.http.secrets import Redactor
from llm_runtime.http.shape import count, harmless, mapping, one_line, text
from llm_runtime.http.streams import LineStream
from llm_runtime.messages import OnDelta, Request, Usage
from llm_runtime.programs import AgentProgram, PrintedLine
from llm_runtime.providers._answer import Answer

_LINE_BYTES = 16 * 2**20
_OUTPUT_BYTES = 64 * 2**20
_ANSWER_CHARACTERS = 4 * 2**20
_SAID = [name for name in PrintedLine.model_fields if name != "when"]
_COUNTED = ("input", "cached", "output", "reasoning", "resets", "status")
_CLOCK = re.compile(r"(?:\bat|\bresets) (\d{1,2})(?::(\d\d))? ?([ap])m\b", re.IGNORECASE)
#: Sequences that steer a terminal (ECMA-48).
_STEERING = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


class Printed(Answer):
    """What a program prints, line by line."""

    def __init__(
        self, request: Request, provider: str, program: AgentProgram, redactor: Redactor, on_delta: OnDelta
    ) -> None:
        super().__init__(request, provider, redactor, on_delta)
        self.program = program
        self.words = ""
        self.counts: dict[str, int] = {}
        self._lines, self._whole = LineStream(_LINE_BYTES), bytearray()

    def hear(self, chunk: bytes) -> bool:
        """Take in some of the output; tell whether words of the model were in it, and not of the program alone."""
        if not self.program.lines:
            self._whole += chunk
            return bool(chunk)
        before = self.size
        self._pass_on(self._lines.read(chunk))
        return self.size > before

    def hear_end(self) -> None:
        """Note that all of the output was heard."""
        self._pass_on(self._lines.close())
        if self._whole:
            self.say(harmless(_STEERING.sub(b"", self._whole).decode("utf-8", "replace")))

    def _pass_on(self, events: Iterable[tuple[bytes, bytes]]) -> None:
        for name, data in events:
            # Programs print remarks of their own between their objects, and steer a terminal before one.
            line = _STEERING.sub(b"", data).strip()
            value, fault = parse_json(line) if line.startswith(b"{") else (None, "")
            if fault is None:
                self.add(name, value)

    def need_bounds(self, size: int) -> None:
        """Refuse what is no answer: ``size`` bytes were printed so far.

        Raises:
            CallError: it is larger than any answer, or one passage again and again.
        """
        if self.loops:
            raise self.error_of(ReplyRepeats, REPEATS)
        if max(len(self._whole), self.size) > _ANSWER_CHARACTERS or self._lines.overflow or size > _OUTPUT_BYTES:
            words = f"{self.program.argv[0]} printed more than any answer has, and was ended"
            raise self.error_of(ReplyTooLarge, words)

    def add(self, name: bytes, data: Any) -> None:
        for line in self.program.lines:
            if all(_at(data, path) == value for path, value in line.when.items()):
                self._take_in(line, data)

    def _take_in(self, line: PrintedLine, data: Any) -> None:
        found = {kind: [_at(data, path) for path in getattr(line, kind)] for kind in _SAID}
        said = {kind: "".join(map(text, found[kind])) for kind in _SAID}
        self.say(said["piece"])
        self.think(said["thought"])
        self.model = self.model or said["model"]
        self.words = self.words or said["error"]
        if line.text:
            self.is_whole(said["text"])
        self.counts |= {kind: number for kind in _COUNTED if (number := _summed(found[kind])) is not None}
        known = self.counts
        if {"input", "output"} <= known.keys():
            cached, thought = known.get("cached", 0), known.get("reasoning", 0)
            self.usage = Usage(known["input"], known["output"], cached_tokens=cached, reasoning_tokens=thought)

    def is_whole(self, answer: str) -> None:
        """Take in the whole answer, whatever came in pieces before it: a program may have tried more than once."""
        if self._text.getvalue() != answer:
            if not self.size:
                self.say(answer)
            self.end()
            self._text.seek(0)
            self._text.truncate()
            self._text.write(answer)
        self.finish = "stop"

    def fault(self, code: int, last_words: str) -> CallError | None:
        """Return what is wrong with what was printed; ``None`` where it is an answer."""
        path = Path(self.program.argv[0]).name
        if self.words or code:
            words = self._redactor.text(one_line(harmless(self.words or last_words)))
            return self._meaning(words or f"it ended with code {code}", path)
        if self.finish or self.usage or (self.size and not self.program.lines):
            self.finish = "stop"
            return None
        words = f"what {path} printed is no answer of {self.program.title or path}"
        error = self.error_of(MalformedReply, f"{words}; is it another program of that name, or an older one?")
        error.retryable = False
        return error

    def _meaning(self, words: str, path: str) -> CallError:
        """Return what a program's words mean as an error of ours."""
        status = self.counts.get("status", 0)
        found = {"message": words} | ({"code": status} if status >= 400 else {})
        error = error_in_reply(found, begun=bool(self.size), dialect="agent", **self.called())
        if isinstance(error, AuthenticationFailed):
            return self.error_of(NotSignedIn, f"not signed in: {self.program.sign_in} ({words})")
        if isinstance(error, RateLimited | QuotaExhausted):
            return self._limited(words)
        # The program itself has asked again.
        error.retryable = error.retryable and not isinstance(error, MalformedReply)
        if type(error) is ErrorInReply:
            return self.error_of(RequestRefused, f"{path} gave no answer: {words}")
        return error

    def error_of(self, kind: type[CallError], words: str) -> CallError:
        """Return an error of this call."""
        return kind(words, **self.called())

    def _limited(self, words: str) -> CallError:
        now = time.time()
        until = self.counts.get("resets") or _clock_time(words, now)
        told = f"usage limit until {datetime.fromtimestamp(until):%H:%M}" if until else "usage limit reached"
        error = self.error_of(RateLimited, f"{told} ({words})")
        error.retry_after = max(1.0, until - now) if until else None
        # Without a time there is nothing to wait for.
        error.retryable = until is not None
        return error


def _at(data: Any, path: str) -> Any:
    for step in path.split("."):
        data = mapping(data).get(step)
    return data


def _summed(values: Iterable[Any]) -> int | None:
    numbers = [number for value in values if (number := count(value)) is not None]
    return sum(numbers) if numbers else None


def _clock_time(words: str, now: float) -> float | None:
    """Return the next moment that a sentence such as "try again at 5:00 PM" names."""
    match = _CLOCK.search(words)
    if match is None:
        return None
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    moment = datetime.fromtimestamp(now).replace(hour=hour, minute=int(match[2] or 0), second=0)
    return (moment if moment.timestamp() > now else moment + timedelta(days=1)).timestamp()
