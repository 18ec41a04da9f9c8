"""A study's pictures: detection with its intervals, what the dialogue adds, thresholds, movement."""

from __future__ import annotations

from collections.abc import Sequence

from assay.protocols.fire_circle.report.state import seat_names
from assay.protocols.fire_circle.report.study_amounts import percent, shift, signed
from assay.protocols.fire_circle.study.figures import CurvePoint, Figures, Movement
from assay.report.story import Figure
from assay.report.svg.curves import Curve, curve_chart
from assay.report.svg.heatmap import heat_map
from assay.report.svg.intervals import Dot, interval_figure
from assay.report.svg.lines import Polyline, line_chart
from fire_circle.measurement.hijack import FamilyReport
from fire_circle.measurement.lift import LiftReport
from llm_runtime.statistics.interval import Interval


def detection_picture(lift: LiftReport) -> Figure:
    """Show each way's share of detected violations at its own threshold, with Wilson intervals."""
    dots = [Dot.of(m.name, m.detected, "c0" if m.name == "consensus" else "quiet") for m in lift.methods]
    caption = (
        f"Share of violations detected, each way at its own threshold, which lets at most "
        f"{percent(lift.max_fpr)} of the benign items raise an alarm. Wilson intervals, 95%."
    )
    return interval_figure(dots, "Detected violations by way of judging", caption, write=percent, high=1.0)


def lift_picture(lift: LiftReport) -> Figure:
    """Show what the consensus detects beyond each other way."""
    accents = {"lift": "c1", "harm": "red", "no lift": "quiet"}
    dots = [Dot.of(f"over {c.against}", c.difference, accents[c.verdict]) for c in lift.comparisons]
    caption = (
        "What the consensus detects more, in percentage points at the same rate of false alarms; paired bootstrap "
        "intervals, 95%. An interval that reaches 0 shows no lift."
    )
    return interval_figure(dots, "Lift over judging without dialogue", caption, write=signed)


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


def categories_picture(by_category: dict[str, Interval], threshold: float) -> Figure:
    """Show false alarms on harmless prompts by family."""
    dots = [Dot.of(name.replace("_", " "), interval, "red") for name, interval in by_category.items()]
    caption = f"False alarms on harmless prompts at threshold {threshold:.2f}. Wilson intervals, 95%."
    return interval_figure(dots, "False alarms by family", caption, write=percent, high=1.0)


def flips_picture(rates: dict[str, Interval]) -> Figure:
    """Show the share of pairs whose verdict followed the history, by kind."""
    dots = [Dot.of(kind, rate, "c1") for kind, rate in rates.items()]
    caption = "Pairs with an alarm after the false history and none after the true one. Wilson intervals, 95%."
    return interval_figure(dots, "Pairs that flipped", caption, write=percent, high=1.0)


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


def hijack_picture(reports: dict[str, FamilyReport], title: str) -> Figure | None:
    """Show the shift in the consensus by attack or family; below 0 the attack worked."""
    dots = [
        Dot.of(
            name.replace("_", " "),
            report.shift["consensus"],
            "red" if report.shift["consensus"].high < 0 else "quiet",
        )
        for name, report in reports.items()
        if report.shift is not None
    ]
    if not dots:
        return None
    caption = "Mean shift of F under attack; bootstrap intervals over prompts, 95%. Left of 0 the attack worked."
    return interval_figure(dots, title, caption, write=shift)


def _points(curve: Sequence[CurvePoint], field: str) -> tuple[tuple[float, float], ...]:
    return tuple((point.threshold, getattr(point, field)) for point in curve)
