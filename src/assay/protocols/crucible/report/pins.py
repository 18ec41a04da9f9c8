"""Objections pinned to the sentences that they attack, and to the words that answer them.

The ledger says which those are. Before the clerk has written it, an objection is pinned to the words that it
quotes, under a sign that says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from assay.protocols.crucible.report.state import CouncilState
from assay.report.clean import one_line
from assay.report.story import Pin
from crucible.ledger import Objection
from crucible.passages import ANSWER, Passage, Span, locate
from crucible.prose.pieces import Attack, entered
from crucible.quotations import quoted
from crucible.transcript import CouncilTranscript, Loop

_ABOUT = 200
_Held: TypeAlias = tuple[tuple[str, Passage], ...]


@dataclass(frozen=True, slots=True)
class Pins:
    """The objections of a council, and where they are pinned.

    Args:
        objections: in their order.
        by_text: pins by the source of a text, ascending.
        guessed: whether a place is of our own finding.
    """

    objections: tuple[Objection, ...]
    by_text: Mapping[str, tuple[Pin, ...]]
    guessed: bool

    def aimed(self, loop: int, seat: str) -> list[str]:
        """Return the objections of a loop that are aimed at a seat."""
        return [one.id for one in self.objections if one.loop == loop and seat in one.targets]

    def attacking(self, sentence: str) -> list[str]:
        """Return the objections whose claim stands in a sentence."""
        return [one.id for one in self.objections if one.claim and one.claim.words in sentence]


def attacks(state: CouncilTranscript, letters: Mapping[str, str]) -> list[Attack]:
    """Return every critique of a council with what it attacked and what came after it, in order."""
    answer = None if state.answer is None else Passage(ANSWER, state.answer)
    return [
        Attack(loop.number, critique.step, passage, before, after, answer, letters)
        for loop in state.in_order()
        for critique in (loop.critiques[step] for step in sorted(loop.critiques))
        for passage in [Passage(f"critique/{loop.number}/{critique.step}", critique.text)]
        for before, after in [_around(state, loop, critique.after)]
    ]


def pinned(state: CouncilState) -> Pins:
    """Return the council's objections with their pins."""
    read = state.ledger is not None
    if state.ledger is not None:
        objections = list(state.ledger.objections)
    else:
        objections = list[Objection]()
        for attack in attacks(state, state.letters):
            names = tuple((seat, name) for seat, name in attack.letters.items() if seat in attack.before)
            held = tuple(attack.before.items())
            placed = _unread(attack.loop, attack.step, attack.critique, held, names)
            objections += [
                one.model_copy(update={"id": f"O{len(objections) + at}"}) for at, one in enumerate(placed, 1)
            ]
    pins: dict[str, list[Pin]] = {}
    for one in objections:
        for source, pin in _pins(one, read=read):
            pins.setdefault(source, []).append(pin)
    ordered = {
        source: tuple(sorted(placed, key=lambda pin: (pin.start, pin.end))) for source, placed in pins.items()
    }
    return Pins(tuple(objections), ordered, not read and any(one.claim for one in objections))


def _pins(one: Objection, *, read: bool) -> Iterator[tuple[str, Pin]]:
    about = one_line(one.text.words, _ABOUT)
    back = f"claim-{one.id}" if one.claim else ""
    yield one.text.source, Pin(one.text.start, one.text.start, one.id, "attacked", one.id, back)
    if one.claim:
        sign, leads = (one.id, f"ledger-{one.id}") if read else (f"{one.id}?", one.id)
        yield one.claim.source, Pin(one.claim.start, one.claim.end, sign, "attacked", back, leads, about)
    changed = {(change.after.source, change.after.start) for change in one.changes}
    for change in one.changes:
        yield change.after.source, _reply(change.after, f"because of {one.id}", one, about)
    if one.reply and (one.reply.source, one.reply.start) not in changed:
        word = "concedes" if one.outcome == "conceded" else "refutes"
        yield one.reply.source, _reply(one.reply, f"{word} {one.id}", one, about)


def _reply(span: Span, sign: str, one: Objection, about: str) -> Pin:
    return Pin(span.start, span.end, sign, "reply", "", f"ledger-{one.id}", about)


@lru_cache(maxsize=256)
def _unread(
    loop: int, step: int, critique: Passage, held: _Held, letters: tuple[tuple[str, str], ...]
) -> tuple[Objection, ...]:
    """Return what a critique numbers, aimed where its own words point; drawn anew for every event otherwise."""
    attack = Attack(loop, step, critique, dict(held), {}, None, dict(letters))
    aimed: list[Objection] = []
    for one in entered(attack, ()):
        seat, claim = _quoted(one, held) or ("", None)
        aimed.append(one.model_copy(update={"claim": claim, "targets": (seat,) if seat else one.targets}))
    return tuple(aimed)


def _quoted(one: Objection, held: _Held) -> tuple[str, Span] | None:
    spans = ((seat, locate(words, passage)) for words in quoted(one.text.words) for seat, passage in held)
    return next(((seat, span) for seat, span in spans if span is not None), None)


def _around(state: CouncilTranscript, loop: Loop, answered: int) -> tuple[dict[str, Passage], dict[str, Passage]]:
    following = state.loops.get(loop.number + 1)
    if loop.grammar == "sequential":
        drafts = list(chain(_texts(loop), _texts(following) if following else ()))
        return dict(drafts[answered - 1 : answered]), dict(drafts[answered : answered + 1])
    before = {seat: passage for seat, passage in _texts(loop) if "/defence" not in passage.source}
    after = dict(_texts(following)) if following else {}
    return before, after | {seat: passage for seat, passage in _texts(loop) if "/defence" in passage.source}


def _texts(loop: Loop) -> Iterator[tuple[str, Passage]]:
    for (seat, kind), text in loop.answers.items():
        yield seat, Passage(f"{loop.number}/{seat}/{kind}", text)
