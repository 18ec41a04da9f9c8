"""The command line as a person meets it: real processes, a model server on this machine, a store in a folder."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, Done, bare_world
from tests.crucible.records import ANSWER, played

from llm_runtime.testing import LoopbackServer, Received

KEY = "sk-or-canary-0123456789abcdef"
TRIAGE = {
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


Assay = Callable[..., Awaitable[Done]]


@pytest.fixture
def triage() -> dict[str, Any]:
    """A valid configuration: three seats, two loops, eight calls in all."""
    return TRIAGE


@pytest.fixture
def council() -> Callable[[Received], str]:
    """A whole council's answers, told apart by what was asked."""

    def answer(received: Received) -> str:
        first = received.messages[0].content
        if first.startswith("You are the triage agent"):
            return json.dumps(TRIAGE)
        if first.startswith("You are synthesizing"):
            return "**Use SQLite** until it hurts."
        return played(received.messages[-1].content, ANSWER | {"answer": "**Use SQLite** until it hurts."}) or (
            f"Opinion after {len(received.messages)} messages."
        )

    return answer


@pytest.fixture
async def server(council: Callable[[Received], str]) -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(council) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """An environment without keys, in which a warning is an error."""
    return bare_world(tmp_path, PYTHONWARNINGS="error")


@pytest.fixture
def assay(commands: Commands, world: dict[str, str], tmp_path: Path) -> Assay:
    """Run ``assay ARGUMENTS`` in an empty folder; ``server`` is what OPENROUTER_API_KEY leads to."""

    async def run(
        *arguments: str, stdin: str | bytes = b"", server: LoopbackServer | None = None, **environment: str
    ) -> Done:
        reached = {"OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": f"{server.url}/v1"} if server else {}
        typed = stdin.encode() if isinstance(stdin, str) else stdin
        done = await commands.run(*arguments, cwd=tmp_path, env={**world, **reached, **environment}, stdin=typed)
        assert KEY not in done.out + done.err
        return done

    return run
