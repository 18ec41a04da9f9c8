"""A line chart: one line for each participant over a few steps, each named where its line ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from assay.report.markup import Element, element
from assay.report.svg.canvas import WIDTH, fitted, label, picture, widest
from llm_runtime.structs import Struct

_Place: TypeAlias = Callable[[int], float]
_Scale: TypeAlias = Callable[[float], float]

_HEIGHT, _TOP, _LEFT, _LINE = 240.0, 14.0, 34.0, 17.0


class Polyline(Struct):
    """A name and its value at each step, 0.0 to 1.0 or ``None``; steps in ``rings`` are drawn as rings."""

    name: str
    values: tuple[float | None, ...]
    accent: str = "c0"
    rings: frozenset[int] = frozenset()


def line_chart(steps: Sequence[str], lines: Sequence[Polyline], title: str, description: str) -> Element:
    """Draw lines over an axis from 0 to 1; nothing is drawn through a missing value."""
    reach = WIDTH - _LEFT - widest((line.name for line in lines), most=200.0) - 62
    bottom = _TOP + _HEIGHT

    def x(step: int) -> float:
        return _LEFT + 14 + (step / max(len(steps) - 1, 1)) * (reach - 14)

    def y(value: float) -> float:
        return bottom - min(max(value, 0.0), 1.0) * _HEIGHT

    parts: list[Element] = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(element("line", x1=_LEFT, x2=_LEFT + reach, y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(label(_LEFT - 8, y(tick), f"{tick:g}", anchor="end", class_="soft", size=11))
    for step, name in enumerate(steps):
        anchor = "middle" if 0 < step < len(steps) - 1 else "start" if step == 0 else "end"
        parts.append(label(x(step), bottom + 16, name, anchor=anchor, class_="soft", size=11))
    for line in lines:
        parts += _drawn(line, x, y)
    parts += _names(lines, x, y, WIDTH - _LEFT - reach)
    return picture(WIDTH, bottom + 28, title, description, *parts, ends=True)


def _drawn(line: Polyline, x: _Place, y: _Scale) -> list[Element]:
    parts: list[Element] = []
    for step, (before, after) in enumerate(zip(line.values, line.values[1:], strict=False)):
        if before is not None and after is not None:
            ends = {"x1": x(step), "y1": y(before), "x2": x(step + 1), "y2": y(after)}
            parts.append(element("line", class_=f"{line.accent} stroke", **ends))
    for step, value in enumerate(line.values):
        if value is None:
            continue
        tip = element("title", f"{line.name}: {value:g}")
        parts.append(element("circle", tip, cx=x(step), cy=y(value), r=5.5, class_=line.accent))
        if step in line.rings:
            parts.append(element("circle", cx=x(step), cy=y(value), r=2.8, class_="hollow"))
    return parts


def _names(lines: Sequence[Polyline], x: _Place, y: _Scale, room: float) -> list[Element]:
    """Write each name beside the last value of its line, moved down where two would overlap."""
    ends: list[tuple[float, float, Polyline, float]] = []
    for line in lines:
        known = [(step, value) for step, value in enumerate(line.values) if value is not None]
        if known:
            step, value = known[-1]
            ends.append((y(value), x(step), line, value))
    parts: list[Element] = []
    free = 0.0
    ends.sort(key=lambda end: end[0])
    lowest = _TOP + _HEIGHT + 8
    for index, (wanted, at, line, value) in enumerate(ends):
        place = max(min(wanted, lowest - (len(ends) - 1 - index) * _LINE), free)
        free = place + _LINE
        parts.append(label(at + 12, place, f"{value:.2f}", class_="soft", size=11))
        parts.append(label(at + 40, place, fitted(line.name, room - 46), class_=line.accent))
    return parts
