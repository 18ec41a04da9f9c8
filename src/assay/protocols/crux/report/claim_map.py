"""The claims of authors side by side, the opposed and the shared ones joined by a line."""

from __future__ import annotations

from assay.report.markup import Element, element
from assay.report.story import Figure
from assay.report.svg.canvas import label, picture
from assay.report.svg.stances import lines_of
from crux.comparison import Comparison, Match, SideView

_BOX, _GUTTER, _LINE, _GAP = 300.0, 80.0, 15.0, 10.0
#: Joined pairs that are drawn; a picture of more is a wall.
_MOST = 14


def map_picture(comparison: Comparison) -> Figure | None:
    """Draw the pairs of two authors on which most rests; None where there are none, or more authors."""
    pairs = [(match, "opposed") for match in comparison.opposed]
    pairs += [(match, "shared") for match in comparison.shared]
    if not pairs or len(comparison.authors) != 2:
        return None
    shown = pairs[:_MOST]
    parts: list[Element] = []
    height = 30.0
    centres: list[dict[str, float]] = []
    for place, name in enumerate(comparison.names):
        x, accent = place * (_BOX + _GUTTER), f"c{place}"
        parts.append(label(x + 8, 12, name, class_=accent))
        y, middle = 26.0, dict[str, float]()
        for view in {match.sides[place].claim: match.sides[place] for match, _ in shown}.values():
            lines = lines_of(view.words, _BOX - 20, 3)
            high = len(lines) * _LINE + 14
            parts.append(element("rect", x=x, y=y, width=_BOX, height=high, rx=8.0, class_="band"))
            parts.append(element("rect", x=x, y=y, width=4.0, height=high, class_=accent))
            parts += [label(x + 12, y + 17 + down * _LINE, line) for down, line in enumerate(lines)]
            middle[view.claim] = y + high / 2
            y += high + _GAP
        centres.append(middle)
        height = max(height, y)
    for match, kind in shown:
        look = "red stroke" if kind == "opposed" else "quiet stroke dashed"
        y1, y2 = (middle[side.claim] for middle, side in zip(centres, match.sides, strict=True))
        parts.append(element("line", x1=_BOX, x2=_BOX + _GUTTER, y1=y1, y2=y2, class_=look))
    words = " ".join(_sentence(match, kind) for match, kind in shown)
    more = f" {len(pairs) - len(shown)} more stand below." if len(pairs) > len(shown) else ""
    caption = f"A red line joins claims that cannot both be held; a dashed one, claims that say the same.{more}"
    drawn = picture(2 * _BOX + _GUTTER, height, "The claims of both, joined", words, *parts)
    return Figure(drawn, caption, words)


def _sentence(match: Match, kind: str) -> str:
    return f"{kind.capitalize()}: " + " ".join(map(_said, match.sides))


def _said(side: SideView) -> str:
    return f"{side.author}: {side.words}"
