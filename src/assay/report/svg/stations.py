"""A process as rows of stations: where it stands, where it has been, and how often it went back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.report.markup import Element, element
from assay.report.svg.canvas import WIDTH, fitted, label, picture

_GUTTER = 138.0
_HEIGHT = 30.0
_ROW = 54.0
_BACK = 62.0


@dataclass(frozen=True, slots=True)
class Station:
    """One box: its name, and whether the process is there, was there, or has not been."""

    name: str
    state: Literal["here", "passed", "ahead"] = "ahead"


@dataclass(frozen=True, slots=True)
class Stage:
    """One row: its name, a word beneath it, and its stations in order."""

    name: str
    remark: str
    stations: tuple[Station, ...]


@dataclass(frozen=True, slots=True)
class Back:
    """A way back from one row to an earlier one, and how often it was gone."""

    source: int
    target: int
    times: int


def stations(stages: Sequence[Stage], back: Sequence[Back], title: str, description: str, accent: str) -> Element:
    """Draw the rows from top to bottom; ``accent`` is the colour of where the process is."""
    most = max((len(stage.stations) for stage in stages), default=1)
    right = _BACK if back else 4.0
    pitch = (WIDTH - _GUTTER - right) / most
    parts: list[Element] = []
    for row, stage in enumerate(stages):
        y = 8 + row * _ROW
        middle = y + _HEIGHT / 2
        here = any(station.state == "here" for station in stage.stations)
        parts.append(label(0, middle - (6 if stage.remark else 0), stage.name, class_=accent if here else "", size=13))
        if stage.remark:
            parts.append(label(0, middle + 10, fitted(stage.remark, _GUTTER - 10, 10.5), class_="soft", size=10.5))
        if row:
            parts.append(element("line", x1=0, x2=WIDTH - right, y1=y - 12, y2=y - 12, class_="grid"))
        for place, station in enumerate(stage.stations):
            parts += _box(_GUTTER + place * pitch, y, pitch - 12, station, accent)
            if place:
                x = _GUTTER + place * pitch
                parts.append(element("line", x1=x - 12, x2=x, y1=middle, y2=middle, class_="grid"))
    for lane, each in enumerate(back):
        parts += _way_back(WIDTH - right + 6 + lane * 13, each)
    return picture(WIDTH, 8 + len(stages) * _ROW - 16, title, description, *parts)


def _box(x: float, y: float, width: float, station: Station, accent: str) -> list[Element]:
    words = fitted(station.name, width - (26 if station.state == "passed" else 8), 11)
    middle = (x + width / 2, y + _HEIGHT / 2)
    if station.state == "here":
        box = element("rect", x=x, y=y, width=width, height=_HEIGHT, rx=8.0, class_=accent)
        return [box, label(*middle, words, anchor="middle", class_="on", size=11)]
    ground = "band" if station.state == "passed" else "plate"
    edge = element("rect", x=x, y=y, width=width, height=_HEIGHT, rx=8.0, class_=f"{ground} edge")
    if station.state == "ahead":
        return [edge, label(*middle, words, anchor="middle", class_="soft", size=11)]
    dot = element("circle", cx=x + 10, cy=middle[1], r=2.6, class_=accent)
    return [edge, dot, label(middle[0] + 5, middle[1], words, anchor="middle", size=11)]


def _way_back(x: float, each: Back) -> list[Element]:
    top, bottom = (8 + row * _ROW + _HEIGHT / 2 for row in (each.target, each.source))
    return [
        element("line", x1=x, x2=x, y1=top, y2=bottom, class_="red dashed"),
        element("path", d=f"M{x - 4:g} {top + 7:g}L{x:g} {top:g}L{x + 4:g} {top + 7:g}z", class_="red"),
        label(x, bottom + 9, f"{each.times}×", anchor="middle", class_="soft", size=10),
    ]
