"""Models behind programs of this machine that somebody is signed in with: one process a call, nothing left of it.

A program gets an empty folder of its own, the system prompt as a file in it, the question on its standard input and
an environment made from named variables. What its output says is read by its entry in ``programs.toml``.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from llm_runtime.dialects import SchemaForm
from llm_runtime.errors import (
    AuthenticationFailed,
    CallError,
    CallTimeout,
    ConnectionFailed,
    ErrorInReply,
    MalformedReply,
    QuotaExhausted,
    RateLimited,
    ReplyRepeats,
    ReplyTooLarge,
    RequestRefused,
)
from llm_runtime.files import write_atomic
from llm_runtime.http.causes import error_in_reply
from llm_runtime.http.reading import REPEATS, parse_json
from llm_runtime.http.secrets import Redactor
from llm_runtime.http.shape import count, harmless, mapping, one_line, text
from llm_runtime.http.streams import LineStream
from llm_runtime.messages import Generate, Message, OnDelta, Reply, Request, Usage
from llm_runtime.programs import PREFIX, AgentProgram, PrintedLine
from llm_runtime.providers._answer import Answer
from llm_runtime.providers._schemas import closed_schema, enforceable
from llm_runtime.silence import Silence
from llm_runtime.wires import ALL, Link, Wire, with_schema_told

_LINE_BYTES = 16 * 2**20
_OUTPUT_BYTES = 64 * 2**20
_ANSWER_CHARACTERS = 4 * 2**20
#: One word of a command line may have 128 KiB on Linux.
_WORD_CHARACTERS = 100_000
_LAST_WORDS = 4_096
_GRACE_SECONDS = 1.0
_LOOK_SECONDS = 0.02
_SAID = [name for name in PrintedLine.model_fields if name != "when"]
_COUNTED = ("input", "cached", "output", "reasoning", "resets", "status")
_CLOCK = re.compile(r"(?:\bat|\bresets) (\d{1,2})(?::(\d\d))? ?([ap])m\b", re.IGNORECASE)


def agents(link: Link) -> Generate:
    """Return the model function of a program.

    Returns:
        A function that raises :class:`AuthenticationFailed` where nobody is signed in, :class:`RateLimited` where
        the subscription's limit is reached, and any other kind of :class:`~llm_runtime.errors.CallError`.
    """
    endpoint = link.endpoint
    program, environment = endpoint.program, endpoint.environment
    assert program is not None
    surroundings = program.surroundings(environment)
    named = (surroundings.get(name, "") for name in program.environment if "KEY" in name or "TOKEN" in name)
    redactor = Redactor(tuple(filter(None, named)))

    async def generate(request: Request) -> Reply:
        answer = Printed(request, endpoint.name, program, redactor, link.on_delta)
        asked = _asked(request, program)
        effort = request.effort and endpoint.dialect.level(request.effort)
        answer.sent()
        silence = Silence(link.patience.first, link.patience.idle, link.patience.total)
        try:
            async with silence, _folder(program, surroundings) as folder:
                call = _prepared(program, request, asked, folder, effort or "")
                await _carried_out(call, answer, silence, {**surroundings, **call.variables})
        except TimeoutError:
            if not silence.expired:
                raise
            words = f"{program.argv[0]} was silent for too long, and was ended"
            raise answer.cut(answer.error_of(CallTimeout, words)) from None
        except OSError as fault:
            words = f"{program.argv[0]} cannot be run: {fault.strerror}"
            raise answer.error_of(ConnectionFailed, words) from None
        except CallError as error:
            raise answer.cut(error) from None
        reply = answer.reply(None)
        model = reply.model or endpoint.name.removeprefix(PREFIX)
        return replace(reply, model=model, cost=0, cost_source="subscription")

    return generate


class Printed(Answer):
    """What a program prints, line by line."""

    def __init__(
        self, request: Request, provider: str, program: AgentProgram, redactor: Redactor, on_delta: OnDelta
    ) -> None:
        super().__init__(request, provider, redactor, on_delta)
        self.program = program
        self.words = ""
        self.counts: dict[str, int] = {}

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
        error = error_in_reply(
            {"message": words} | ({"code": status} if status >= 400 else {}),
            provider=self.provider,
            model=self.request.model,
            request_id=None,
            begun=bool(self.size),
            dialect="agent",
        )
        if isinstance(error, AuthenticationFailed):
            return self.error_of(AuthenticationFailed, f"not signed in: {self.program.sign_in} ({words})")
        if isinstance(error, RateLimited | QuotaExhausted):
            return self._limited(words)
        return (
            self.error_of(RequestRefused, f"{path} gave no answer: {words}")
            if type(error) is ErrorInReply
            else error
        )

    def error_of(self, kind: type[CallError], words: str) -> CallError:
        """Return an error of this call."""
        return kind(words, provider=self.provider, model=self.request.model)

    def _limited(self, words: str) -> CallError:
        now = time.time()
        until = self.counts.get("resets") or _clock_time(words, now)
        told = f"usage limit until {datetime.fromtimestamp(until):%H:%M}" if until else "usage limit reached"
        error = self.error_of(RateLimited, f"{told} ({words})")
        error.retry_after = max(1.0, until - now) if until else None
        # Without a time there is nothing to wait for.
        error.retryable = until is not None
        return error


@dataclass(frozen=True, slots=True)
class _Call:
    """What is run: the words of its command line, its input, its own variables, its folder."""

    argv: list[str]
    question: str
    variables: dict[str, str]
    folder: Path


@asynccontextmanager
async def _folder(program: AgentProgram, surroundings: Mapping[str, str]) -> AsyncGenerator[Path]:
    """Make the folder of a call, and take it away; what the program renewed of its sign-in is kept."""
    folder = Path(tempfile.mkdtemp(prefix="assay-agent-"))
    home = program.home
    try:
        for name in ("run", "tmp", "home"):
            (folder / name).mkdir(mode=0o700)
        theirs = _theirs(program, surroundings)
        for name, place in theirs.items():
            (folder / "home" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "home" / name).symlink_to(place)
        for name, content in program.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            _write(folder / name, content)
        yield folder
        for name, place in theirs.items():
            own = folder / "home" / name
            if home and own.is_file() and not own.is_symlink():
                write_atomic(place, own.read_bytes(), private=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _theirs(program: AgentProgram, surroundings: Mapping[str, str]) -> dict[str, Path]:
    """Return the files that the program signs in with, where they are, by their names in its home."""
    if (home := program.home) is None:
        return {}
    base = Path(os.environ.get(home.variable) or Path(surroundings.get("HOME", "/")) / home.usual)
    return {name: base / name for name in home.keep if (base / name).is_file()}


def _write(path: Path, content: str) -> None:
    path.touch(0o600, exist_ok=False)
    path.write_text(content, encoding="utf-8")


def _asked(request: Request, program: AgentProgram) -> tuple[Message, ...]:
    """Return the conversation, with the answer's schema in words where the program does not enforce it."""
    if request.schema is None or _schema(request, program):
        return request.messages
    return tuple(with_schema_told(request.messages, request.schema))


