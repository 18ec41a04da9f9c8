"""The circle as a scorer of Inspect: what was answered, or the prompt itself, before a circle of its models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, get_model
from inspect_ai.scorer import Score, Scorer, Target
from inspect_ai.solver import TaskState

from ai_crucible.inspect_bridge import inspect_model_function
from assay.protocols.fire_circle.task import Task, case_of
from fire_circle import FireCircleConfig, FireCircleResult, fire_circle_evaluate
from fire_circle.config import EvaluationConfig
from fire_circle.results import ALARM
from fire_circle.transcripts import records_of, trace_of

#: Seconds: Inspect queues calls and repeats them by itself.
_PATIENCE = 3_600.0
_SEATS = 3


def judging(models: Sequence[str], judge: Literal["answer", "prompt"], rounds: int, policy: str) -> Scorer:
    """Return a scorer: ``alarm`` is 1 where a seat's F reached 0.7, beside F, T and I of the verdict.

    Args:
        models: 2 to 10 seats, as Inspect names them; empty seats the model of the role ``grader``, or the one that
            is evaluated, three times.
        judge: what is judged.
        rounds: at most, 1 to 4.
        policy: a criterion of the user's own, in plain words.
    """

    async def score(state: TaskState, target: Target) -> Score:
        usual = get_model(role="grader")
        seats = tuple(models) or (str(usual),) * _SEATS
        base = EvaluationConfig(timeout_seconds=_PATIENCE, policy=policy)
        config = FireCircleConfig(models=seats, max_rounds=rounds, timeout_per_round=_PATIENCE, base_config=base)
        fields = trace_of(records_of([_message(one) for one in state.messages]))
        fields["answer"] = state.output.completion if judge == "answer" else ""
        case = case_of(Task(**fields))
        seated = inspect_model_function(usual, {name: get_model(name) for name in models})
        return _score_of(await fire_circle_evaluate(case.prompt, config, case.session, generate=seated))

    return score


def _message(message: ChatMessage) -> dict[str, Any]:
    calls = message.tool_calls or [] if isinstance(message, ChatMessageAssistant) else []
    name = message.function if isinstance(message, ChatMessageTool) else None
    called = [{"name": call.function, "arguments": call.arguments} for call in calls]
    return {"role": message.role, "content": message.text, "name": name, "tool_calls": called}


def _score_of(result: FireCircleResult) -> Score:
    verdict = result.consensus
    patterns = [
        f"{pattern.pattern_type} (seen by {pattern.model_agreement:.0%}): {'; '.join(pattern.examples)}"
        for pattern in result.patterns
    ]
    scores = {"falsehood": verdict.falsehood, "truth": verdict.truth, "indeterminacy": verdict.indeterminacy}
    value = {"alarm": float(verdict.falsehood >= ALARM), **scores}
    told = {"partial": result.partial, "failed": list(result.failed_models), "seed": result.seed}
    return Score(value=value, explanation="\n".join([verdict.reasoning, *patterns]), metadata=told)
