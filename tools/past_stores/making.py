"""Runs a recipe by a past commit's own command line, in a folder of its own, against a model server of ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Collection, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from tools.past_stores.answers import answer
from tools.past_stores.authors import TEXTS
from tools.past_stores.keeping import sign
from tools.past_stores.recipe import BATCH, FILES, IN_POSTGRESQL, PEOPLE, RUNS, Step

from llm_runtime.testing import LoopbackServer, Received

_PRICING = {"prompt": "0.000003", "completion": "0.000015"}
_NAMES = ("one", "two", "three")
MODELS = [{"id": f"acme/{name}", "pricing": _PRICING, "context_length": 200_000} for name in _NAMES]
#: Seconds in which what was answered reaches the log before the kill.
_SETTLED = 0.7


class Answers:
    """The model of one command: answers, or keeps everybody waiting once so many calls are answered."""

    def __init__(self) -> None:
        self.calls = 0
        self.limit: int | None = None
        self.waited_for = asyncio.Event()

    async def __call__(self, received: Received) -> str:
        if self.limit is not None and self.calls >= self.limit:
            self.waited_for.set()
            await asyncio.Event().wait()
        self.calls += 1
        return answer(received)


@dataclass
class Maker:
    """One store in the making.

    Args:
        tree: the work tree of the commit.
        home: the folder that commands run in; ``home/data`` becomes the fixture.
        libraries: a folder with what this commit needs beside what is installed.
        server: answers for the same cost each time; ``by_length`` says no cost, so that the price counts.
        store: the URL of a database in place of the default file.
    """

    tree: Path
    home: Path
    libraries: Path
    server: LoopbackServer
    by_length: LoopbackServer
    answers: Answers
    store: str = ""
    ids: dict[str, str] = field(default_factory=dict[str, str])

    async def make(self, rare: Collection[str]) -> dict[str, Any]:
        """Run the usual steps, and the rare ones that are named; return what came of each by its name."""
        self._lay_out()
        made: dict[str, Any] = {}
        for step in (*PEOPLE, *RUNS, BATCH):
            if step.name in IN_POSTGRESQL if self.store else step.name in rare or not step.rare:
                made[step.name] = await self._step(step)
        for one in made.values():
            if run := one.get("run"):
                one |= await self._counted(run)
        if unmade := [name for name in rare if "left_out" in made.get(name, {})]:
            raise SystemExit(f"this commit does not make {unmade}: {made[unmade[0]]['left_out']}")
        return made

    def _lay_out(self) -> None:
        (self.home / "data").mkdir(parents=True)
        sign(self.home, self.store)
        for name, text in FILES.items():
            (self.home / name).write_text(text)
        for author, texts in TEXTS.items():
            folder = self.home / "texts" / author.lower().replace(" ", "-")
            folder.mkdir(parents=True)
            for number, text in enumerate(texts, start=1):
                head = f"---\ntitle: Text {number}\ndate: 2020-0{number}-01\nauthor: {author}\n---\n\n"
                (folder / f"{number}.md").write_text(f"{head}{text}\n")

    async def _step(self, step: Step) -> dict[str, Any]:
        try:
            arguments = [argument.format(**self.ids) for argument in step.arguments]
        except KeyError as missing:
            return {"left_out": f"there is no run {missing}"}
        before = self._runs()
        program = ("-c", step.program) if step.program else ("-m", "assay")
        server = self.by_length if step.by_length else self.server
        code, said = await self._command((*program, *arguments), server, step.killed_after)
        if code == 2 and step.older:
            arguments = list(step.older)
            code, said = await self._command((*program, *arguments), server, step.killed_after)
        new = [run for run in self._runs() if run not in before]
        if not new and (code not in (0, 1, 3, 4, -signal.SIGKILL) or (code == 1 and step.program)):
            return {"left_out": said[-200:]}
        done: dict[str, Any] = {"command": arguments, "exit": code, "calls": self.answers.calls}
        if step is BATCH:
            return {**done, "runs": new}
        if new:
            self.ids[step.name] = new[0]
            done["run"] = new[0]
        return {**done, **({"like": step.like} if step.like else {})}

    async def _command(
        self, arguments: tuple[str, ...], server: LoopbackServer, killed_after: int | None
    ) -> tuple[int, str]:
        self.answers.calls, self.answers.limit = 0, killed_after
        self.answers.waited_for.clear()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *arguments, *self._where()),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home,
            env={**self._environment(), "OPENROUTER_BASE_URL": f"{server.url}/v1"},
            start_new_session=True,
        )
        said = asyncio.create_task(process.communicate())
        waited = asyncio.create_task(self.answers.waited_for.wait())
        await asyncio.wait([said, waited], return_when=asyncio.FIRST_COMPLETED, timeout=300)
        if not said.done():
            await asyncio.sleep(_SETTLED)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        waited.cancel()
        _, error = await said
        return process.returncode or 0, " ".join(error.decode().split())

    def _where(self) -> list[str]:
        return ["--store", self.store] if self.store else []

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": f"{self.tree / 'src'}:{self.libraries}",
            "PYTHONDONTWRITEBYTECODE": "",
            "ASSAY_CONFIG_DIR": str(self.home / "config"),
            "ASSAY_DATA_DIR": str(self.home / "data"),
            "ASSAY_LOCAL_SERVERS": "",
            "OPENROUTER_API_KEY": "no-key-of-anybody",
        }

    def _runs(self) -> list[str]:
        if self.store:
            with psycopg.connect(self.store) as connection, contextlib.suppress(psycopg.errors.UndefinedTable):
                return [run for (run,) in connection.execute("SELECT run_id FROM runs ORDER BY run")]
            return []
        with _opened(self.home / "data" / "runs.db") as database:
            return [row for (row,) in database.execute("SELECT run_id FROM runs ORDER BY run")] if database else []

    async def _counted(self, run: str) -> dict[str, Any]:
        """Return what that version itself says of a run: its kind, how it ended, which calls it has."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assay", "runs", "show", run, "--jsonl", *self._where()),
            stdout=asyncio.subprocess.PIPE,
            cwd=self.home,
            env=self._environment(),
        )
        out, _ = await process.communicate()
        events = [json.loads(line)["event"] for line in out.splitlines()]
        ends = [event["state"] for event in events if event["type"] == "run.finished"]
        answered = {(one["digest"], one["occurrence"]) for one in events if one["type"] == "call.finished"}
        return {
            "kind": events[0]["protocol"],
            "state": ends[-1] if ends else "interrupted",
            "events": len(events),
            "answered": len(answered),
        }


@contextlib.contextmanager
def _opened(path: Path) -> Generator[sqlite3.Connection | None]:
    if not path.exists():
        yield None
        return
    connection = sqlite3.connect(path)
    try:
        yield connection
    finally:
        connection.close()
