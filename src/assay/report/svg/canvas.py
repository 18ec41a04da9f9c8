"""The frame every picture stands in, its colours, and the scales that numbers are placed by."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable
from importlib import resources

from assay.report.markup import Element, Node, element

PALETTE = resources.files("assay.report.svg").joinpath("palette.css").read_text(encoding="utf-8").strip()
"""Custom properties and the classes that pictures use; the report's own style sheet starts with it."""

FONT = 12.0
#: Of a chart, and of the one that a phone shows in its place.
WIDTH, NARROW = 640.0, 340.0
_BROAD = 600
"""Wider pictures are scrolled on a narrow screen instead of shrunk past reading; they have the class ``broad``."""
ROW = 26.0


def picture(width: float, height: float, title: str, description: str, *parts: Node, ends: bool = False) -> Element:
    """Return an SVG root that scales with its place and says in words what it shows.

    Args:
        ends: whether what counts stands at the right: where the picture is scrolled, it begins there.
    """
    said = element("title", title), element("desc", description)
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": width, "height": height}
    look = ("broad ends" if ends else "broad") if width > _BROAD else None
    named = {"class_": look, "role": "img", "aria_label": f"{title}. {description}"}
    return element("svg", *said, *parts, xmlns="http://www.w3.org/2000/svg", **size, **named)


def twice(draw: Callable[[float], Element]) -> Element:
    """Return a chart drawn wide and narrow, of which a style sheet shows the one that fits."""
    return element("div", draw(WIDTH), draw(NARROW), class_="twice")


def label(x: float, y: float, text: str, *, anchor: str = "start", class_: str = "", size: float = FONT) -> Element:
    """Draw a line of text, its middle at ``y``."""
    return element("text", text, x=x, y=y + size * 0.35, text_anchor=anchor, font_size=size, class_=class_ or None)


def text_width(text: str, size: float = FONT) -> float:
    """Estimate the width of a line, near enough for layout: no font is at hand to measure."""
    return (len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text) * 0.8) * size * 0.56


def widest(texts: Iterable[str], size: float = FONT, *, most: float = math.inf) -> float:
    """Return the width of the widest of ``texts``, at most ``most``; 0 where there are none."""
    return min(max((text_width(text, size) for text in texts), default=0.0), most)


def fitted(text: str, width: float, size: float = FONT) -> str:
    """Cut ``text`` with an ellipsis to what fits in ``width``."""
    if text_width(text, size) <= width:
        return text
    return text[: max(int(width / (size * 0.56)) - 1, 1)].rstrip() + "…"


def rounded_up(value: float) -> float:
    """Return the next number of the kind 0.1, 0.2, 0.5, 1 that is no less than ``value``, which is above 0."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * nice for nice in (1, 2, 5, 10) if power * nice >= value)


def ticks(high: float, number: int = 6) -> list[float]:
    """Return round numbers from 0 up to ``high``, about ``number`` of them."""
    if high <= 0:
        return [0.0]
    step = rounded_up(high / number)
    return [step * index for index in range(math.floor(high / step + 1e-9) + 1)]


def time_ticks(milliseconds: float) -> list[float]:
    """Return the same in milliseconds, in steps that people count time in."""
    steps = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000)
    minutes = (60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000)
    for step in steps + minutes:
        if milliseconds / step <= 6:
            return [float(step * index) for index in range(int(milliseconds // step) + 1)]
    return ticks(milliseconds, 6)
