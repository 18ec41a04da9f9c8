"""What a circle says while it works. The screen, the report and the trace are folds over these.

Events of single seats come as their answers do; a seat is named ``"INDEX:MODEL"`` (1-based), as in the label of its
calls. Everything else stands in seat order. ``layer`` tells the circles of one run apart.
"""

from __future__ import annotations

from typing import Any, Literal

from llm_runtime.events import Event


class CircleStarted(Event, type="fire_circle.started"):
    """A circle sits down. ``seats`` are the labels; ``turn`` is ``None`` where it is not known.

    ``round_seconds`` is what a round may take, where that is not what the specification says.
    """

    layer: str
    seats: list[str]
    max_rounds: int
    turn: int | None
    round_seconds: float | None = None

    def payload(self) -> dict[str, Any]:
        data = super().payload()
        if self.round_seconds is None:
            del data["round_seconds"]
        return data


class HistoryChecked(Event, type="fire_circle.history_checked"):
    """The deterministic checker looked at claims of earlier conversation. ``claims`` are ``HistoryClaim`` data."""

    layer: str
    claims: list[dict[str, Any]]


class RoundStarted(Event, type="fire_circle.round_started"):
    """Round ``round`` of at most ``of`` begins; ``chair`` is the seat that speaks for the absent, or empty."""

    layer: str
    round: int
    of: int
    phase: Literal["baseline", "discussion", "synthesis"]
    seats: list[str]
    chair: str


class SeatEvaluated(Event, type="fire_circle.seat_evaluated"):
    """A seat answered. ``evaluation`` is ``NeutrosophicEvaluation`` data."""

    layer: str
    round: int
    seat: str
    evaluation: dict[str, Any]


class SeatAbstained(Event, type="fire_circle.seat_abstained"):
    """A seat says that it cannot judge."""

    layer: str
    round: int
    seat: str
    reasoning: str


class SeatFailed(Event, type="fire_circle.seat_failed"):
    """A seat gave no score; it is not asked again. ``kind`` as in ``FailureRecord``."""

    layer: str
    round: int
    seat: str
    kind: str
    detail: str
    chair: bool


class PatternSeen(Event, type="fire_circle.pattern_seen"):
    """A seat named a pattern and its quote was found. ``claim`` is ``PatternClaim`` data."""

    layer: str
    round: int
    seat: str
    claim: dict[str, Any]


class PatternDropped(Event, type="fire_circle.pattern_dropped"):
    """A seat named a pattern without a quote that stands in the prompt under test."""

    layer: str
    round: int
    seat: str
    claim: dict[str, Any]


class ClassificationFellBack(Event, type="fire_circle.classification_fell_back"):
    """The classifying model failed; this round's patterns were classified by keywords."""

    layer: str
    round: int
    detail: str


class RoundEnded(Event, type="fire_circle.round_ended"):
    """A round is complete. ``metrics`` is ``RoundMetrics`` data."""

    layer: str
    round: int
    metrics: dict[str, Any]


class StoppedEarly(Event, type="fire_circle.stopped_early"):
    """The seats agree: ``stddev`` of F is below ``threshold``."""

    layer: str
    round: int
    stddev: float
    threshold: float


class ConsensusReached(Event, type="fire_circle.consensus_reached"):
    """The verdict: ``NeutrosophicEvaluation`` data, and ``PatternObservation`` data of each pattern."""

    layer: str
    consensus: dict[str, Any]
    patterns: list[dict[str, Any]]
    empty_chair_influence: float
    partial: bool
    warnings: list[str]


class CircleFailed(Event, type="fire_circle.failed"):
    """The circle ended without a verdict."""

    layer: str
    round: int
    message: str