def _schema(request: Request, program: AgentProgram) -> str:
    """Return the schema as the program enforces it; empty where it does not."""
    if request.schema is None or not program.with_schema:
        return ""
    form: SchemaForm = program.schema_form
    schema = closed_schema(request.schema) if form == "plain" else enforceable(request.schema, form)
    written = _json(schema) if schema else ""
    by_word = any("{schema}" in word for word in program.with_schema)
    return "" if by_word and len(written) > _WORD_CHARACTERS else written


def _json(value: object) -> str:
    from pydantic_core import to_json

    return to_json(value).decode()


def _prepared(
    program: AgentProgram, request: Request, asked: Iterable[Message], folder: Path, effort: str
) -> _Call:
    """Write what the program reads, and put its command line together."""
    system, question = _parts(asked, apart=program.tells_system)
    schema = _schema(request, program)
    _write(folder / "system.md", system or "Answer the question.")
    _write(folder / "schema.json", schema)
    values = {
        "model": request.model,
        "effort": effort,
        "schema": schema,
        "schema_file": str(folder / "schema.json"),
        "system_file": str(folder / "system.md"),
        "folder": str(folder),
    }
    added = {"model": program.with_model, "schema": program.with_schema, "effort": program.with_effort}
    words = [*program.argv, *(word for name in added if values[name] for word in added[name]), *program.end]
    variables = {name: _filled(value, values) for name, value in program.set.items()}
    variables |= {program.home.variable: str(folder / "home")} if program.home else {}
    if program.max_tokens and request.max_tokens:
        variables[program.max_tokens] = str(request.max_tokens)
    variables["TMPDIR"] = str(folder / "tmp")
    # A question that begins with a slash would be taken for a command of the program's own.
    return _Call([_filled(word, values) for word in words], f"\n{question}\n", variables, folder)


def _filled(word: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word)


def _parts(asked: Iterable[Message], *, apart: bool) -> tuple[str, str]:
    """Return the system prompt, and the turns as one question; ``apart`` from each other, or both in the second."""
    system = "\n\n".join(message.content for message in asked if message.role == "system")
    turns = [message for message in asked if message.role != "system"]
    several = "\n\n".join(f"## {turn.role}\n\n{turn.content}" for turn in turns)
    question = turns[0].content if len(turns) == 1 else several
    return (system, question) if apart or not system else ("", f"{system}\n\n{question}")


