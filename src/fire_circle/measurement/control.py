"""The call-matched control: as many evaluations as the circle had, from the same seats, without any dialogue."""

from __future__ import annotations

from fire_circle.baseline import JudgedLayer
from fire_circle.case import Case
from fire_circle.config import FireCircleConfig
from fire_circle.measurement.scores import ItemScores
from fire_circle.prompt_guard import independent_evaluations
from fire_circle.results import EvaluationError, NeutrosophicEvaluation, Spend
from fire_circle.seats import seat_circle
from llm_runtime.messages import Generate


async def with_control(
    scores: ItemScores, case: Case, config: FireCircleConfig, evaluations: int, *, generate: Generate, seed: int
) -> ItemScores:
    """Add the scores of ``evaluations`` independent samples, the seats taking turns.

    Give the models a temperature above 0, or the samples of one seat are copies of each other.

    Args:
        evaluations: how many the circle had for this item, its calls for scores; 1 or more.

    Raises:
        EvaluationError: fewer samples than asked for; a smaller control would flatter the circle.
    """
    seats, subject = seat_circle(config.models), JudgedLayer(case, case.prompt.least_trusted, config.base_config, seed)
    samples: list[float] = []
    spend = Spend()
    sample = 0
    while (wanted := evaluations - sample * len(seats)) > 0:
        sample += 1
        answers = await independent_evaluations(generate, subject, seats[:wanted], sample)
        samples += [answer.falsehood for answer, _ in answers if isinstance(answer, NeutrosophicEvaluation)]
        spend = sum((spent for _, spent in answers), spend)
    if len(samples) < evaluations:
        raise EvaluationError(f"the control of item {scores.item} has {len(samples)} of {evaluations} samples")
    return scores.model_copy(update={"control": tuple(samples), "control_spend": spend})
