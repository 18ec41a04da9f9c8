"""The picture of a study's report that is more than intervals: how scores move."""

from __future__ import annotations

from assay.protocols.fire_circle.report.state import seat_names
from assay.report.story import Figure
from assay.report.svg.lines import Polyline, line_chart
from fire_circle.studies.figures import Movement


def means_picture(movement: Movement) -> Figure:
    """Show each seat's mean F by round."""
    seats = enumerate(zip(seat_names(list(movement.seats)), movement.mean_by_round, strict=True))
    lines = [Polyline(name, means, f"c{index % 6}") for index, (name, means) in seats]
    steps = [f"round {number}" for number in movement.rounds]
    words = [f"{line.name}: " + ", ".join(f"{v:.2f}" for v in line.values if v is not None) for line in lines]
    description = f"Mean F by {', '.join(steps)}. {'. '.join(words)}."
    caption = "Each seat's mean F; where an item ended early, its seats keep what they said last."
    return Figure(line_chart(steps, lines, "Mean F by round", description), caption, description)
