"""Objections pinned to the sentences that they attack, and to words that answer them, as the ledger has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.protocols.crucible.report.state import CouncilState
from assay.report.clean import one_line
from assay.report.story import Pin
from crucible.ledger import Objection
from crucible.passages import Span
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct

_ABOUT = 200


class Pins(Struct):
    """The objections of a council, and where they are pinned.

    Args:
        objections: in their order; none before there is a ledger.
        by_text: pins by the source of a text, ascending.
    """

    objections: tuple[Objection, ...]
    by_text: Mapping[str, tuple[Pin, ...]]

    def aimed(self, loop: int, seat: str) -> list[str]:
        """Return the objections of a loop that are aimed at a seat."""
        return [one.id for one in self.objections if one.loop == loop and seat in one.targets]

    def attacking(self, sentence: str) -> list[str]:
        """Return the objections whose claim stands in a sentence."""
        return [one.id for one in self.objections if one.claim and one.claim.words in sentence]


def pinned(state: CouncilState) -> Pins:
    """Return the council's objections with their pins."""
    objections = state.ledger.objections if state.ledger else ()
    pins = (place for one in objections for place in _pins(one))
    placed = sorted(pins, key=lambda place: (place[1].start, place[1].end))
    return Pins(objections, {source: tuple(pins) for source, pins in grouped(placed).items()})


def _pins(one: Objection) -> Iterator[tuple[str, Pin]]:
    about, back = one_line(one.text.words, _ABOUT), f"claim-{one.id}" if one.claim else ""
    yield one.text.source, Pin(one.text.start, one.text.start, one.id, "attacked", one.id, back)
    if one.claim:
        yield one.claim.source, Pin(one.claim.start, one.claim.end, one.id, "attacked", back, f"ledger-{one.id}", about)
    changed = {(change.after.source, change.after.start) for change in one.changes}
    for change in one.changes:
        yield change.after.source, _reply(change.after, f"because of {one.id}", one, about)
    if one.reply and (one.reply.source, one.reply.start) not in changed:
        word = "concedes" if one.outcome == "conceded" else "refutes"
        yield one.reply.source, _reply(one.reply, f"{word} {one.id}", one, about)


def _reply(span: Span, sign: str, one: Objection, about: str) -> Pin:
    return Pin(span.start, span.end, sign, "reply", "", f"ledger-{one.id}", about)
