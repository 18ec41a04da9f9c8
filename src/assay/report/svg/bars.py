"""A bar chart: one bar for each name, lying, with its amount written behind it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.markup import Element, element
from assay.report.svg.canvas import WIDTH, fitted, label, picture, widest
from llm_runtime.structs import Struct

_HEIGHT = 26.0


class Bar(Struct):
    """A name, an amount of 0 or more, how the amount is written, and how much of it is drawn as open."""

    name: str
    amount: float
    written: str
    accent: str = "c0"
    open: float = 0


def bar_chart(bars: Sequence[Bar], title: str, description: str, width: float = WIDTH) -> Element:
    """Draw bars in their order, all from zero, on one scale."""
    gutter = widest((bar.name for bar in bars), most=width * 0.3) + 14
    margin = widest(bar.written for bar in bars) + 14
    longest = max((bar.amount for bar in bars), default=0.0) or 1.0
    parts: list[Element] = []
    for index, bar in enumerate(bars):
        middle = (index + 0.5) * _HEIGHT
        length = max(bar.amount, 0.0) / longest * (width - gutter - margin)
        shape = {"x": gutter, "y": middle - 8, "width": max(length, 1.0), "height": 16.0, "rx": 3.0}
        parts.append(label(0, middle, fitted(bar.name, gutter - 10)))
        parts.append(element("rect", element("title", f"{bar.name}: {bar.written}"), class_=bar.accent, **shape))
        if bar.open:
            rest = bar.open / bar.amount * length
            parts.append(element("rect", **{**shape, "x": gutter + length - rest, "width": rest}, class_="c3"))
        parts.append(label(gutter + length + 8, middle, bar.written, class_="soft"))
    return picture(width, max(len(bars), 1) * _HEIGHT, title, description, *parts)
