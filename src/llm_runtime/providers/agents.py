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
from asyncio.subprocess import Process
from base64 import b64decode
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

from pydantic_core import to_json

from llm_runtime.dialects import SchemaForm
from llm_runtime.errors import CallError, CallTimeout, ConnectionFailed
from llm_runtime.files import write_atomic
from llm_runtime.http.secrets import Redactor
from llm_runtime.messages import Generate, Message, Reply, Request
from llm_runtime.programs import PREFIX, AgentProgram
from llm_runtime.providers._printed import Printed
from llm_runtime.providers._schemas import enforceable
from llm_runtime.providers.payloads import content_of
from llm_runtime.silence import Silence
from llm_runtime.wires import ALL, Link, Wire, with_schema_told

#: One word of a command line may have 128 KiB on Linux.
_WORD_CHARACTERS = 100_000
_LAST_WORDS = 4_096
_GRACE_SECONDS = 1.0
_LOOK_SECONDS = 0.02


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
        effort = request.effort and endpoint.dialect.level(request.effort)
        answer.sent()
        silence = Silence(link.patience.first, link.patience.idle, link.patience.total)
        try:
            async with silence, _folder(program, surroundings) as folder:
                argv, question, variables = _prepared(program, request, folder, effort or "")
                await _carried_out(argv, question, folder, answer, silence, {**surroundings, **variables})
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


@asynccontextmanager
async def _folder(program: AgentProgram, surroundings: Mapping[str, str]) -> AsyncGenerator[Path]:
    """Make the folder of a call, and take it away; what the program renewed of its sign-in is kept."""
    folder = Path(tempfile.mkdtemp(prefix="assay-agent-"))
    try:
        for name in ("run", "tmp", "home"):
            (folder / name).mkdir(mode=0o700)
        theirs = _theirs(program, surroundings)
        for name, place in theirs.items():
            (folder / "home" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "home" / name).symlink_to(place)
        for name, content in program.files.items():
            _write(folder / name, content)
        yield folder
        for name, place in theirs.items():
            own = folder / "home" / name
            if own.is_file() and not own.is_symlink():
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
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(0o600, exist_ok=False)
    path.write_text(content, encoding="utf-8", errors="replace")


def _schema(request: Request, program: AgentProgram) -> str:
    """Return the schema as the program enforces it; empty where it does not."""
    if request.schema is None or not program.with_schema:
        return ""
    form: SchemaForm = program.schema_form
    closed = None if form == "plain" else enforceable(request.schema, form)
    written = request.schema if form == "plain" else to_json(closed).decode() if closed else ""
    by_word = any("{schema}" in word for word in program.with_schema)
    return "" if by_word and len(written) > _WORD_CHARACTERS else written


def _prepared(
    program: AgentProgram, request: Request, folder: Path, effort: str
) -> tuple[list[str], str, dict[str, str]]:
    """Write what the program reads; return its command line, the question, and variables of its own.

    The conversation tells the answer's schema in words where the program does not enforce it.
    """
    schema = _schema(request, program)
    turns: Sequence[Message] = request.messages
    if request.schema is not None and not schema:
        turns = with_schema_told(turns, request.schema)
    system, question = _parts(turns, apart=program.tells_system)
    _write(folder / "system.md", system or "Answer the question.")
    _write(folder / "schema.json", schema)
    # A question that begins with a slash would be taken for a command of the program's own.
    asked, shown = _with_pictures(program, Message("user", f"\n{question}\n", request.pictures), folder)
    values = {
        "model": request.model,
        "effort": effort,
        "schema": schema,
        "schema_file": str(folder / "schema.json"),
        "system_file": str(folder / "system.md"),
        "folder": str(folder),
    }
    added = {"model": program.with_model, "schema": program.with_schema, "effort": program.with_effort}
    words = [*program.argv, *(word for name in added if values[name] for word in added[name]), *shown, *program.end]
    variables = {name: _filled(value, values) for name, value in program.set.items()}
    variables |= {program.home.variable: str(folder / "home")} if program.home else {}
    if program.max_tokens and request.max_tokens:
        variables[program.max_tokens] = str(request.max_tokens)
    variables["TMPDIR"] = str(folder / "tmp")
    return [_filled(word, values) for word in words], asked, variables


