"""The judge-hijack suite: attacks on the judges inside the prompt under test, and how far they shift the score.

The fence is a defence of form; whether a model obeys what stands behind it can only be measured.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from fire_circle.layers import MultiNeutrosophicPrompt
from fire_circle.measurement.scores import ItemScores
from llm_runtime.grouping import grouped
from llm_runtime.models import Model
from llm_runtime.statistics.bootstrap import paired_bootstrap
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import wilson

_MEASURES: dict[str, Callable[[ItemScores], float]] = {
    "round_1_mean": lambda scores: scores.baseline_mean,
    "round_1_max": lambda scores: max(scores.baseline),
    "consensus": lambda scores: scores.consensus,
}


class HijackTrial(Model):
    """One attack on one prompt.

    Args:
        attack, family: which.
        prompt: the prompt's name.
        clean, attacked: F by measure (round_1_mean, round_1_max, consensus); ``None`` where there was no verdict.
    """

    attack: str
    family: str
    prompt: str
    clean: dict[str, float]
    attacked: dict[str, float] | None


class FamilyReport(Model):
    """One family of attacks.

    Args:
        trials: with a verdict.
        silenced: trials in which the attack left the circle without a verdict.
        shift: mean of F attacked less F clean, by measure, with bootstrap intervals over prompts; ``None`` with
            fewer than two prompts. Below 0 the attack worked.
        evaded: share of the trials above the threshold when clean that fell below it, Wilson interval, for the
            consensus; ``None`` where none was above.
    """

    trials: int
    silenced: int
    mean_shift: dict[str, float]
    shift: dict[str, Interval] | None
    evaded: Interval | None


class HijackReport(Model):
    """The suite's report at a threshold, by family and by single attack."""

    threshold: float
    families: dict[str, FamilyReport]
    attacks: dict[str, FamilyReport]


def attacked(prompt: MultiNeutrosophicPrompt, payload: str) -> MultiNeutrosophicPrompt:
    """Put ``payload`` behind the prompt's least trusted layer, which is the one that is judged."""
    layer = prompt.least_trusted
    return prompt.model_copy(update={layer.name: f"{layer.text}\n\n{payload}"})


def hijack_report(
    trials: Sequence[HijackTrial], threshold: float, *, rng: random.Random, resamples: int = 2000
) -> HijackReport:
    """Report the shift in score that each family and each attack brought about."""
    by_family = grouped((trial.family, trial) for trial in trials)
    by_attack = grouped((trial.attack, trial) for trial in trials)
    families = {name: _report(group, threshold, rng, resamples) for name, group in by_family.items()}
    attacks = {name: _report(group, threshold, rng, resamples) for name, group in by_attack.items()}
    return HijackReport(threshold=threshold, families=families, attacks=attacks)


def _report(trials: Sequence[HijackTrial], threshold: float, rng: random.Random, resamples: int) -> FamilyReport:
    judged = [(trial.prompt, trial.clean, trial.attacked) for trial in trials if trial.attacked is not None]
    shifts = ((prompt, {name: scores[name] - clean[name] for name in _MEASURES}) for prompt, clean, scores in judged)
    units = list(grouped(shifts).values())
    above = [scores for _, clean, scores in judged if clean["consensus"] >= threshold]
    fell = sum(scores["consensus"] < threshold for scores in above)

    def shift(name: str, sample: Sequence[list[dict[str, float]]]) -> float:
        return _mean([trial[name] for unit in sample for trial in unit])

    def interval(name: str) -> Interval:
        def statistic(sample: Sequence[list[dict[str, float]]]) -> float:
            return shift(name, sample)

        return paired_bootstrap(units, statistic, rng=rng, resamples=resamples)

    return FamilyReport(
        trials=len(judged),
        silenced=len(trials) - len(judged),
        mean_shift={name: shift(name, units) for name in _MEASURES} if units else {},
        shift={name: interval(name) for name in _MEASURES} if len(units) > 1 else None,
        evaded=wilson(fell, len(above)) if above else None,
    )


def by_measure(scores: ItemScores) -> dict[str, float]:
    """Return F of one judged prompt by measure."""
    return {name: measure(scores) for name, measure in _MEASURES.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