async def _carried_out(call: _Call, answer: Printed, silence: Silence, environment: dict[str, str]) -> None:
    """Run the program to its end, or end it: whatever happens, no process of it is left.

    Raises:
        CallError: it gave no answer.
    """
    process = await asyncio.create_subprocess_exec(
        *call.argv,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=call.folder / "run",
        env=environment,
        start_new_session=True,
    )
    assert process.stdin and process.stdout and process.stderr
    feeding = asyncio.create_task(_feed(process.stdin, call.question))
    listening = asyncio.create_task(_last_words(process.stderr))
    ending = asyncio.create_task(_end_strays(process, call.folder))
    try:
        await _listen(process.stdout, answer, silence)
        await asyncio.wait([ending], timeout=_GRACE_SECONDS)
    finally:
        words = await asyncio.shield(_end(process, ending, feeding, listening))
    answer.end()
    if (fault := answer.fault(process.returncode or 0, words)) is not None:
        raise fault


async def _feed(pipe: asyncio.StreamWriter, question: str) -> None:
    with suppress(ConnectionError):
        pipe.write(question.encode("utf-8", "replace"))
        await pipe.drain()
    pipe.close()


async def _last_words(pipe: asyncio.StreamReader) -> str:
    last = b""
    while chunk := await pipe.read(2**16):
        last = (last + chunk)[-_LAST_WORDS:]
    lines = [line for line in last.decode("utf-8", "replace").splitlines() if line.strip()]
    return " ".join(lines[-3:])


async def _listen(pipe: asyncio.StreamReader, answer: Printed, silence: Silence) -> None:
    """Read the output to its end, within bounds.

    Raises:
        CallError: it is larger than any answer, or one passage again and again.
    """
    lines, size = LineStream(_LINE_BYTES), 0
    whole = bytearray()
    while chunk := await pipe.read(2**16):
        size, before = size + len(chunk), answer.size
        if answer.program.lines:
            _pass_on(lines.read(chunk), answer)
        else:
            whole += chunk
        # What a program says of itself are no words of the model.
        if answer.size > before or not answer.program.lines:
            silence.heard()
        _bounded(answer, len(whole), overflow=lines.overflow or size > _OUTPUT_BYTES)
    _pass_on(lines.close() if answer.program.lines else [], answer)
    if whole:
        answer.say(harmless(_STEERING.sub("", whole.decode("utf-8", "replace"))))


#: Sequences that steer a terminal (ECMA-48).
_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def _pass_on(events: Iterable[tuple[bytes, bytes]], answer: Printed) -> None:
    for name, data in events:
        # Programs print remarks of their own between their objects.
        value, fault = parse_json(data) if data.startswith(b"{") else (None, "")
        if fault is None:
            answer.add(name, value)


def _bounded(answer: Printed, size: int, *, overflow: bool) -> None:
    if answer.loops:
        raise answer.error_of(ReplyRepeats, REPEATS)
    if overflow or max(size, answer.size) > _ANSWER_CHARACTERS:
        words = f"{answer.program.argv[0]} printed more than any answer has, and was ended"
        raise answer.error_of(ReplyTooLarge, words)


async def _end(
    process: Process, ending: asyncio.Task[None], feeding: asyncio.Task[None], listening: asyncio.Task[str]
) -> str:
    """End the program and everything that it started; return its last words."""
    # What writes its sign-in down may finish.
    for kind in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            _signal(process.pid, kind)
            await asyncio.wait([ending], timeout=_GRACE_SECONDS)
    await ending
    feeding.cancel()
    await asyncio.wait([listening], timeout=_GRACE_SECONDS)
    heard = listening.done()
    # What is left in its pipes is of no use, and would keep them open.
    process._transport.close()  # pyright: ignore  # asyncio offers no other way
    await asyncio.gather(feeding, listening, return_exceptions=True)
    return listening.result() if heard else ""


async def _end_strays(process: Process, folder: Path) -> None:
    """Once the program itself has ended, end what it left behind: that may hold its pipes for ever."""
    while process.returncode is None:  # noqa: ASYNC110  # asyncio's own wait lasts as long as the pipes
        await asyncio.sleep(_LOOK_SECONDS)
    _signal(process.pid, signal.SIGKILL)
    while left := _processes_of(folder):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(_LOOK_SECONDS)


def _signal(group: int, kind: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, kind)


def _processes_of(folder: Path) -> list[int]:
    """Return the processes of a call that have left its group: its folder is in their environment."""
    mark, found = os.fsencode(folder), list[int]()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in entry.read_bytes():
                found.append(int(entry.parent.name))
    return found


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


WIRE = Wire("agent", agents, ALL)
