"""A heat map: shares by row and column, as colour and as a number, so that colour is never the only sign."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.markup import Element, element
from assay.report.svg.canvas import fitted, label, picture, widest

_CELL, _HEIGHT = 84.0, 32.0


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    title: str,
    description: str,
    accents: Sequence[str] = (),
) -> Element:
    """Draw a cell for each of ``shares``: 0.0 to 1.0, or ``None`` where there is nothing to show."""
    gutter = widest(rows, most=220.0) + 18
    top = 24.0
    parts: list[Element] = [
        label(gutter + (index + 0.5) * _CELL, 10, fitted(column, _CELL), anchor="middle", class_="soft", size=11)
        for index, column in enumerate(columns)
    ]
    for down, (row, values) in enumerate(zip(rows, shares, strict=True)):
        y = top + down * _HEIGHT
        accent = accents[down] if accents else "c0"
        parts.append(label(0, y + _HEIGHT / 2, fitted(row, gutter - 14)))
        for across, share in enumerate(values):
            parts.extend(_cell(gutter + across * _CELL, y, share, accent))
    return picture(gutter + len(columns) * _CELL, top + len(rows) * _HEIGHT, title, description, *parts)


def _cell(x: float, y: float, share: float | None, accent: str) -> list[Element]:
    box = {"x": x + 2, "y": y + 2, "width": _CELL - 4, "height": _HEIGHT - 4, "rx": 5.0}
    middle = x + _CELL / 2, y + _HEIGHT / 2
    if share is None:
        return [element("rect", class_="band", **box), label(*middle, "–", anchor="middle", class_="soft")]
    return [
        element("rect", class_="band", **box),
        element("rect", class_=accent, opacity=0.08 + 0.6 * min(max(share, 0.0), 1.0), **box),
        label(*middle, f"{share:.0%}", anchor="middle"),
    ]
