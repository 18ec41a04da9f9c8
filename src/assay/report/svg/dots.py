"""A dot plot: values with their intervals, one row for each name, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.markup import Element, element
from assay.report.svg.canvas import fitted, label, picture, ticks, widest

_HEIGHT = 26.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A value, and the interval it may lie in; equal bounds draw no interval."""

    name: str
    value: float
    low: float
    high: float
    accent: str = "c0"


def dot_plot(
    dots: Sequence[Dot], title: str, description: str, *, high: float = 1.0, width: float = 640.0
) -> Element:
    """Draw dots over an axis from 0 to ``high``, in their order."""
    gutter = widest((dot.name for dot in dots), most=200.0) + 18
    bottom = len(dots) * _HEIGHT + 4
    span = width - gutter - 24

    def x(value: float) -> float:
        return gutter + min(max(value / high, 0.0), 1.0) * span

    parts: list[Element] = []
    for tick in ticks(high, 5):
        parts.append(element("line", x1=x(tick), x2=x(tick), y1=0.0, y2=bottom, class_="grid"))
        parts.append(label(x(tick), bottom + 12, f"{tick:g}", anchor="middle", class_="soft", size=11))
    for index, dot in enumerate(dots):
        middle = (index + 0.5) * _HEIGHT
        parts.append(label(0, middle, fitted(dot.name, gutter - 14)))
        if dot.low != dot.high:
            reach = {"x": x(dot.low), "y": middle - 1.5, "width": x(dot.high) - x(dot.low), "height": 3.0}
            parts.append(element("rect", class_=f"{dot.accent} faded", rx=1.5, **reach))
        tip = f"{dot.name}: {dot.value:g} ({dot.low:g} to {dot.high:g})"
        parts.append(element("circle", element("title", tip), cx=x(dot.value), cy=middle, r=5.0, class_=dot.accent))
    return picture(width, bottom + 24, title, description, *parts)
