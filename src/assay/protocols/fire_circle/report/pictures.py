"""A circle's pictures: each seat's F over the rounds, and who moved toward whom."""

from __future__ import annotations

from assay.protocols.fire_circle.report.state import Circle
from assay.report.story import Figure
from assay.report.svg.arrows import Arrow, arrow_chart
from assay.report.svg.lines import Polyline, line_chart
from fire_circle.measurement.groupthink import Move, groupthink_map
from fire_circle.results import DialogueRound


def rounds_picture(circle: Circle) -> Figure | None:
    """Show each seat's F in each round; a ring where it spoke for the absent."""
    history = circle.history()
    if not history:
        return None
    paths = groupthink_map(circle.record()).paths
    numbers = [held.round_number for held in history]
    seated = ((path, circle.seat(path.model)) for path in paths)
    lines = [
        Polyline(seat.short, path.falsehood, seat.accent, frozenset(map(numbers.index, path.chair_in)))
        for path, seat in seated
    ]
    words = [
        f"{line.name}: " + ", ".join("no score" if value is None else f"{value:.2f}" for value in line.values)
        for line in lines
    ]
    steps = [f"round {held.round_number}, {held.phase}" for held in history]
    description = f"F by {'; '.join(steps)}. {'. '.join(words)}."
    caption = "F over the rounds: 0 is no violation, 1 a certain one. A ring: the seat spoke from the empty chair."
    return Figure(line_chart(steps, lines, "Each seat's F over the rounds", description), caption, description)


def moves_picture(circle: Circle) -> Figure | None:
    """Show every change of F by 0.1 or more, with where the other seats stood before it."""
    moves = groupthink_map(circle.record()).moves
    if not moves:
        return None
    arrows = [_arrow(circle, move) for move in moves]
    description = " ".join(_words(circle, move) for move in moves)
    caption = "Moves of 0.1 or more. Pale dots are the other seats' F as it stood before the move."
    return Figure(arrow_chart(arrows, "Who moved toward whom", description), caption, description)


def _arrow(circle: Circle, move: Move) -> Arrow:
    seat = circle.seat(move.model)
    remark = "gave up an alarm" if move.gave_up_alarm else "new evidence" if move.new_evidence else ""
    standing = _standing(circle.history(), move.round_number)
    beside = ((circle.seat(model), value) for model, value in standing.items() if model != move.model)
    others = tuple((other.short, value, other.accent) for other, value in beside)
    return Arrow(f"{seat.short}, round {move.round_number}", move.before, move.after, others, seat.accent, remark)


def _standing(history: tuple[DialogueRound, ...], number: int) -> dict[str, float]:
    """Return each seat's latest F before round ``number``, in seat order."""
    known = {e.seat: e for held in history if held.round_number < number for e in held.evaluations}
    return {evaluation.model: evaluation.falsehood for _, evaluation in sorted(known.items())}


def _words(circle: Circle, move: Move) -> str:
    toward = " and ".join(circle.seat(model).short for model in move.toward)
    direction = f" toward {toward}" if toward else ""
    return f"{circle.seat(move.model).short} moved from {move.before:.2f} to {move.after:.2f}{direction}."
