"""An arrow chart: who moved from where to where on one scale, and where the others stood meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.markup import Element, element
from assay.report.svg.canvas import WIDTH, fitted, label, picture, widest
from llm_runtime.structs import Struct

_HEIGHT, _TOP = 30.0, 6.0


class Arrow(Struct):
    """A move.

    Args:
        name: whose.
        start, end: 0.0 to 1.0.
        others: where the others stood, each ``(name, value, accent)``.
        remark: a word behind the row.
    """

    name: str
    start: float
    end: float
    others: tuple[tuple[str, float, str], ...] = ()
    accent: str = "c0"
    remark: str = ""


def arrow_chart(arrows: Sequence[Arrow], title: str, description: str) -> Element:
    """Draw a row for each move, in their order, over an axis from 0 to 1."""
    gutter = widest((arrow.name for arrow in arrows), most=220.0) + 18
    margin = widest((arrow.remark for arrow in arrows), 11) + 20
    span = WIDTH - gutter - margin
    bottom = _TOP + len(arrows) * _HEIGHT

    def x(value: float) -> float:
        return gutter + min(max(value, 0.0), 1.0) * span

    parts: list[Element] = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(element("line", x1=x(tick), x2=x(tick), y1=_TOP, y2=bottom, class_="grid"))
        parts.append(label(x(tick), bottom + 12, f"{tick:g}", anchor="middle", class_="soft", size=11))
    for index, arrow in enumerate(arrows):
        middle = _TOP + (index + 0.5) * _HEIGHT
        parts.append(label(0, middle, fitted(arrow.name, gutter - 14), class_=arrow.accent))
        for name, value, accent in arrow.others:
            tip = element("title", f"{name}: {value:g}")
            parts.append(element("circle", tip, cx=x(value), cy=middle, r=4.5, class_=f"{accent} faded"))
        parts += _arrow(x(arrow.start), x(arrow.end), middle, arrow)
        parts.append(label(WIDTH - margin + 14, middle, arrow.remark, class_="soft", size=11))
    return picture(WIDTH, bottom + 24, title, description, *parts)


def _arrow(start: float, end: float, y: float, arrow: Arrow) -> list[Element]:
    look = f"{arrow.accent} stroke"
    back = 7.0 if end < start else -7.0
    tip = element("title", f"{arrow.name}: {arrow.start:g} to {arrow.end:g}")
    return [
        element("line", tip, x1=start, x2=end, y1=y, y2=y, class_=look),
        element("line", x1=end + back, x2=end, y1=y - 5, y2=y, class_=look),
        element("line", x1=end + back, x2=end, y1=y + 5, y2=y, class_=look),
        element("circle", cx=start, cy=y, r=3.0, class_=arrow.accent),
    ]
