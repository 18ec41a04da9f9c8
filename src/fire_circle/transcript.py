"""What a circle has said so far, and what follows from it: metrics, a partial result, the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fire_circle.case import Case
from fire_circle.consensus import (
    active_models_of,
    consensus_of,
    falsehoods,
    metrics_of,
    silenced_alarms,
    voting_models,
)
from fire_circle.empty_chair import PERFORMATIVE, calculate_empty_chair_influence, influence_by_round
from fire_circle.history import check_history
from fire_circle.patterns import extract_patterns, sightings
from fire_circle.results import (
    Abstention,
    DialogueRound,
    FailureRecord,
    FireCircleResult,
    HistoryClaim,
    NeutrosophicEvaluation,
    PartialResult,
    RoundMetrics,
    SeatCounts,
    Spend,
)


@dataclass(slots=True)
class Transcript:
    """The rounds of one circle, who failed in them, and what they took."""

    case: Case
    seed: int
    history: list[DialogueRound] = field(default_factory=list[DialogueRound])
    failures: list[FailureRecord] = field(default_factory=list[FailureRecord])
    abstentions: list[Abstention] = field(default_factory=list[Abstention])
    warnings: list[str] = field(default_factory=list[str])
    spend: Spend = field(default_factory=Spend)
    history_claims: tuple[HistoryClaim, ...] = ()

    def __post_init__(self) -> None:
        self.history_claims = check_history(self.case)

    @property
    def gone(self) -> frozenset[int]:
        """Seats that failed: they are never asked again and never vote (FC3)."""
        return frozenset(failure.seat for failure in self.failures)

    def add(
        self, finished: DialogueRound, outcomes: Sequence[NeutrosophicEvaluation | Abstention | FailureRecord]
    ) -> None:
        """Add a finished round; ``outcomes`` are in seat order."""
        self.history.append(finished)
        self.failures += [outcome for outcome in outcomes if isinstance(outcome, FailureRecord)]
        self.abstentions += [outcome for outcome in outcomes if isinstance(outcome, Abstention)]

    def metrics(self) -> list[RoundMetrics]:
        """Return one entry a round, by the seats that are active now."""
        chair = influence_by_round(self.history, active_models=active_models_of(self.history))
        return [
            metrics_of(
                dialogue_round, self.history[place - 1] if place else None, chair[dialogue_round.round_number]
            )
            for place, dialogue_round in enumerate(self.history)
        ]

    def partial(self) -> PartialResult:
        """Return what there is of a circle that ends without a verdict."""
        fields = self._fields()
        fields["partial"] = True
        return PartialResult(**fields)

    def verdict(self, threshold: float, *, chaired: bool, stopped_early: bool) -> FireCircleResult:
        """Return the verdict of the rounds so far; the last one must have answers.

        Args:
            threshold: least agreement of a reported pattern.
            chaired: somebody held the empty chair; below an influence of 0.10 that is warned about, unless there
                were no patterns to bring.
        """
        active = active_models_of(self.history)
        last = falsehoods(self.history[-1])
        influence = calculate_empty_chair_influence(self.history, active_models=active)
        if chaired and influence < PERFORMATIVE and sightings(self.history, active):
            self.warnings.append(
                f"the empty chair brought {influence:.0%} of the patterns, less than {PERFORMATIVE:.0%}: "
                "it gave no perspective of substance here"
            )
        self.warnings += [
            f"{model} raised the alarm and then fell silent ({end}): look at what it had said"
            for model, end in self._silenced().items()
        ]
        self.warnings += [
            f"{e.model} in round {e.round_number}: {e.doubt}; the score counts as it stands"
            for dialogue_round in self.history
            for e in dialogue_round.evaluations
            if e.doubt
        ]
        return FireCircleResult(
            **self._fields(),
            consensus=consensus_of(self.history, voting_models(self.history, self.failures, self.abstentions)),
            final_round_max=max(last),
            final_round_mean=sum(last) / len(last),
            patterns=tuple(extract_patterns(self.history, active, threshold)),
            empty_chair_influence=influence,
            active_models=active,
            stopped_early=stopped_early,
        )

    def _silenced(self) -> dict[str, str]:
        return silenced_alarms(self.history, self.failures, self.abstentions)

    def _fields(self) -> dict[str, Any]:
        evaluations = [evaluation for dialogue_round in self.history for evaluation in dialogue_round.evaluations]
        refusals = sum(failure.kind == "refusal" for failure in self.failures)
        dropped = Counter(claim.dropped for e in evaluations for claim in e.claims if claim.dropped)
        return {
            "layer": self.case.layer.name,
            "dialogue_history": tuple(self.history),
            "failed_models": tuple(f"{failure.model}_round_{failure.round}" for failure in self.failures),
            "failures": tuple(self.failures),
            "abstentions": tuple(self.abstentions),
            "round_metrics": tuple(self.metrics()),
            "counts": SeatCounts(
                valid=sum(not evaluation.salvaged for evaluation in evaluations),
                salvaged=sum(evaluation.salvaged for evaluation in evaluations),
                refusals=refusals,
                failures=len(self.failures) - refusals,
                abstentions=len(self.abstentions),
            ),
            "dropped_claims": dict(sorted(dropped.items())),
            "history_claims": self.history_claims,
            "turn": self.case.turn,
            "spend": self.spend,
            "seed": self.seed,
            "partial": bool(self.failures),
            "silenced": tuple(self._silenced()),
            "warnings": tuple(self.warnings),
        }
