"""A timeline: a row for each participant, a bar for each thing it did, drawn where it happened in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.report.markup import Element, element
from assay.report.svg.canvas import ROW, fitted, label, picture, time_ticks, widest
from assay.report.units import duration
from llm_runtime.structs import Struct


class Span(Struct):
    """A bar. Times are milliseconds from the picture's beginning; ``faded`` for what came to nothing."""

    row: str
    start: float
    end: float
    accent: str
    tip: str
    faded: bool = False


def timeline(rows: Sequence[str], spans: Sequence[Span], title: str, description: str) -> Element:
    """Draw bars by row over time; bars of one row that overlap get lanes, so that parallel work shows."""
    width, top, right = 880.0, 6.0, 16.0
    gutter = widest(rows, most=190.0) + 18
    end = max([span.end for span in spans] + [1.0])
    scale = (width - gutter - right) / end
    bottom = top + len(rows) * ROW

    def x(at: float) -> float:
        return gutter + at * scale

    parts: list[Element] = []
    for tick in time_ticks(end):
        parts.append(element("line", x1=x(tick), x2=x(tick), y1=top, y2=bottom, class_="grid"))
        name = duration(int(tick)).replace(".0 s", " s") if tick else "0"
        parts.append(label(x(tick), bottom + 13, name, anchor="middle", class_="soft", size=11))
    for index, row in enumerate(rows):
        parts.append(label(0, top + (index + 0.5) * ROW, fitted(row, gutter - 14)))
        parts.extend(_bars([span for span in spans if span.row == row], top + index * ROW, x))
    return picture(width, bottom + 24, title, description, *parts)


def _bars(spans: Sequence[Span], top: float, x: Callable[[float], float]) -> list[Element]:
    lanes = _lanes(spans)
    many = max(lanes, default=0) + 1
    height = (ROW - 8) / many
    drawn: list[Element] = []
    for span, lane in zip(spans, lanes, strict=True):
        left, look = x(span.start), f"{span.accent} faded" if span.faded else span.accent
        place = {"x": left, "y": top + 4 + lane * height, "width": max(x(span.end) - left, 2.0)}
        shape = {"height": height - (1 if many > 1 else 0), "rx": min(3.0, height / 2)}
        drawn.append(element("rect", element("title", span.tip), **place, **shape, class_=look))
    return drawn


def _lanes(spans: Sequence[Span]) -> list[int]:
    """Return for each bar the first lane that is free when it begins."""
    free: list[float] = []
    lanes: list[int] = []
    for span in spans:
        lane = next((index for index, until in enumerate(free) if until <= span.start), len(free))
        free[lane : lane + 1] = [span.end]
        lanes.append(lane)
    return lanes
