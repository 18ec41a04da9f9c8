"""A prompt before a circle, from a run's opening: ``task`` holds the prompt, ``settings["engine"]`` the circle.

``engine`` is ``{"mode", "models", "circle", "calls"}``: the mode of judging, the seats, and what differs from the
defaults of ``FireCircleConfig`` and ``EvaluationConfig``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fire_circle import FireCircleConfig, MultiNeutrosophicPrompt, PromptError, PromptGuard, SessionMemory
from fire_circle.config import EvaluationConfig
from fire_circle.rows import Item
from llm_runtime.events import Emit, RunStarted
from llm_runtime.messages import Generate

LAYERS = ("system", "application", "user")
_SENT = {"__all__": {"prompt_used"}}
#: What the log of calls holds already, word for word: the prompts that were sent.
_LOGGED: Any = {"result": {"dialogue_history": _SENT, "layer_results": {"__all__": {"dialogue_history": _SENT}}}}


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Judge the prompt; the result is ``ReciprocityMetrics`` as data, without the prompts that the log has.

    Raises:
        ConfigurationError: the circle or the prompt is not possible.
        LlmRuntimeError: whatever ends a circle.
    """
    engine = started.settings.get("engine", {})
    calls, circle = configured(engine)
    prompt, session = subject(started.task)
    guard = PromptGuard(generate, calls, session=session, emit=emit, seed=started.seed)
    layers = {layer.name: layer.text for layer in prompt.layers}
    metrics = await guard.evaluate(**layers, mode=engine.get("mode", "fire_circle"), fire_circle_config=circle)
    return metrics.model_dump(mode="json", exclude=_LOGGED)


def configured(engine: Mapping[str, Any]) -> tuple[EvaluationConfig, FireCircleConfig | None]:
    """What holds for every call, and the circle; no circle in the modes without dialogue.

    Raises:
        CircleConfigurationError: a setting is out of range or contradicts another.
    """
    models = {"models": tuple(engine["models"])} if engine.get("models") else {}
    if engine.get("mode", "fire_circle") != "fire_circle":
        return EvaluationConfig(**models, **engine.get("calls", {})), None
    calls = EvaluationConfig(**engine.get("calls", {}))
    return calls, FireCircleConfig(**models, base_config=calls, **engine.get("circle", {}))


def subject(task: Mapping[str, Any]) -> tuple[MultiNeutrosophicPrompt, SessionMemory | None]:
    """The prompt under test, and the conversation it belongs to where that is known.

    Raises:
        PromptError: the turn and the history contradict each other.
    """
    prompt = MultiNeutrosophicPrompt(**{name: task[name] for name in LAYERS if task.get(name)})
    said = tuple((role, text) for role, text in task.get("history") or ())
    turn = task.get("turn")
    session = Item(0, "", prompt, turn=turn, history=said).session()
    if turn is not None and session is not None and session.turn != turn:
        raise PromptError(
            f"turn is {turn}, the history has {session.turn - 1} turns before it; correct one of them"
        )
    return prompt, session
