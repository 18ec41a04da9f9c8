"""A council from a run's opening: ``task`` holds ``query`` and ``context``, ``settings["engine"]`` the options."""

from __future__ import annotations

from typing import Any

from crucible import Crucible, EngineConfig
from crucible.executor.delta import TextSimilarityDeltaStrategy
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Emit, RunStarted
from llm_runtime.messages import Generate

#: Ways to notice that positions stopped changing, by the name that a run's settings hold.
DELTAS = {"judge": lambda: None, "similarity": TextSimilarityDeltaStrategy}


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Put the question to a council; the result is ``ExecutorResult`` as data, its trace included.

    Raises:
        ConfigurationError: the settings name a way of noticing change that there is not.
        LlmRuntimeError: whatever ends a council.
    """
    options = dict(started.settings.get("engine", {}))
    delta = options.pop("delta", "judge")
    if delta not in DELTAS:
        raise ConfigurationError(f"no way to notice change is called {delta}; there are: {', '.join(DELTAS)}")
    config = EngineConfig(
        openrouter_api_key="", generate=generate, observability=True, delta_strategy=DELTAS[delta](), **options
    )
    async with Crucible(config, emit=emit, seed=started.seed) as engine:
        result = await engine.run(started.task["query"], started.task.get("context"))
    return result.model_dump(mode="json")
