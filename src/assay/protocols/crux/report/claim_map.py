"""The claims of two authors side by side, the opposed and the shared ones joined by a line."""

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
    """Draw the pairs on which most rests; None where nothing is joined."""
    pairs = [(match, "opposed") for match in comparison.opposed]
    pairs += [(match, "shared") for match in comparison.shared]
    if not pairs:
        return None
    shown = pairs[:_MOST]
    left = _column([match.first for match, _ in shown])
    right = _column([match.second for match, _ in shown])
    names = (comparison.authors[0].name, comparison.authors[1].name)
    parts: list[Element] = [
        label(8, 12, names[0], class_="c0"),
        label(_BOX + _GUTTER + 8, 12, names[1], class_="c1"),
    ]
    height = 30.0
    centres: list[dict[str, float]] = []
    for column, x, accent in ((left, 0.0, "c0"), (right, _BOX + _GUTTER, "c1")):
        y, middle = 26.0, dict[str, float]()
        for view in column.values():
            lines = lines_of(worded(view), _BOX - 20, 3)
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
        y1, y2 = centres[0][match.first.claim], centres[1][match.second.claim]
        parts.append(element("line", x1=_BOX, x2=_BOX + _GUTTER, y1=y1, y2=y2, class_=look))
    words = " ".join(_sentence(match, kind, names) for match, kind in shown)
    more = f" {len(pairs) - len(shown)} more stand below." if len(pairs) > len(shown) else ""
    caption = f"A red line joins claims that cannot both be held; a dashed one, claims that say the same.{more}"
    drawn = picture(2 * _BOX + _GUTTER, height, "The claims of both, joined", words, *parts)
    return Figure(drawn, caption, words)


def _column(views: list[SideView]) -> dict[str, SideView]:
    return {view.claim: view for view in views}


def worded(view: SideView) -> str:
    """Return a claim as its author takes it."""
    return view.text if view.stance == "holds" else f"{view.stance.capitalize()}: {view.text}"


def _sentence(match: Match, kind: str, names: tuple[str, str]) -> str:
    return f"{kind.capitalize()}: {names[0]}: {worded(match.first)} {names[1]}: {worded(match.second)}"
