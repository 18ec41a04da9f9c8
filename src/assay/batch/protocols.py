"""What a batch must know of each protocol before it spends anything: the fields of a task, the options that fit."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from llm_runtime.errors import ConfigurationError


async def _nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class TaskShape:
    """The fields of a protocol's task, and what its engine's options stand for.

    Args:
        required: must be there and hold something.
        optional: may be there.
        check: raises where the engine's options are not possible.
        any_of: at least one of these holds something; empty for no such rule.
        complete: the task with whatever else its result depends on; raises where that is not there.
        furnish: from the engine's options the settings that stand beside them in a run's opening, which it takes
            out of the options.
        means: raises where this machine lacks what the protocol needs.
    """

    required: frozenset[str]
    optional: frozenset[str]
    check: Callable[[Mapping[str, Any]], object]
    any_of: frozenset[str] = frozenset()
    complete: Callable[[dict[str, Any]], dict[str, Any]] = dict
    furnish: Callable[[dict[str, Any]], dict[str, Any]] = lambda engine: {}
    means: Callable[[], Awaitable[None]] = _nothing

    def fault(self, task: Mapping[str, Any]) -> str | None:
        """Why ``task`` cannot be run; ``None`` where it can."""
        if missing := sorted(name for name in self.required if not task.get(name)):
            return f"{', '.join(missing)} is missing or empty"
        if self.any_of and not any(task.get(name) for name in self.any_of):
            return f"all of {', '.join(sorted(self.any_of))} are missing or empty"
        return None


def shape_of(protocol: str) -> TaskShape:
    """The shape of a protocol's task.

    Raises:
        ConfigurationError: no batch can be made of this protocol.
    """
    if protocol not in _SHAPES:
        raise ConfigurationError(f"no batch can be made of {protocol}; of these it can: {', '.join(_SHAPES)}")
    return _SHAPES[protocol]


def _check_crucible(engine: Mapping[str, Any]) -> object:
    from assay.protocols.crucible.task import DELTAS
    from crucible import EngineConfig
    from llm_runtime.providers.scripted import scripted

    options = dict(engine)
    if (delta := options.pop("delta", "judge")) not in DELTAS:
        raise ConfigurationError(f"engine.delta: no way to notice change is called {delta}")
    return EngineConfig(openrouter_api_key="", generate=scripted(lambda _: ""), observability=True, **options)


def _check_circle(engine: Mapping[str, Any]) -> object:
    from assay.protocols.fire_circle.task import configured

    _only(engine, "a circle", "mode", "models", "circle", "calls")
    return configured(engine)


def _check_debate(engine: Mapping[str, Any]) -> object:
    from assay.protocols.crux.task import configured

    _only(engine, "a debate", "personas", "models", "takes_temperature", "debate")
    personas = engine.get("personas")
    if not isinstance(personas, list):
        raise ConfigurationError('engine.personas: a debate needs two or more, as in personas = ["A", "B"]')
    return configured(engine)


def _check_attempt(engine: Mapping[str, Any]) -> object:
    _only(engine, "an attempt at a puzzle", "models")
    models = engine.get("models", [])
    if not isinstance(models, list) or len(models) > 1:  # pyright: ignore[reportUnknownArgumentType]
        raise ConfigurationError("engine.models: an attempt is made by one model; put several into the grid")
    return models  # pyright: ignore[reportUnknownVariableType]


def _only(engine: Mapping[str, Any], what: str, *known: str) -> None:
    if unknown := sorted(set(engine) - set(known)):
        raise ConfigurationError(f"engine.{unknown[0]}: {what} has no such option; it has: {', '.join(known)}")


def _seat_personas(engine: dict[str, Any]) -> dict[str, Any]:
    """Personas whole, texts included: whoever runs the job needs no folder of them, and an edit is another job."""
    from assay.protocols.crux.people import open_people, panel_of

    panel = panel_of(",".join(engine.pop("personas")), open_people(os.environ.get("ASSAY_PEOPLE")))
    return {"personas": [persona.model_dump(mode="json") for persona in panel]}


async def _debate_means() -> None:
    from assay.protocols.crux.commands.run import need_extra

    need_extra()


def _seal_puzzle(task: dict[str, Any]) -> dict[str, Any]:
    return {**task, "digest": _digest(task["puzzle"])} if task.get("puzzle") else task


@lru_cache(maxsize=1024)
def _digest(puzzle: str) -> str:
    from assay.protocols.ai_crucible.attempt import load

    return load(puzzle).digest


async def _box() -> None:
    from ai_crucible.box.bwrap import probe

    await probe()


_LAYERS = frozenset({"system", "application", "user"})
_SHAPES = {
    "crucible": TaskShape(frozenset({"query"}), frozenset({"context"}), _check_crucible),
    "fire_circle": TaskShape(frozenset(), _LAYERS | {"history", "turn"}, _check_circle, _LAYERS),
    "crux": TaskShape(
        frozenset({"topic"}), frozenset(), _check_debate, furnish=_seat_personas, means=_debate_means
    ),
    "ai_crucible": TaskShape(frozenset({"puzzle"}), frozenset(), _check_attempt, complete=_seal_puzzle, means=_box),
}
