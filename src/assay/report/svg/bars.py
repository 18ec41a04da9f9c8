"""A bar chart: one bar for each name, lying, with its amount written behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.markup import Element, element
from assay.report.svg.canvas import WIDTH, fitted, label, picture, widest

_HEIGHT = 26.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A name, an amount of 0 or more, and how the amount is written."""

    name: str
    amount: float
    written: str
    accent: str = "c0"


def bar_chart(bars: Sequence[Bar], title: str, description: str) -> Element:
    """Draw bars in their order, all from zero, on one scale."""
    gutter = widest((bar.name for bar in bars), most=200.0) + 14
    margin = widest(bar.written for bar in bars) + 14
    longest = max((bar.amount for bar in bars), default=0.0) or 1.0
    parts: list[Element] = []
    for index, bar in enumerate(bars):
        middle = (index + 0.5) * _HEIGHT
        length = max(bar.amount, 0.0) / longest * (WIDTH - gutter - margin)
        shape = {"x": gutter, "y": middle - 8, "width": max(length, 1.0), "height": 16.0, "rx": 3.0}
        parts.append(label(0, middle, fitted(bar.name, gutter - 10)))
        parts.append(element("rect", element("title", f"{bar.name}: {bar.written}"), class_=bar.accent, **shape))
        parts.append(label(gutter + length + 8, middle, bar.written, class_="soft"))
    return picture(WIDTH, max(len(bars), 1) * _HEIGHT, title, description, *parts)