def _with_pictures(program: AgentProgram, asked: Message, folder: Path) -> tuple[str, list[str]]:
    """Return the question as it goes to standard input, and the words that go with the pictures that it shows."""
    words = list(program.with_picture) if asked.pictures else []
    if not any("{picture}" in word for word in words):
        line = {"type": "user", "message": {"role": "user", "content": content_of(asked, "messages")}}
        return f"{to_json(line).decode()}\n" if words else asked.content, words
    places = [folder / f"picture-{at}.{one.kind.rpartition('/')[2]}" for at, one in enumerate(asked.pictures)]
    for place, one in zip(places, asked.pictures, strict=True):
        place.write_bytes(b64decode(one.base64))
    return asked.content, [_filled(word, {"picture": str(place)}) for place in places for word in words]


def _filled(word: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word)


def _parts(asked: Iterable[Message], *, apart: bool) -> tuple[str, str]:
    """Return the system prompt, and the turns as one question; ``apart`` from each other, or both in the second."""
    system = "\n\n".join(message.content for message in asked if message.role == "system")
    turns = [message for message in asked if message.role != "system"]
    question = turns[0].content if len(turns) == 1 else "\n\n".join(f"## {one.role}\n\n{one.content}" for one in turns)
    return (system, question) if apart or not system else ("", f"{system}\n\n{question}")


async def _carried_out(
    argv: Iterable[str], question: str, folder: Path, answer: Printed, silence: Silence, environment: Mapping[str, str]
) -> None:
    """Run the program to its end, or end it: whatever happens, no process of it is left.

    It writes into files: what it leaves behind could hold a pipe open, and some programs end before all that they
    wrote has gone through one. It reads from a pipe: Claude Code finds no messages in a file.

    Raises:
        CallError: it gave no answer.
    """
    with (folder / "output").open("w+b") as output, (folder / "words").open("w+b") as words:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=output,
            stderr=words,
            cwd=folder / "run",
            env=environment,
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(question.encode("utf-8", "replace"))
            process.stdin.close()
            await _listen(process, folder, answer, silence)
        finally:
            await asyncio.shield(_end(process, folder))
    answer.end()
    if (fault := answer.fault(process.returncode or 0, _last_words(folder / "words"))) is not None:
        raise fault


def _last_words(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LAST_WORDS))
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return " ".join(lines[-3:])


async def _listen(process: Process, folder: Path, answer: Printed, silence: Silence) -> None:
    """Read the output to its end, within bounds.

    Raises:
        CallError: it is larger than any answer, or one passage again and again.
    """
    with (folder / "output").open("rb") as output:
        while True:
            ended = process.returncode is not None
            chunk = output.read(2**16)
            if not chunk and ended:
                return answer.hear_end()
            if answer.hear(chunk):
                silence.heard()
            answer.need_bounds(max((folder / name).stat().st_size for name in ("output", "words")))
            await asyncio.sleep(0 if chunk else _LOOK_SECONDS)


async def _end(process: Process, folder: Path) -> None:
    """End the program and everything that it started."""
    # What writes its sign-in down may finish.
    for kind in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            _signal(process.pid, kind)
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
    _signal(process.pid, signal.SIGKILL)
    # Not what waits for the process: that would wait for all who hold the other end of its standard input, too.
    while (left := _processes_of(folder)) or process.returncode is None:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(_LOOK_SECONDS)


def _signal(group: int, kind: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, kind)


def _processes_of(folder: Path) -> list[int]:
    """Return the processes of a call that have left its group: its folder is in their environment, or where they are.

    Of one that is becoming another program there is no environment to read.
    """
    mark, found = os.fsencode(folder), list[int]()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in os.fsencode((entry / "cwd").readlink()) + (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


WIRE = Wire("agent", agents, ALL)
