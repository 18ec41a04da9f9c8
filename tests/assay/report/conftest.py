"""A council's run as a list of stamped events: driven through the real engine by a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest

from crucible import Crucible, EngineConfig
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Event, RunFinished, RunStarted
from llm_runtime.messages import Reply, Request, Usage
from llm_runtime.providers.scripted import scripted
from llm_runtime.wrappers.recording import recording

Moments = list[tuple[Event, int]]
T0 = 1_790_000_000_000


@dataclass
class Scene:
    """What a council is asked, how it is configured, and what each call answers."""

    query: str = "Should we migrate to microservices?"
    grammar: str = "parallel"
    roles: tuple[str, ...] = ("pragmatist", "domain_expert", "red_team", "creative")
    loops: int = 3
    settled_in: int = 2
    simple: bool = False
    texts: dict[str, str] = field(default_factory=dict[str, str])
    faults: dict[str, LlmRuntimeError] = field(default_factory=dict[str, LlmRuntimeError])
    replayed: bool = False
    cost: int | None = 1_000

    def triage(self) -> dict[str, Any]:
        return {
            "reconstructed_query": self.texts.get("reconstructed", f"Precisely: {self.query}"),
            "complexity": "simple" if self.simple else "complex",
            "short_circuit_allowed": self.simple,
            "council": [
                {"role": role, "system_prompt": self.texts.get("prompt", f"Be the {role}."), "model_hint": None}
                for role in self.roles
            ],
            "loop_grammar": self.grammar,
            "loop_count": self.loops,
            "red_team_flavor": "feasibility",
            "allow_early_exit": True,
            "synthesis_instruction": self.texts.get("instruction", "Short, with reasons."),
        }

    def answer(self, request: Request) -> Reply | LlmRuntimeError:
        label = request.label
        place = f"{label.phase}/{label.seat}/{label.round}"
        if place in self.faults:
            return self.faults[place]
        if label.phase == "triage":
            text = json.dumps(self.triage())
        elif label.phase == "delta":
            text = "NO" if label.round >= self.settled_in else "YES"
        else:
            spoken = f"{label.seat or 'The council'} says {label.phase} {label.round}. It stays with its reasons."
            text = self.texts.get(place, self.texts.get(label.phase, spoken))
        return Reply(text, "vendor/model-1", "scripted", Usage(100, 10), cost=self.cost, cost_source="table")


Play = Callable[[Scene], Coroutine[Any, Any, Moments]]


async def played(scene: Scene) -> Moments:
    moments: Moments = []

    def emit(event: Event) -> None:
        moments.append((event, T0 + 100 * len(moments)))

    start = {"protocol": "crucible", "title": scene.query, "task": {"query": scene.query}, "settings": {}}
    emit(RunStarted(run_id="run-7", seed=7, version="0", **start))
    generate = recording(scripted(scene.answer), emit, replayed=lambda *_: scene.replayed)
    config = EngineConfig(openrouter_api_key="", generate=generate)
    try:
        result = await Crucible(config, emit=emit, seed=7).run(scene.query)
    except LlmRuntimeError as fault:
        emit(RunFinished(state="failed", error=type(fault).__name__, message=str(fault)))
    else:
        emit(RunFinished(state="finished", result=result.model_dump(mode="json")))
    return moments


@pytest.fixture
def play() -> Play:
    """Plays a scene and returns its events with their stamps, a tenth of a second apart."""
    return played


@pytest.fixture
def scene() -> type[Scene]:
    """The scene to set."""
    return Scene
