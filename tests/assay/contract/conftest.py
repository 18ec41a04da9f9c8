"""The doors of the application, each with the same few verbs, over one store and one model server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.commands import Commands, bare_world
from tests.crucible.records import ANSWER, played

from assay.launch import Launcher
from assay.registry import read_run
from assay.terms import Terms
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.store import RunStore, open_store
from llm_runtime.testing import LoopbackServer, Received

TRIAGE: dict[str, Any] = {
    "reconstructed_query": "Which database should a team of three run?",
    "complexity": "complex",
    "short_circuit_allowed": False,
    "council": [
        {"role": "domain_expert", "system_prompt": "You know databases.", "model_hint": None},
        {"role": "pragmatist", "system_prompt": "You run databases.", "model_hint": None},
        {"role": "red_team", "system_prompt": "Attack.", "model_hint": None},
    ],
    "loop_grammar": "parallel",
    "loop_count": 2,
    "red_team_flavor": "logical",
    "allow_early_exit": True,
    "synthesis_instruction": "One paragraph.",
}


class Refused(Exception):
    """A door said no; its text is the one sentence that it said."""


class Door(Protocol):
    """What every door can do. Terms are as a person types them there."""

    async def start(self, *, seed: int | None = None, **fields: Any) -> str:
        """Start a council and wait for its end; return its id."""
        ...

    async def resume(self, run_id: str, **terms: Any) -> str:
        """Go on with a run and wait for its end."""
        ...

    async def fork(self, run_id: str, at: int, **terms: Any) -> str:
        """Fork a run and wait for the end of the fork; return its id."""
        ...


class Library:
    """Python code that uses the launcher."""

    def __init__(self, store: RunStore) -> None:
        self._launcher = Launcher(store)

    async def start(self, *, seed: int | None = None, **fields: Any) -> str:
        terms, rest = _parted(fields)
        try:
            options = {name: rest.pop(name) for name in list(rest) if name != "query"}
            run = read_run("crucible.council", rest, options, strict=True)
            running = await self._launcher.start(run, _terms(terms), seed=seed)
        except LlmRuntimeError as fault:
            raise Refused(str(fault)) from None
        await running.outcome()
        return running.run_id

    async def resume(self, run_id: str, **terms: Any) -> str:
        try:
            running = await self._launcher.resume(run_id, _terms(terms))
        except LlmRuntimeError as fault:
            raise Refused(str(fault)) from None
        await running.outcome()
        return run_id

    async def fork(self, run_id: str, at: int, **terms: Any) -> str:
        running = await self._launcher.fork(run_id, at, _terms(terms))
        await running.outcome()
        return running.run_id


class CommandLine:
    """A process."""

    def __init__(self, commands: Commands, environment: dict[str, str], folder: Path) -> None:
        self._commands, self._environment, self._folder = commands, environment, folder

    async def start(self, *, seed: int | None = None, **fields: Any) -> str:
        query = fields.pop("query", None)
        return await self.call(
            "ask", *([query] if query else []), *_flags({**fields, **({} if seed is None else {"seed": seed})})
        )

    async def resume(self, run_id: str, **terms: Any) -> str:
        return await self.call("runs", "resume", run_id, *_flags(terms))

    async def fork(self, run_id: str, at: int, **terms: Any) -> str:
        return await self.call("runs", "fork", run_id, "--at", str(at), *_flags(terms))

    async def call(self, *arguments: str) -> str:
        done = await self._commands.run(*arguments, "--quiet", cwd=self._folder, env=self._environment)
        if done.code == 2:
            raise Refused(done.err.strip().removeprefix("assay: "))
        assert done.code in (0, 1, 3), done.err
        store = open_store(Path(self._environment["ASSAY_DATA_DIR"]) / "runs.db")
        try:
            return store.find("latest")
        finally:
            store.close()


class Web:
    """The web application, spoken to by a program."""

    def __init__(self, web: Any) -> None:
        self._web = web

    async def start(self, *, seed: int | None = None, **fields: Any) -> str:
        return await self._done("/runs", kind="crucible.council", **fields, **({} if seed is None else {"seed": seed}))

    async def resume(self, run_id: str, **terms: Any) -> str:
        return await self._done(f"/runs/{run_id}/resume", **terms)

    async def fork(self, run_id: str, at: int, **terms: Any) -> str:
        return await self._done(f"/runs/{run_id}/fork", at=at, **terms)

    async def _done(self, path: str, **fields: Any) -> str:
        code, body = await self._web.post(path, **fields)
        if code != 201:
            raise Refused(body["message"])
        async for kind, _, _ in self._web.stream(body["run_id"]):
            if kind == "end":
                break
        return body["run_id"]


class Batch:
    """A job file of one row. Its jobs are runs, which the other doors go on with."""

    def __init__(self, command_line: CommandLine, folder: Path) -> None:
        self._command_line, self._folder = command_line, folder

    async def start(self, *, seed: int | None = None, **fields: Any) -> str:
        assert seed is None, "a job's seed follows from what it asks"
        terms, rest = _parted(fields)
        (self._folder / "rows.jsonl").write_text(json.dumps({"query": rest["query"]}) + "\n")
        job = ['run = "crucible.council"', "[input]", 'path = "rows.jsonl"', "[input.columns]", 'query = "query"']
        options = [f"{name} = {json.dumps(value)}" for name, value in rest.items() if name != "query"]
        job += ["[options]", *options, "[terms]", *(f"{name} = {json.dumps(value)}" for name, value in terms.items())]
        (self._folder / "job.toml").write_text("\n".join(job))
        return await self._command_line.call("batch", "run", "job.toml")


def _parted(fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    terms = {name: value for name, value in fields.items() if name in Terms.model_fields}
    return terms, {name: value for name, value in fields.items() if name not in terms}


def _terms(values: dict[str, Any]) -> Terms:
    from assay.fields import read

    terms = read(Terms, values, strict=True)
    assert isinstance(terms, Terms)
    return terms


def _flags(fields: dict[str, Any]) -> list[str]:
    flags: list[str] = []
    for name, value in fields.items():
        if name == "seats":
            flags += [part for role, model in value.items() for part in ("--seat", f"{role}={model}")]
        else:
            words = ",".join(value) if name == "models" else str(value)
            flags += [f"--{name.replace('_', '-')}", words]
    return flags


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    def answer(received: Received) -> str:
        first = received.messages[0].content
        if first.startswith("You are the triage agent"):
            return json.dumps(TRIAGE)
        if first.startswith("You are synthesizing"):
            return "**Use SQLite** until it hurts."
        return played(received.messages[-1].content, ANSWER | {"answer": "**Use SQLite** until it hurts."}) or (
            f"Opinion after {len(received.messages)} messages."
        )

    async with LoopbackServer(answer) as running:
        yield running


@pytest.fixture
async def doors(
    commands: Commands, server: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    """Every door by its name, over one store; only the doors' own processes and sockets stand between them."""
    key = {"OPENROUTER_API_KEY": "sk-or-canary-0123456789abcdef", "OPENROUTER_BASE_URL": f"{server.url}/v1"}
    world = bare_world(tmp_path, **key)
    for name, value in world.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "data").mkdir(exist_ok=True)
    store = open_store(tmp_path / "data" / "runs.db")
    async with AsyncExitStack() as stack:
        command_line = CommandLine(commands, world, tmp_path)
        found: dict[str, Any] = {"library": Library(store), "command line": command_line}
        found["batch"] = Batch(command_line, tmp_path)
        try:
            from tests.assay.web.conftest import served
        except ImportError:
            pass
        else:
            found["web"] = Web(await stack.enter_async_context(served(store)))
        yield found
    store.close()


@pytest.fixture
def runs(tmp_path: Path, doors: Any) -> RunStore:
    """The store that all doors share."""
    return open_store(tmp_path / "data" / "runs.db")
