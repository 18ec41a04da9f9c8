"""The state of a run before a circle: what each seat said in each round, layer by layer; a fold over its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.protocols.fire_circle.task import Options, Task
from assay.registry import opened
from assay.report.run import RunTotals
from fire_circle import events
from fire_circle.layers import BY_TRUST, LayerName
from fire_circle.prompt_guard import ReciprocityMetrics
from fire_circle.results import (
    CircleRecord,
    DialogueRound,
    HistoryClaim,
    NeutrosophicEvaluation,
    PatternClaim,
    PatternObservation,
    RoundMetrics,
)
from llm_runtime.errors import LlmRuntimeError, StoreDamaged
from llm_runtime.events import Event, RunFinished, RunResumed, RunStarted
from llm_runtime.models import first_fault

Data = TypeVar("Data", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Seat:
    """A place in the circle.

    Args:
        label: ``"INDEX:MODEL"``, with ``@LAYER`` where a run has a circle a layer, as calls and events have it.
        index: 1-based.
        name: what results call it.
        short: the name as far as it tells the seats apart.
        accent: its colour class.
    """

    label: str
    index: int
    name: str
    short: str
    accent: str


@dataclass(slots=True)
class Round:
    """One round; ``chair`` is a label or empty."""

    number: int
    of: int
    phase: str
    chair: str = ""
    answers: dict[str, NeutrosophicEvaluation] = field(default_factory=dict[str, NeutrosophicEvaluation])
    abstained: dict[str, str] = field(default_factory=dict[str, str])
    failed: dict[str, events.SeatFailed] = field(default_factory=dict[str, events.SeatFailed])
    metrics: RoundMetrics | None = None


@dataclass(slots=True)
class Verdict:
    """How a circle ended."""

    consensus: NeutrosophicEvaluation
    patterns: tuple[PatternObservation, ...]
    influence: float
    warnings: tuple[str, ...]


@dataclass(slots=True)
class Circle:
    """One circle: one layer and those who judge it."""

    layer: LayerName
    seats: tuple[Seat, ...] = ()
    max_rounds: int = 0
    turn: int | None = None
    claims: tuple[HistoryClaim, ...] = ()
    rounds: dict[int, Round] = field(default_factory=dict[int, Round])
    stopped_early: events.StoppedEarly | None = None
    fallbacks: dict[int, str] = field(default_factory=dict[int, str])
    verdict: Verdict | None = None
    fault: str = ""

    @property
    def round(self) -> Round | None:
        """The one under way, or the last."""
        return self.rounds[max(self.rounds)] if self.rounds else None

    def seat(self, key: str) -> Seat:
        """Return a seat by its label or its name in results."""
        seat = next((seat for seat in self.seats if key in (seat.label, seat.name)), None)
        return seat or Seat(key, 0, key, key, "quiet")

    def history(self) -> tuple[DialogueRound, ...]:
        """Return the rounds that somebody answered, as results have them: seats in their order."""
        return tuple(
            DialogueRound(
                round_number=number,
                phase=_phase(held.phase),
                evaluations=tuple(sorted(held.answers.values(), key=lambda e: e.seat)),
                empty_chair_model=self.seat(held.chair).name if held.chair in held.answers else None,
                convergence_metric=held.metrics.f_score_stddev if held.metrics else None,
            )
            for number, held in sorted(self.rounds.items())
            if held.answers
        )

    def record(self) -> CircleRecord:
        """Return as much of a result as measurements of movement need."""
        return CircleRecord(layer=self.layer, dialogue_history=self.history())

    def answered(self) -> list[NeutrosophicEvaluation]:
        """Return every answer, rounds in order, seats in theirs."""
        return [evaluation for held in self.history() for evaluation in held.evaluations]


class CircleState:
    """The fold. Events that are repeated, as a resumed run repeats them, change nothing.

    Args:
        keep: as in :class:`assay.report.tally.Tally`.
    """

    def __init__(self, keep: int | None = None) -> None:
        self.run = RunTotals(keep)
        self.task = Task()
        self.options = Options()
        self.circles: dict[str, Circle] = {}
        self.result: ReciprocityMetrics | None = None

    @property
    def layers(self) -> dict[LayerName, str]:
        """The prompt under test, most trusted layer first."""
        texts: dict[LayerName, str] = {name: getattr(self.task, name) for name in BY_TRUST}
        return {name: text for name, text in texts.items() if text.strip()}

    @property
    def circle(self) -> Circle | None:
        """The circle whose verdict is the run's: of several the one with the highest F, else the latest."""
        circles = list(self.circles.values())
        judged = [circle for circle in circles if circle.verdict]
        if len(judged) < len(circles) or not judged:
            return circles[-1] if circles else None
        return max(judged, key=lambda c: (_falsehood(c), BY_TRUST.index(c.layer)))

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event, stamped ``at`` milliseconds since the epoch.

        Raises:
            StoreDamaged: its data are not a circle's.
        """
        self.run.apply(event, at)
        match event:
            case RunStarted():
                self._open(event)
            case RunResumed():
                self.result = None
            case RunFinished() if event.result:
                self.result = _read(ReciprocityMetrics, event.result)
            case events.CircleStarted():
                circle = self._circle(event.layer)
                circle.seats = _seats(event.seats, event.layer)
                circle.max_rounds, circle.turn, circle.fault = event.max_rounds, event.turn, ""
            case events.HistoryChecked():
                claims = tuple(_read(HistoryClaim, claim) for claim in event.claims)
                self._circle(event.layer).claims = claims
            case events.StoppedEarly():
                self._circle(event.layer).stopped_early = event
            case events.ConsensusReached():
                self._circle(event.layer).verdict = Verdict(
                    _read(NeutrosophicEvaluation, event.consensus),
                    tuple(_read(PatternObservation, pattern) for pattern in event.patterns),
                    event.empty_chair_influence,
                    tuple(event.warnings),
                )
            case events.CircleFailed():
                self._circle(event.layer).fault = event.message
            case events.ClassificationFellBack():
                self._circle(event.layer).fallbacks[event.round] = event.detail
            case _:
                self._apply_to_round(event)

    def _apply_to_round(self, event: Event) -> None:
        match event:
            case events.RoundStarted():
                rounds = self._circle(event.layer).rounds
                held = rounds.setdefault(event.round, Round(event.round, event.of, event.phase))
                held.of, held.phase, held.chair = event.of, event.phase, event.chair
            case events.SeatEvaluated():
                held = self._round(event.layer, event.round)
                held.answers[event.seat] = _read(NeutrosophicEvaluation, event.evaluation)
                held.failed.pop(event.seat, None)  # of before the run was resumed
                held.abstained.pop(event.seat, None)
            case events.SeatAbstained():
                self._round(event.layer, event.round).abstained[event.seat] = event.reasoning
            case events.SeatFailed():
                self._round(event.layer, event.round).failed[event.seat] = event
            case events.PatternSeen():
                answers = self._round(event.layer, event.round).answers
                if event.seat in answers:
                    answers[event.seat] = _typed(answers[event.seat], _read(PatternClaim, event.claim))
            case events.RoundEnded():
                self._round(event.layer, event.round).metrics = _read(RoundMetrics, event.metrics)
            case _:
                pass

    def _circle(self, layer: str) -> Circle:
        if layer not in BY_TRUST:
            raise StoreDamaged("an event names a layer that no prompt has; see: assay runs verify")
        return self.circles.setdefault(layer, Circle(layer))

    def _round(self, layer: str, number: int) -> Round:
        return self._circle(layer).rounds.setdefault(number, Round(number, number, ""))

    def _open(self, started: RunStarted) -> None:
        """Read what was asked. An imported log may hold anything there; what can be shown of it still is."""
        try:
            run = opened(started)
        except LlmRuntimeError:
            return
        if isinstance(run.task, Task) and isinstance(run.options, Options):
            self.task, self.options = run.task, run.options


def seat_names(names: list[str]) -> list[str]:
    """Return the names without vendor or address, where they still differ then."""
    bare = [name.partition("#")[2] if "://" in name else name for name in names]
    short = [part.rstrip("/").rpartition("/")[2] or name for part, name in zip(bare, names, strict=True)]
    return short if len(set(short)) == len(set(names)) else names


def _seats(labels: list[str], layer: str) -> tuple[Seat, ...]:
    """Make seats of their labels, named as results name them."""
    met: Counter[str] = Counter()
    names: list[str] = []
    for label in labels:
        model = label.partition(":")[2].removesuffix(f"@{layer}") or label
        met[model] += 1
        names.append(model if met[model] == 1 else f"{model}#{met[model]}")
    return tuple(
        Seat(label, index, name, short, f"c{(index - 1) % 6}")
        for index, (label, name, short) in enumerate(zip(labels, names, seat_names(names), strict=True), start=1)
    )


def _typed(evaluation: NeutrosophicEvaluation, claim: PatternClaim) -> NeutrosophicEvaluation:
    """Return the evaluation with the types of a claim, which are told after all seats have answered."""

    def named(claims: tuple[PatternClaim, ...]) -> tuple[PatternClaim, ...]:
        return tuple(claim if (c.description, c.span) == (claim.description, claim.span) else c for c in claims)

    return evaluation.model_copy(
        update={
            "patterns_observed": named(evaluation.patterns_observed),
            "consensus_patterns": named(evaluation.consensus_patterns),
        }
    )


def _falsehood(circle: Circle) -> float:
    return circle.verdict.consensus.falsehood if circle.verdict else -1.0


def _phase(name: str) -> Any:
    return name if name in ("baseline", "discussion", "synthesis") else "baseline"


def _read(kind: type[Data], data: Mapping[str, Any]) -> Data:
    try:
        return kind.model_validate(data)
    except ValidationError as fault:
        raise StoreDamaged(f"the log holds a {kind.__name__} that is none ({first_fault(fault)})") from None
