"""What a circle says while it works. The screen, the report and the trace are folds over these.

Events of single seats come as their answers do; a seat is named ``"INDEX:MODEL"`` (1-based), as in the label of its
calls. Everything else stands in seat order. ``layer`` tells the circles of one run apart.
:class:`fire_circle.transcript.Transcript` is the fold over those of one circle.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fire_circle.layers import LayerName
from fire_circle.results import (
    FailureKind,
    GuardReading,
    HistoryClaim,
    NeutrosophicEvaluation,
    PatternClaim,
    PatternObservation,
    RoundMetrics,
)
from llm_runtime.events import Event


class CircleEvent(Event):
    """Base of all of them."""

    layer: LayerName


class RoundEvent(CircleEvent):
    """Base of what happens in a round, 1-based."""

    round: int


class SeatEvent(RoundEvent):
    """Base of what a seat does."""

    seat: str


class CircleStarted(CircleEvent, type="fire_circle.started"):
    """A circle sits down. ``seats`` are the labels; ``turn`` is ``None`` where it is not known.

    ``round_seconds`` is what a round may take, where that is not what the specification says.
    """

    seats: list[str]
    max_rounds: int
    turn: int | None
    round_seconds: float | None = Field(default=None, exclude_if=lambda seconds: seconds is None)


class GuardAnswered(CircleEvent, type="fire_circle.guard_answered"):
    """The guard said something of the layer, or nothing that could be read."""

    reading: GuardReading


class HistoryChecked(CircleEvent, type="fire_circle.history_checked"):
    """What the seats say of claims about earlier turns; in logs of before behaviour 4 what a rule found."""

    claims: tuple[HistoryClaim, ...]


class RoundStarted(RoundEvent, type="fire_circle.round_started"):
    """Round ``round`` of at most ``of`` begins; ``chair`` is the seat that speaks for the absent, or empty."""

    of: int
    phase: Literal["guard", "baseline", "discussion", "synthesis"]
    seats: list[str]
    chair: str


class SeatEvaluated(SeatEvent, type="fire_circle.seat_evaluated"):
    """A seat answered."""

    evaluation: NeutrosophicEvaluation


class SeatAbstained(SeatEvent, type="fire_circle.seat_abstained"):
    """A seat says that it cannot judge."""

    reasoning: str


class SeatFailed(SeatEvent, type="fire_circle.seat_failed"):
    """A seat gave no score; it is not asked again."""

    kind: FailureKind
    detail: str
    chair: bool


class PatternSeen(SeatEvent, type="fire_circle.pattern_seen"):
    """A seat named a pattern and its quote was found."""

    claim: PatternClaim


class PatternDropped(SeatEvent, type="fire_circle.pattern_dropped"):
    """A seat named a pattern without a quote that stands in the prompt under test."""

    claim: PatternClaim


class ClassificationFellBack(RoundEvent, type="fire_circle.classification_fell_back"):
    """The classifying model failed; this round's patterns were classified by keywords."""

    detail: str


class RoundEnded(RoundEvent, type="fire_circle.round_ended"):
    """A round is complete."""

    metrics: RoundMetrics


class StoppedEarly(RoundEvent, type="fire_circle.stopped_early"):
    """The seats agree: ``stddev`` of F is below ``threshold``."""

    stddev: float
    threshold: float


class ConsensusReached(CircleEvent, type="fire_circle.consensus_reached"):
    """The verdict."""

    consensus: NeutrosophicEvaluation
    patterns: tuple[PatternObservation, ...]
    empty_chair_influence: float
    partial: bool
    warnings: list[str]


class CircleFailed(RoundEvent, type="fire_circle.failed"):
    """The circle ended without a verdict."""

    message: str
