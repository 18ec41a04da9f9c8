"""A council's pictures: what was objected to whom, and what of it is open; what each concluded first, and now."""

from __future__ import annotations

from assay.protocols.crucible.report.objections import moves
from assay.protocols.crucible.report.state import CouncilState
from assay.report.markup import Element
from assay.report.story import Figure
from assay.report.svg.bars import Bar, bar_chart
from assay.report.svg.canvas import fitted, label, picture, twice
from assay.report.svg.stances import lines_of
from crucible.ledger import Ledger


def objections_picture(state: CouncilState) -> Figure | None:
    """Draw how many objections each seat met, and how many of them are open."""
    ledger = state.ledger or Ledger()
    open_, bars = {one.id for one in ledger.still_open}, list[Bar]()
    for seat in state.deliberating:
        aimed = [one.id in open_ for one in ledger.objections if seat.key in one.targets]
        many, left = len(aimed), sum(aimed)
        bars += [Bar(seat.name, many, f"{many - left} met, {left} open", "c1", left)] if aimed else []
    words = "; ".join(f"{bar.name}: {bar.written}" for bar in bars)
    drawn = twice(lambda width: bar_chart(bars, "Objections by seat", words, width))
    return Figure(drawn, "Objections by the seat that they strike: met, and open.", words) if bars else None


_LINE = 15.0


def conclusions_picture(state: CouncilState) -> Figure | None:
    """Draw what each seat concluded first and concludes now; what moved has the seat's colour."""
    told = [one for one in moves(state) if one[1] != "–"]
    accents = {seat.name: seat.accent for seat in state.deliberating}

    def draw(width: float) -> Element:
        parts, y, half = list[Element](), 0.0, (width - 40) / 2
        for name, first, now, why in told:
            moved = now != "the same"
            sides = (0.0, first, ""), (half + 40, now, accents[name] if moved else "soft")
            wrapped = [(x, lines_of(text, half, 4), colour) for x, text, colour in sides]
            parts += [label(0, y + 8, name, class_=accents[name]), label(half + 14, y + 30, "→" if moved else "=")]
            parts.append(label(half + 40, y + 8, fitted(f"Moved by {why}", half), class_="soft"))
            parts += [label(x, y + 30 + _LINE * n, line, class_=c) for x, ls, c in wrapped for n, line in enumerate(ls)]
            y += 46 + _LINE * max(len(lines) for _, lines, _ in wrapped)
        return picture(width, y, "First and final conclusions", words, *parts)

    words = " ".join(f"{name} concluded first: {first} Concludes now: {now}" for name, first, now, _ in told)
    caption = "Left what a seat concluded first, right what it concludes now; what moved is in its colour."
    return Figure(twice(draw), caption, words) if told else None
