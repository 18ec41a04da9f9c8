"""A circle as its events tell it, for the engine and for every reader of its log, and what follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fire_circle import events
from fire_circle.consensus import (
    active_models_of,
    consensus_of,
    falsehoods,
    metrics_of,
    silenced_alarms,
    stddev,
    voting_models,
)
from fire_circle.empty_chair import PERFORMATIVE, calculate_empty_chair_influence, influence_by_round
from fire_circle.layers import LayerName
from fire_circle.patterns import extract_patterns, sightings
from fire_circle.results import (
    Abstention,
    DialogueRound,
    FailureRecord,
    FireCircleResult,
    GuardReading,
    HistoryClaim,
    NeutrosophicEvaluation,
    PartialResult,
    PatternClaim,
    RoundMetrics,
    SeatCounts,
    Spend,
    evaluations_of,
)
from fire_circle.seats import Seat, labelled
from llm_runtime.events import Event


@dataclass(slots=True)
class Round:
    """One round, by seats' labels; ``chair`` is a label or empty.

    What each seat was sent, and when the round began, are the engine's alone: the log's calls hold them.
    """

    number: int
    of: int
    phase: Literal["", "guard", "baseline", "discussion", "synthesis"] = ""
    seats: Sequence[str] = ()
    chair: str = ""
    answers: dict[str, NeutrosophicEvaluation] = field(default_factory=dict[str, NeutrosophicEvaluation])
    abstained: dict[str, Abstention] = field(default_factory=dict[str, Abstention])
    failed: dict[str, FailureRecord] = field(default_factory=dict[str, FailureRecord])
    metrics: RoundMetrics | None = None
    sent: dict[str, str] = field(default_factory=dict[str, str], compare=False)
    began: float = field(default=0.0, compare=False)

    def as_result(self) -> DialogueRound:
        """Return the round as results have it: seats in their order, the spread once all are in."""
        evaluations = tuple(sorted(self.answers.values(), key=lambda e: e.seat))
        whole = len({*self.answers, *self.abstained, *self.failed}) >= len(self.seats)
        return DialogueRound(
            round_number=self.number,
            phase=self.phase or "baseline",
            evaluations=evaluations,
            empty_chair_model=next((e.model for e in evaluations if e.empty_chair), None),
            prompt_used=self.sent,
            convergence_metric=stddev([e.falsehood for e in evaluations]) if whole else None,
            timestamp=self.began,
        )


@dataclass(slots=True)
class Transcript:
    """The fold over a circle's events; repeated ones, as a resumed run repeats them, change nothing.

    What its calls took is the engine's alone.
    """

    layer: LayerName
    seed: int = 0
    seats: tuple[Seat, ...] = ()
    max_rounds: int = 0
    turn: int | None = None
    guard: GuardReading | None = None
    claims: tuple[HistoryClaim, ...] = ()
    rounds: dict[int, Round] = field(default_factory=dict[int, Round])
    stopped_early: events.StoppedEarly | None = None
    fallbacks: dict[int, str] = field(default_factory=dict[int, str])
    verdict: events.ConsensusReached | None = None
    fault: str = ""
    spend: Spend = field(default_factory=Spend, compare=False)

    def apply(self, event: Event) -> None:
        """Take in the next event of this circle."""
        match event:
            case events.CircleStarted():
                if event.seats != [seat.label for seat in self.seats]:
                    self.seats = labelled(event.seats, event.layer)
                self.max_rounds, self.turn, self.fault = event.max_rounds, event.turn, ""
            case events.GuardAnswered() | events.HistoryChecked():
                self._told(event)
            case events.StoppedEarly():
                self.stopped_early = event
            case events.ConsensusReached():
                self.verdict = event
            case events.CircleFailed():
                self.fault = event.message
            case events.ClassificationFellBack():
                self.fallbacks[event.round] = event.detail
            case events.RoundEvent():
                self._in_round(self.rounds.setdefault(event.round, Round(event.round, event.round)), event)
            case _:
                pass

    def _told(self, event: events.GuardAnswered | events.HistoryChecked) -> None:
        if isinstance(event, events.GuardAnswered):
            self.guard = event.reading
        else:
            self.claims = event.claims

    def _in_round(self, held: Round, event: events.RoundEvent) -> None:
        match event:
            case events.RoundStarted():
                held.of, held.phase, held.seats, held.chair = event.of, event.phase, event.seats, event.chair
            case events.SeatEvaluated():
                held.answers[event.seat] = event.evaluation
                held.failed.pop(event.seat, None)  # of before the run was resumed
                held.abstained.pop(event.seat, None)
            case events.SeatAbstained():
                held.abstained[event.seat] = Abstention(**self._who(event), reasoning=event.reasoning)
            case events.SeatFailed():
                why = {"kind": event.kind, "detail": event.detail, "empty_chair": event.chair}
                held.failed[event.seat] = FailureRecord.model_validate({**self._who(event), **why})
            case events.PatternSeen() if event.seat in held.answers:
                held.answers[event.seat] = _typed(held.answers[event.seat], event.claim)
            case events.RoundEnded():
                held.metrics = event.metrics
            case _:
                pass

    def _who(self, event: events.SeatEvent) -> Mapping[str, Any]:
        seats = ((seat.index, seat.name) for seat in self.seats if seat.label == event.seat)
        index, name = next(seats, (0, event.seat))
        return {"model": name, "seat": index, "round": event.round}

    @property
    def gone(self) -> frozenset[int]:
        """Seats that failed: they are never asked again and never vote (FC3)."""
        return frozenset(failure.seat for failure in self.failures)

    @property
    def failures(self) -> list[FailureRecord]:
        """Who gave no score, rounds in order, seats in theirs."""
        return [one for held in self._rounds() for one in sorted(held.failed.values(), key=lambda f: f.seat)]

    @property
    def abstentions(self) -> list[Abstention]:
        """Who could not judge, rounds in order, seats in theirs."""
        return [one for held in self._rounds() for one in sorted(held.abstained.values(), key=lambda a: a.seat)]

    def history(self) -> tuple[DialogueRound, ...]:
        """Return the rounds that somebody answered, as results have them."""
        return tuple(held for held in self._begun() if held.evaluations)

    def answered(self) -> list[NeutrosophicEvaluation]:
        """Return every answer, rounds in order, seats in theirs."""
        return list(evaluations_of(self.history()))

    def _begun(self) -> tuple[DialogueRound, ...]:
        return tuple(held.as_result() for held in self._rounds())

    def _rounds(self) -> list[Round]:
        return [held for _, held in sorted(self.rounds.items())]

    def metrics(self) -> list[RoundMetrics]:
        """Return one entry a round, by the seats that are active now."""
        history = self._begun()
        chair = influence_by_round(history, active_models=active_models_of(history))
        return [
            metrics_of(one, history[place - 1] if place else None, chair[one.round_number])
            for place, one in enumerate(history)
        ]

    def partial(self) -> PartialResult:
        """Return what there is of a circle that ends without a verdict."""
        return PartialResult.model_validate({**self._fields(), "partial": True})

    def concluded(self, threshold: float, *, chaired: bool) -> FireCircleResult:
        """Return the verdict of the rounds so far; the last one must have answers.

        Args:
            threshold: least agreement of a reported pattern.
            chaired: somebody held the empty chair; below an influence of 0.10 that is warned about, unless there
                were no patterns to bring.
        """
        history = self.history()
        active = active_models_of(history)
        last = falsehoods(history[-1])
        influence = calculate_empty_chair_influence(history, active_models=active)
        fields = self._fields()
        warnings = list(fields.pop("warnings"))
        if chaired and influence < PERFORMATIVE and sightings(history, active):
            warnings.append(
                f"the empty chair brought {influence:.0%} of the patterns, less than {PERFORMATIVE:.0%}: "
                "it gave no perspective of substance here"
            )
        warnings += [
            f"{model} raised the alarm and then fell silent ({end}): look at what it had said"
            for model, end in self._silenced().items()
        ]
        warnings += [
            f"{e.model} in round {e.round_number}: {e.doubt}; the gravest of what it said counts"
            for e in self.answered()
            if e.doubt
        ]
        return FireCircleResult(
            **fields,
            warnings=tuple(warnings),
            consensus=consensus_of(history, voting_models(history, self.failures, self.abstentions)),
            final_round_max=max(last),
            final_round_mean=sum(last) / len(last),
            patterns=tuple(extract_patterns(history, active, threshold)),
            empty_chair_influence=influence,
            active_models=active,
            stopped_early=self.stopped_early is not None,
        )

    def _silenced(self) -> dict[str, str]:
        return silenced_alarms(self._begun(), self.failures, self.abstentions)

    def _fields(self) -> dict[str, Any]:
        evaluations, failures, abstentions = self.answered(), self.failures, self.abstentions
        refusals = sum(failure.kind == "refusal" for failure in failures)
        salvaged = sum(evaluation.salvaged for evaluation in evaluations)
        scored = {"valid": len(evaluations) - salvaged, "salvaged": salvaged, "abstentions": len(abstentions)}
        counts = SeatCounts(**scored, refusals=refusals, failures=len(failures) - refusals)
        dropped = Counter(claim.dropped for e in evaluations for claim in e.claims if claim.dropped)
        return {
            **{name: getattr(self, name) for name in ("layer", "guard", "turn", "spend", "seed")},
            "dialogue_history": self._begun(),
            "failed_models": tuple(f"{failure.model}_round_{failure.round}" for failure in failures),
            "failures": tuple(failures),
            "abstentions": tuple(abstentions),
            "round_metrics": tuple(self.metrics()),
            "counts": counts,
            "dropped_claims": dict(sorted(dropped.items())),
            "history_claims": self.claims,
            "partial": bool(failures),
            "silenced": tuple(self._silenced()),
            "warnings": tuple(
                f"round {number}: patterns were classified by keywords, the model failed: {fault}"
                for number, fault in sorted(self.fallbacks.items())
            ),
        }


def _typed(evaluation: NeutrosophicEvaluation, claim: PatternClaim) -> NeutrosophicEvaluation:
    """Return the evaluation with the types of a claim, which are told after all seats have answered."""
    same = (claim.description, claim.quote, claim.span)
    return evaluation.with_claims(lambda c: claim if (c.description, c.quote, c.span) == same else c)
