"""What figures need of a judged item: a few numbers and names, so that a large study fits in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import nan

from fire_circle.measurement.groupthink import groupthink_map
from fire_circle.measurement.scores import ItemScores, scores_of
from fire_circle.results import FireCircleResult, SeatCounts
from fire_circle.study import StudyLine

_NOTHING = SeatCounts()


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """What the figures need of one item: numbers and names, no words. ``rounds`` are F by seat."""

    index: int
    item: str
    name: str
    label: bool | None
    scores: ItemScores | None = None
    rounds: tuple[dict[int, float], ...] = ()
    seats: dict[int, str] = field(default_factory=dict[int, str])
    moves: tuple[tuple[str, tuple[str, ...]], ...] = ()
    alarms_given_up: int = 0
    patterns: tuple[str, ...] = ()
    influence: float = 0.0
    stopped_early: bool = False
    counts: SeatCounts = _NOTHING
    dropped: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def consensus(self) -> float:
        """F of the verdict; there must be one."""
        return self.scores.consensus if self.scores else nan


def item_figures(line: StudyLine) -> ItemFigures:
    """Return an item's numbers; without scores where it had no verdict."""
    result = line.result
    if result is None:
        return ItemFigures(line.index, line.item, line.name, line.label)
    movement = groupthink_map(result)
    return ItemFigures(
        index=line.index,
        item=line.item,
        name=line.name,
        label=line.label,
        scores=scores_of(str(line.index), bool(line.label), result),
        rounds=tuple({e.seat: e.falsehood for e in held.evaluations} for held in result.dialogue_history),
        seats={path.seat: path.model for path in movement.paths},
        moves=tuple((move.model, move.toward) for move in movement.moves),
        alarms_given_up=movement.alarms_given_up,
        patterns=tuple(pattern.pattern_type for pattern in result.patterns),
        influence=result.empty_chair_influence,
        stopped_early=result.stopped_early,
        counts=result.counts,
        dropped=result.dropped_claims,
    )


def bare_results(lines: Iterator[StudyLine]) -> dict[int, FireCircleResult]:
    """Return results without their dialogue, by index."""
    bare: dict[str, object] = {
        "dialogue_history": (),
        "layer_results": {},
        "history_claims": (),
        "round_metrics": (),
    }
    return {line.index: line.result.model_copy(update=bare) for line in lines if line.result is not None}
