"""The command line over a folder with a job file, a model server on this machine, and a Ray cluster of its own."""

from __future__ import annotations

import asyncio
import csv
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.commands import Commands
from tests.crucible.records import ANSWER, played

from assay.batch.database import Database
from llm_runtime.testing import Received

JOB = """
run = "crucible.council"
repetitions = 2

[input]
path = "questions.csv"
[input.columns]
query = "question"

[grid]
delta = ["similarity"]

[work]
in_flight = 3
retry_delay = 0
"""
TRIAGE = json.dumps(
    {
        "reconstructed_query": "x",
        "complexity": "complex",
        "short_circuit_allowed": False,
        "council": [
            {"role": "domain_expert", "system_prompt": "You know.", "model_hint": None},
            {"role": "pragmatist", "system_prompt": "You do.", "model_hint": None},
            {"role": "red_team", "system_prompt": "Attack.", "model_hint": None},
        ],
        "loop_grammar": "parallel",
        "loop_count": 2,
        "red_team_flavor": "logical",
        "allow_early_exit": False,
        "synthesis_instruction": "One line.",
    }
)
#: Triage, three seats in two loops, synthesis, and what it does with the objections.
CALLS = 9


def council(received: Received) -> str | tuple[int, dict[str, Any]]:
    """Answers that depend on the question alone, so that two engines come to the same table."""
    text = " ".join(message.content for message in received.messages)
    if "poison" in text:
        return 400, {"error": {"message": "this input cannot be answered"}}
    if received.messages[0].content.startswith("You are the triage agent"):
        return TRIAGE
    said = f"Thought through in {len(received.messages)} messages."
    return played(received.messages[-1].content, ANSWER | {"answer": said}) or said


@dataclass(slots=True)
class Shell:
    """A folder with a job file, and the command line over it."""

    folder: Path
    environment: dict[str, str]
    commands: Commands

    def write(self, job: str, questions: list[str]) -> None:
        (self.folder / "job.toml").write_text(job)
        with (self.folder / "questions.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["question", "note"], *[[each, f"n{n}"] for n, each in enumerate(questions)]])

    async def begin(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "assay", "batch", *arguments,
            cwd=self.folder, env=self.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip

    async def __call__(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        done = await self.commands.run("batch", *arguments, cwd=self.folder, env=self.environment)
        assert done.code == code, done.err
        return done.out, done.err


@asynccontextmanager
async def short_pauses(database: Database) -> AsyncGenerator[None]:
    """Let the second pass at once for which a rate limit's answer holds all calls back."""

    async def pass_by() -> None:
        while True:
            database.execute("UPDATE buckets SET closed_until = 0 WHERE faults = 0")
            await asyncio.sleep(0.1)

    passing = asyncio.create_task(pass_by())
    yield
    passing.cancel()


def batch_of(err: str) -> str:
    """The id that `assay batch run` told."""
    return next(line.split()[1] for line in err.splitlines() if line.startswith("batch "))


@contextmanager
def ray_cluster(environment: dict[str, str]) -> Generator[str]:
    """The address of a Ray cluster of one machine, whose workers see ``environment``."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="assay-ray-")
    head = subprocess.Popen(
        [
            str(Path(sys.executable).parent / "ray"), "start", "--head", "--block", "--node-ip-address=127.0.0.1",
            f"--port={port}", "--num-cpus=2", "--include-dashboard=false", f"--temp-dir={folder}",
            "--disable-usage-stats",
        ],
        env={**environment, "RAY_AUTH_MODE": "disabled"}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _wait_for(port, head)
        yield f"127.0.0.1:{port}"
    finally:
        head.terminate()
        head.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, head: subprocess.Popen[bytes]) -> None:
    while head.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the Ray cluster did not start")
