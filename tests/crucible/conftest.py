"""Scripted councils: a valid configuration, answers that say where they were given, and one way to ask."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from crucible import Crucible, EngineConfig, ExecutorResult
from llm_runtime import Generate, Request
from llm_runtime.events import Event
from llm_runtime.testing import ScriptedModel

SEATS = {
    "domain_expert": "You know databases.",
    "red_team": "Never shown to anyone.",
    "pragmatist": "You run databases.",
    "creative": "You look for another way.",
}


def seat(role: str, model_hint: str | None = None) -> dict[str, Any]:
    return {"role": role, "system_prompt": SEATS.get(role, f"You are the {role}."), "model_hint": model_hint}


@pytest.fixture
def configuration() -> Callable[..., str]:
    """Triage's answer as JSON text; any field may be replaced."""

    def make(**changes: Any) -> str:
        valid: dict[str, Any] = {
            "reconstructed_query": "Which database should a team of three run?",
            "complexity": "complex",
            "short_circuit_allowed": False,
            "council": [seat("domain_expert"), seat("red_team"), seat("pragmatist"), seat("creative")],
            "loop_grammar": "parallel",
            "loop_count": 3,
            "red_team_flavor": "logical",
            "allow_early_exit": True,
            "synthesis_instruction": "Two paragraphs.",
        }
        return json.dumps(valid | changes)

    return make


@pytest.fixture
def seats() -> Callable[..., list[dict[str, Any]]]:
    """A council's seats from their roles; ``"role=model"`` gives one a hint."""

    def make(*roles: str) -> list[dict[str, Any]]:
        return [seat(role, hint or None) for role, _, hint in (text.partition("=") for text in roles)]

    return make


def echo(request: Request) -> str:
    """An answer that differs for every place in the structure."""
    label = request.label
    return f"{label.phase} by {label.seat} in loop {label.round}, step {label.attempt}"


@pytest.fixture
def council(configuration: Callable[..., str]) -> Callable[..., ScriptedModel]:
    """A scripted model for a whole council: ``council({"critique": "No."}, loop_count=2)``."""

    def make(says: dict[str, Any] | None = None, **changes: Any) -> ScriptedModel:
        script: dict[str, Any] = {
            "triage": configuration(**changes),
            "answer": "A short answer.",
            "position": echo,
            "draft": echo,
            "defence": echo,
            "critique": echo,
            "delta": "YES",
            "synthesis": "The answer.",
        }
        return ScriptedModel(script | (says or {}))

    return make


@dataclass
class Run:
    """What a run left: its result and its events."""

    result: ExecutorResult
    events: list[Event] = field(default_factory=list[Event])

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def ask() -> Callable[..., Awaitable[Run]]:
    """Run one query against a model function; keywords are those of EngineConfig."""

    async def run(
        generate: Generate, query: str = "Which database?", context: dict[str, Any] | None = None, **config: Any
    ) -> Run:
        events: list[Event] = []
        settings = EngineConfig(openrouter_api_key="unused", generate=generate, **config)
        result = await Crucible(settings, emit=events.append, seed=7).run(query, context)
        return Run(result, events)

    return run
