"""A comparison as a person runs it: a real process, a model server on this machine, a store in a folder."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, Done, bare_world
from tests.crucible.records import ANSWER, played

from llm_runtime.testing import LoopbackServer, Received

TRIAGE = {
    "reconstructed_query": "A sum.",
    "complexity": "complex",
    "short_circuit_allowed": False,
    "council": [
        {"role": "domain_expert", "system_prompt": "You add.", "model_hint": None},
        {"role": "pragmatist", "system_prompt": "You count.", "model_hint": None},
        {"role": "red_team", "system_prompt": "Attack.", "model_hint": None},
    ],
    "loop_grammar": "parallel",
    "loop_count": 2,
    "red_team_flavor": "logical",
    "allow_early_exit": True,
    "synthesis_instruction": "One line.",
}


Assay = Callable[..., Awaitable[Done]]


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """An environment without keys, in which a warning is an error."""
    return bare_world(tmp_path, PYTHONWARNINGS="error")


@pytest.fixture
def assay(commands: Commands, world: dict[str, str], tmp_path: Path) -> Assay:
    """Run ``assay ARGUMENTS`` in an empty folder; ``server`` is what OPENROUTER_API_KEY leads to."""

    async def run(
        *arguments: str, server: LoopbackServer | None = None, kill_after: Callable[[], bool] | None = None
    ) -> Done:
        reached = {"OPENROUTER_API_KEY": "sk-or-x", "OPENROUTER_BASE_URL": f"{server.url}/v1"} if server else {}
        environment = {**world, **reached}
        if kill_after is None:
            return await commands.run(*arguments, cwd=tmp_path, env=environment)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assay", *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=environment,
        )
        while not kill_after() and process.returncode is None:  # noqa: ASYNC110 - what it waits for happens in another process
            await asyncio.sleep(0.01)
        if process.returncode is None:
            process.kill()
        out, err = await process.communicate()
        return Done(process.returncode or 0, out.decode(), err.decode())

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Write questions as JSONL; the file's name."""

    def file(*tasks: Any) -> str:
        text = "\n".join(task if isinstance(task, str) else json.dumps(task) for task in tasks)
        (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
        return "questions.jsonl"

    return file


@pytest.fixture
def adder() -> Callable[[Received], str]:
    """A model that adds rightly; a council of it sits for two loops."""

    def answer(received: Received) -> str:
        if received.messages[0].content.startswith("You are the triage agent"):
            return json.dumps(TRIAGE)
        found = re.search(r"(\d+) plus (\d+)", " ".join(message.content for message in received.messages))
        text = f"I add.\n\nANSWER: {int(found[1]) + int(found[2])}" if found else "It **depends**."
        return played(received.messages[-1].content, ANSWER | {"answer": text}) or text

    return answer
