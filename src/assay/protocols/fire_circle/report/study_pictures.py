"""The pictures of a study's report that are more than intervals: thresholds, and who moved where."""

from __future__ import annotations

from collections.abc import Sequence

from assay.protocols.fire_circle.report.state import seat_names
from assay.report.story import Figure
from assay.report.svg.curves import Curve, curve_chart
from assay.report.svg.heatmap import heat_map
from assay.report.svg.lines import Polyline, line_chart
from assay.report.units import percent
from fire_circle.studies.figures import CurvePoint, Figures, Movement


def threshold_picture(figures: Figures) -> Figure:
    """Show detection and false alarms over the threshold, of the consensus and of round 1."""
    at = figures.threshold if 0 <= figures.threshold <= 1 else None
    curves = [
        Curve("detected, consensus", _points(figures.curve, "detected"), "c0"),
        Curve("false alarms, consensus", _points(figures.curve, "false_alarms"), "red"),
        Curve("detected, round-1 mean", _points(figures.baseline_curve, "detected"), "c0", dashed=True),
        Curve("false alarms, round-1 mean", _points(figures.baseline_curve, "false_alarms"), "red", dashed=True),
    ]
    parts = [
        f"at {point.threshold:g} {percent(point.detected)} detected, {percent(point.false_alarms)} false alarms"
        for point in figures.curve[::10]
    ]
    description = f"Consensus: {'; '.join(parts)}."
    caption = (
        "What a threshold on F does. The gap between a full line and its dashed one is what the dialogue changes."
    )
    svg = curve_chart(
        curves,
        "Detection and false alarms by threshold",
        description,
        across="threshold on F",
        up="share of items",
        at=at,
        at_name=f"threshold {figures.threshold:.2f}",
    )
    return Figure(svg, caption, description)


def means_picture(movement: Movement) -> Figure:
    """Show each seat's mean F by round."""
    names = seat_names(list(movement.seats))
    lines = [
        Polyline(name, means, f"c{index % 6}")
        for index, (name, means) in enumerate(zip(names, movement.mean_by_round, strict=True))
    ]
    steps = [f"round {number}" for number in movement.rounds]
    words = [f"{line.name}: " + ", ".join(f"{v:.2f}" for v in line.values if v is not None) for line in lines]
    description = f"Mean F by {', '.join(steps)}. {'. '.join(words)}."
    caption = "Each seat's mean F; where an item ended early, its seats keep what they said last."
    return Figure(line_chart(steps, lines, "Mean F by round", description), caption, description)


def toward_picture(movement: Movement) -> Figure:
    """Show how often each seat moved toward each other."""
    names = seat_names(list(movement.seats))
    most = max((max(row, default=0) for row in movement.toward), default=0) or 1
    shares: list[list[float | None]] = []
    for index, row in enumerate(movement.toward):
        moved = max(sum(row), 1) if most else 1
        shares.append([None if other == index else times / moved for other, times in enumerate(row)])
    words = [
        f"{names[i]} moved toward {names[j]} {times} times"
        for i, row in enumerate(movement.toward)
        for j, times in enumerate(row)
        if i != j
    ]
    description = "; ".join(words) + "."
    caption = "Of all approaches of the row's seat, the share that led toward the column's. Read across."
    accents = [f"c{index % 6}" for index in range(len(names))]
    svg = heat_map(names, names, shares, "Who moved toward whom", description, accents)
    return Figure(svg, caption, description)


def _points(curve: Sequence[CurvePoint], field: str) -> tuple[tuple[float, float], ...]:
    return tuple((point.threshold, getattr(point, field)) for point in curve)
