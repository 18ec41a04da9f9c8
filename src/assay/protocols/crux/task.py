"""A debate from a run's opening: ``task`` holds topic and evidence, ``settings`` the personas and the engine.

``settings["personas"]`` is a list of whole personas as data, texts included: so a run can be replayed, forked and
opened to the place in an essay wherever its log is. ``settings["engine"]`` is ``{"models": [fast, strong],
"takes_temperature", "debate"}``, the last what differs from the defaults of ``DebateConfig``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from crux import Debate, DebateConfig, Evidence, Model, ModelTable, Persona
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Emit, RunStarted
from llm_runtime.messages import Generate, Reply, Request


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Hold the debate; the result is ``DebateResult`` as data.

    Raises:
        ConfigurationError: the topic, a persona or a setting cannot be used.
        MissingExtraError: the libraries of the extra ``debate`` are not installed.
        LlmRuntimeError: whatever ended the debate; what there was by then is in its ``crux.debate_ended``.
    """
    thought = _Thought(generate)
    debate = Debate(
        started.task.get("topic", ""),
        seated(started),
        generate=thought.generate,
        config=configured(started.settings.get("engine", {})),
        emit=emit,
        seed=started.seed,
        clock=thought,
        evidence=[Evidence(**one) for one in started.task.get("evidence", ())],
    )
    async for _ in debate.events():
        pass
    if debate.stopped_by is not None:
        raise debate.stopped_by
    return debate.result().model_dump(mode="json")


def configured(engine: Mapping[str, Any]) -> DebateConfig:
    """The settings of a debate.

    Raises:
        CruxConfigurationError: one is out of range or contradicts another.
    """
    models = tuple(engine.get("models") or ())
    table = ModelTable()
    if models:
        takes = bool(engine.get("takes_temperature", True))
        fast, strong = (Model(id=name, takes_temperature=takes) for name in (models[0], models[-1]))
        table = ModelTable(fast=fast, strong=strong)
    return DebateConfig(models=table, **engine.get("debate", {}))


def seated(started: RunStarted) -> list[Persona]:
    """The panel as the run holds it.

    Raises:
        ConfigurationError: a persona's data is damaged.
    """
    try:
        return [Persona.model_validate(data) for data in started.settings.get("personas", ())]
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"a persona in the run's log is damaged at {where}: {first['msg']}") from None


class _Thought:
    """The clock of a debate: milliseconds that models have thought so far.

    Wall time would make a replay differ from its recording; this is recorded with the answers.
    """

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self._milliseconds = 0

    async def generate(self, request: Request) -> Reply:
        reply = await self._generate(request)
        self._milliseconds += reply.latency_ms
        return reply

    def __call__(self) -> int:
        return self._milliseconds
