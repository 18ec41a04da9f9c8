"""A graph in two columns: participants on the left, questions on the right, each answer as a line between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from assay.report.markup import Element, element
from assay.report.svg.canvas import WIDTH, fitted, label, picture, widest
from assay.report.svg.stances import lines_of, stance_sign
from llm_runtime.structs import Struct

_BOX, _GAP, _LINE = 310.0, 16.0, 15.0


class QuestionBox(Struct):
    """A box: its text, a remark under it, and ``(participant, stance)`` of each answer."""

    text: str
    remark: str
    answers: tuple[tuple[str, str], ...]


class Tie(Struct):
    """Two questions that belong together; ``opposite`` where one is the denial of the other."""

    first: int
    second: int
    opposite: bool = False


def link_chart(
    names: Sequence[str], questions: Sequence[QuestionBox], ties: Sequence[Tie], title: str, description: str,
    accents: Sequence[str],
) -> Element:  # fmt: skip
    """Draw lines in the colour of the participant, with the sign of the answer at the box."""
    ties = ties[:40]
    gutter = widest(names, most=150.0) + 26
    margin = 26.0 + 9 * min(len(ties), 12) if ties else 6.0
    box = max(WIDTH - gutter - 150 - margin, _BOX)
    left = gutter + 150
    width = left + box + margin
    tops: list[float] = []
    boxes: list[Element] = []
    y = 6.0
    for question in questions:
        lines = lines_of(question.text, box - 42, 3)
        high = len(lines) * _LINE + 34
        tops.append(y + high / 2)
        boxes.append(element("rect", x=left, y=y, width=box, height=high, rx=8.0, class_="band"))
        boxes += [label(left + 30, y + 18 + down * _LINE, line) for down, line in enumerate(lines)]
        boxes.append(label(left + 30, y + high - 13, question.remark, class_="soft", size=11))
        y += high + _GAP
    height = max(y - _GAP, len(names) * 44.0) + 6
    parts: list[Element] = []
    signs: list[Element] = []
    for seat, (name, accent) in enumerate(zip(names, accents, strict=True)):
        at = height * (seat + 1) / (len(names) + 1)
        signs.append(label(0, at, fitted(name, gutter - 26), class_=accent))
        signs.append(element("circle", cx=gutter - 10, cy=at, r=4.5, class_=accent))
        for place, question in enumerate(questions):
            stance = dict(question.answers).get(name)
            if stance is None:
                continue
            seats = [who for who in names if who in dict(question.answers)]
            end = tops[place] + (seats.index(name) - (len(seats) - 1) / 2) * 17
            parts.append(element("line", x1=gutter - 4, x2=left + 6, y1=at, y2=end, class_=f"{accent} stroke"))
            signs += stance_sign(left + 13, end, stance, accent, f"{name}: {stance}")
    for place, tie in enumerate(ties):
        out = left + box + 10 + 9 * (place % 12)
        look = ("red" if tie.opposite else "quiet") + " stroke dashed"
        first, second = tops[tie.first], tops[tie.second]
        for (x1, y1), (x2, y2) in pairwise(((left + box, first), (out, first), (out, second), (left + box, second))):
            parts.append(element("line", x1=x1, x2=x2, y1=y1, y2=y2, class_=look))
    return picture(width, height, title, description, *parts, *boxes, *signs)
