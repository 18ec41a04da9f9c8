"""Estimates with their intervals on a scale with a place for less than nothing: differences, shifts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from assay.report.markup import Element, element
from assay.report.story import Figure
from assay.report.svg.canvas import WIDTH, fitted, label, picture, rounded_up, ticks, twice, widest
from llm_runtime.statistics.interval import Interval
from llm_runtime.structs import Struct

_HEIGHT = 28.0


class Dot(Struct):
    """A value, and the interval it may lie in."""

    name: str
    value: float
    low: float
    high: float
    accent: str = "c0"

    @classmethod
    def of(cls, name: str, interval: Interval, accent: str = "c0") -> Dot:
        """Return an estimate of the statistics."""
        return cls(name, interval.estimate, interval.low, interval.high, accent)


def interval_figure(
    dots: Sequence[Dot], title: str, caption: str, *, write: Callable[[float], str], high: float | None = None
) -> Figure:
    """Draw dots as :func:`interval_plot` does, and say each estimate in words."""
    each = (f"{dot.name}: {write(dot.value)} ({write(dot.low)} to {write(dot.high)})" for dot in dots)
    described = f"{'; '.join(each)}."
    drawn = twice(lambda width: interval_plot(dots, title, described, write=write, high=high, width=width))
    return Figure(drawn, caption, described)


def interval_plot(
    dots: Sequence[Dot], title: str, description: str, *, write: Callable[[float], str],
    high: float | None = None, width: float = WIDTH,
) -> Element:  # fmt: skip
    """Draw dots with their intervals in their order, and write each estimate behind its row, or above it if narrow.

    Args:
        write: how a value is written, on the axis too.
        high: where the axis ends; the data decide where it is left out. It begins at 0, or, where a bound is
            below 0, as far below as it reaches above, so that nothing lies in the middle.
        width: of the picture.
    """
    bounds = [abs(bound) for dot in dots for bound in (dot.low, dot.value, dot.high) if math.isfinite(bound)]
    reach = high or rounded_up(max(bounds, default=1.0) * 1.02 or 0.1)
    signed = any(min(dot.low, dot.value) < 0 for dot in dots)
    written = [f"{write(dot.value)}  [{write(dot.low)}, {write(dot.high)}]" for dot in dots]
    wide = width == WIDTH
    gutter = widest((dot.name for dot in dots), most=200.0) + 24 if wide else 18.0
    margin = widest(written, 11) + 20 if wide else 18.0
    span, height, raised = width - gutter - margin, _HEIGHT if wide else 2 * _HEIGHT, 0.0 if wide else 20.0
    bottom = len(dots) * height + 4

    def x(value: float) -> float:
        return gutter + min(max((value + reach) / (2 * reach) if signed else value / reach, 0.0), 1.0) * span

    parts: list[Element] = []
    above = ticks(reach, 3 if signed else 5)
    for tick in [-tick for tick in reversed(above[1:])] + above if signed else above:
        look = "quiet" if signed and tick == 0 else "grid"
        parts.append(element("line", x1=x(tick), x2=x(tick), y1=0.0, y2=bottom, class_=look))
        parts.append(label(x(tick), bottom + 12, write(tick), anchor="middle", class_="soft", size=11))
    for index, (dot, text) in enumerate(zip(dots, written, strict=True)):
        middle = (index + 0.5) * height + raised / 2
        room = gutter - 18 if wide else width - widest([text], 11) - 12
        parts.append(label(0, middle - raised, fitted(dot.name, room)))
        bar = {"x": x(dot.low), "y": middle - 2, "width": max(x(dot.high) - x(dot.low), 1.0), "height": 4.0}
        parts.append(element("rect", class_=f"{dot.accent} faded", rx=2.0, **bar))
        tip = element("title", f"{dot.name}: {text}")
        parts.append(element("circle", tip, cx=x(dot.value), cy=middle, r=5.0, class_=dot.accent))
        parts.append(label(width, middle - raised, text, anchor="end", class_="soft", size=11))
    return picture(width, bottom + 24, title, description, *parts)
