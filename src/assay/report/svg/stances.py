"""Answers to yes/no questions as small signs, told apart by shape, and the matrix and the lanes they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from assay.report.markup import Element, element
from assay.report.svg.canvas import WIDTH, fitted, label, picture, text_width, widest
from llm_runtime.structs import Struct

_LINE = 15.0


def lines_of(text: str, width: float, most: int = 2, size: float = 12.0) -> list[str]:
    """Break a text into at most ``most`` lines that fit ``width``, the last cut with an ellipsis."""
    lines, line, words = [""][:0], "", text.split()
    while words:
        longer = f"{line} {words[0]}".strip()
        if line and text_width(longer, size) > width:
            if len(lines) == most - 1:
                break
            lines.append(line)
            line = ""
            continue
        line = longer
        words.pop(0)
    return [*lines, fitted(" ".join([line, *words]), width, size)]


def stance_sign(x: float, y: float, stance: str, accent: str, tip: str = "", r: float = 6.0) -> list[Element]:
    """Draw YES as a full disc, NO as a ring, NUANCED as half of each, anything else as a small dot."""
    title = [element("title", tip)] if tip else []
    if stance not in ("YES", "NO", "NUANCED"):
        return [element("circle", *title, cx=x, cy=y, r=2.2, class_="quiet")]
    sign = [element("circle", *title, cx=x, cy=y, r=r, class_=accent)]
    if stance == "NO":
        sign.append(element("circle", *title, cx=x, cy=y, r=r - 2.4, class_="hollow"))
    if stance == "NUANCED":
        inner = r - 2.0
        half = f"M{x:g} {y - inner:g}a{inner:g} {inner:g} 0 0 1 0 {2 * inner:g}z"
        sign.append(element("path", *title, d=half, class_="hollow"))
    return sign


class StanceRow(Struct):
    """A question, each column's answer to it, and a word on it."""

    question: str
    answers: tuple[str, ...]
    remark: str = ""
    aside: str = ""


def answer_matrix(
    columns: Sequence[str], rows: Sequence[StanceRow], title: str, description: str, accents: Sequence[str]
) -> Element:
    """Draw a row for each question, with a column for each participant and a remark at its end."""
    cell = max(min(96.0, 300.0 / max(len(columns), 1)), 58.0)
    margin = widest((text for row in rows for text in (row.remark, row.aside)), 11) + 16
    room = max(WIDTH - cell * len(columns) - margin, 220.0)
    width = room + cell * len(columns) + margin
    parts: list[Element] = []
    for place, (name, accent) in enumerate(zip(columns, accents, strict=True)):
        middle = room + (place + 0.5) * cell
        for down, line in enumerate(lines_of(name, cell - 6, 2, 11)):
            parts.append(label(middle, 8 + down * 13, line, anchor="middle", class_=accent, size=11))
    y = 36.0
    for row in rows:
        lines = lines_of(row.question, room - 18, 3)
        height = max(len(lines), 2) * _LINE + 18
        parts.append(element("line", x1=0, x2=width, y1=y, y2=y, class_="grid"))
        top = y + (height - len(lines) * _LINE) / 2 + _LINE / 2
        parts += [label(0, top + down * _LINE, line) for down, line in enumerate(lines)]
        for place, (answer, accent) in enumerate(zip(row.answers, accents, strict=True)):
            middle = room + (place + 0.5) * cell
            parts += stance_sign(middle, y + height / 2 - 7, answer, accent, f"{columns[place]}: {answer}")
            parts.append(label(middle, y + height / 2 + 11, answer.lower(), anchor="middle", class_="soft", size=10.5))
        parts.append(label(width - margin + 14, y + height / 2 - 7, row.remark, size=11))
        parts.append(label(width - margin + 14, y + height / 2 + 8, row.aside, class_="soft", size=11))
        y += height
    return picture(width, y + 4, title, description, *parts)


class Sign(Struct):
    """A stance at one step of one lane; ``moved`` sets a mark above it."""

    lane: int
    step: int
    stance: str
    tip: str = ""
    moved: Literal["", "earned", "unearned"] = ""


def stance_lanes(
    lanes: Sequence[str], signs: Sequence[Sign], groups: Sequence[tuple[str, int]], title: str,
    description: str, accents: Sequence[str],
) -> Element:  # fmt: skip
    """Draw a lane for each participant and a column for each step; ``groups`` name runs of steps."""
    steps = sum(many for _, many in groups)
    gutter = widest(lanes, most=160.0) + 18
    pitch = max(21.0, (WIDTH - gutter) / max(steps, 1))
    height, top = 46.0, 30.0
    bottom = top + height * len(lanes)
    parts: list[Element] = []
    at = 0
    for place, (name, many) in enumerate(groups):
        x, wide = gutter + at * pitch, many * pitch
        if place % 2 == 0:
            parts.append(element("rect", x=x, y=top - 4, width=wide, height=bottom - top + 8, rx=6.0, class_="band"))
        parts.append(label(x + wide / 2, 12, fitted(name, wide, 10.5), anchor="middle", class_="soft", size=10.5))
        at += many
    for lane, (name, accent) in enumerate(zip(lanes, accents, strict=True)):
        y = top + (lane + 0.5) * height
        own = sorted((sign for sign in signs if sign.lane == lane), key=lambda sign: sign.step)
        parts.append(label(0, y, fitted(name, gutter - 14), class_=accent))
        xs = [gutter + (sign.step + 0.5) * pitch for sign in own]
        parts += [element("line", x1=a, x2=b, y1=y, y2=y, class_="grid") for a, b in pairwise(xs)]
        for x, sign in zip(xs, own, strict=True):
            parts += stance_sign(x, y, sign.stance, accent, sign.tip, 5.4)
            parts += _move(x, y - 14, sign, accent)
    return picture(gutter + steps * pitch, bottom + 8, title, description, *parts)


def _move(x: float, y: float, sign: Sign, accent: str) -> list[Element]:
    if sign.moved == "earned":
        return [element("path", d=f"M{x - 5:g} {y + 3:g}L{x:g} {y - 5:g}L{x + 5:g} {y + 3:g}z", class_=accent)]
    if sign.moved == "unearned":
        return [element("path", d=f"M{x:g} {y - 5:g}l5 5l-5 5l-5 -5z", class_="red")]
    return []
