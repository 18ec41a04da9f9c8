"""Curves over one scale from 0 to 1, with a line where something was fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.markup import Element, element
from assay.report.svg.canvas import label, picture

_SIDE, _TOP, _LEFT = 260.0, 12.0, 42.0


@dataclass(frozen=True, slots=True)
class Curve:
    """Points ``(x, y)``, both 0.0 to 1.0, x ascending."""

    name: str
    points: tuple[tuple[float, float], ...]
    accent: str = "c0"
    dashed: bool = False


def curve_chart(
    curves: Sequence[Curve],
    title: str,
    description: str,
    *,
    across: str,
    up: str,
    at: float | None = None,
    at_name: str = "",
    width: float = 720.0,
) -> Element:
    """Draw curves with a key beside them.

    Args:
        across, up: what the axes show.
        at: where a vertical line stands, 0.0 to 1.0.
        at_name: what it is called.
    """
    reach = width - _LEFT - 236

    def x(value: float) -> float:
        return _LEFT + min(max(value, 0.0), 1.0) * reach

    def y(value: float) -> float:
        return _TOP + 16 + (1 - min(max(value, 0.0), 1.0)) * _SIDE

    parts: list[Element] = [label(0, _TOP - 4, up, class_="soft", size=11)]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(element("line", x1=x(0), x2=x(1), y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(label(_LEFT - 8, y(tick), f"{tick:.0%}", anchor="end", class_="soft", size=11))
        parts.append(label(x(tick), y(0) + 16, f"{tick:g}", anchor="middle", class_="soft", size=11))
    parts.append(label(x(0.5), y(0) + 34, across, anchor="middle", class_="soft", size=11))
    if at is not None:
        parts.append(element("line", x1=x(at), x2=x(at), y1=y(1), y2=y(0), class_="red dashed"))
        parts.append(label(x(at), y(1) - 9, at_name, anchor="middle", class_="red", size=11))
    for index, curve in enumerate(curves):
        look = f"{curve.accent} {'dashed' if curve.dashed else 'stroke'}"
        for (left, low), (right, high) in zip(curve.points, curve.points[1:], strict=False):
            parts.append(element("line", x1=x(left), y1=y(low), x2=x(right), y2=y(high), class_=look))
        row = _TOP + 26 + index * 20
        parts.append(element("line", x1=x(1) + 18, x2=x(1) + 40, y1=row, y2=row, class_=look))
        parts.append(label(x(1) + 48, row, curve.name, size=11))
    return picture(width, y(0) + 46, title, description, *parts)
