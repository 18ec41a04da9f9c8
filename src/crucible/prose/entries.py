"""What of a clerk's entries on a critique in prose can be shown.

A clerk model proposes; what is kept is decided here. A quotation counts only where its words stand in the text that
it is said to be from, an outcome only with words that were written after the objection. Without them it is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, pairwise

from pydantic import BaseModel

from crucible.ledger import Change, Objection
from crucible.passages import ANSWER, Passage, Span, locate
from crucible.prose.around import targets_at
from crucible.transcript import CouncilTranscript, Loop
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct


class Attack(Struct):
    """One critique, what it attacked and what was written after it.

    Args:
        before: what each seat held, by its label.
        after: what each seat wrote next; none where it wrote nothing more.
        answer: the response to the user; ``None`` where there is none.
        letters: of the seats, where the critic knew them by letters.
    """

    loop: int
    step: int
    critique: Passage
    before: Mapping[str, Passage]
    after: Mapping[str, Passage]
    answer: Passage | None = None
    letters: Mapping[str, str] = field(default_factory=dict[str, str])


class Entry(BaseModel):
    """What the clerk says of one objection: quotations, each to be looked for."""

    quote: str
    attacks: str | None = ""
    outcome: str = "open"
    reply: str | None = ""
    changed: str | None = ""


class Entries(BaseModel):
    """The clerk's answer about one critique."""

    objections: list[Entry]


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


def entered(attack: Attack, entries: Iterable[Entry], first: int = 1) -> list[Objection]:
    """Return the objections of one critique; one whose words no entry quotes is an open objection as a whole.

    Args:
        entries: the clerk's; none where it did not read the critique.
        first: the number of the first one's id.
    """
    critique = attack.critique
    body = critique.text[: targets_at(critique.text)]
    found = ((locate(one.quote, Passage(critique.source, body)), one) for one in entries)
    places = grouped((span.start, one) for span, one in found if span is not None)
    objections: list[Objection] = []
    for start, until in pairwise([*(sorted(places) or [0]), len(body)]):
        text = critique.span(start, start + len(body[start:until].rstrip()))
        settled = [_settled(attack, text, one) for one in places.get(start, [None])]
        # Of several entries about one objection, the one that shows the most.
        best = max(settled, key=lambda one: (one.outcome != "open", one.claim is not None))
        objections.append(best.model_copy(update={"id": f"O{first + len(objections)}"}))
    return objections


def _settled(attack: Attack, text: Span, entry: Entry | None) -> Objection:
    """Return an objection with what of a clerk's entry can be shown."""
    seat, claim = _claim(attack, entry)
    targets = (seat,) if seat else tuple(attack.before) if len(attack.before) == 1 else ()
    objection = Objection(id="", loop=attack.loop, step=attack.step, targets=targets, text=text, claim=claim)
    outcome = (entry.outcome if entry else "").strip().lower()
    if entry is None or outcome not in ("conceded", "refuted"):
        return objection
    by, reply = _later(attack, entry.reply, targets)
    changed_by, changed = _later(attack, entry.changed, targets)
    if reply is None and (changed is None or outcome == "refuted"):
        return objection
    changes: tuple[Change, ...] = ()
    if outcome == "conceded" and (after := changed or reply) is not None and (changed or claim):
        changes = (Change(before=_gone(attack, changed_by or by, claim), after=after),)
    told = {"outcome": outcome, "by": by or changed_by, "reply": reply or changed, "changes": changes}
    return objection.model_copy(update=told)


def _claim(attack: Attack, entry: Entry | None) -> tuple[str, Span | None]:
    places = ((seat, locate(entry.attacks, passage)) for seat, passage in attack.before.items() if entry)
    return next(((seat, span) for seat, span in places if span is not None), ("", None))


def _later(attack: Attack, words: str | None, targets: Sequence[str]) -> tuple[str, Span | None]:
    """Find words that were written after the objection; those that stood there before are no reaction to it."""
    texts = [(seat, attack.after[seat]) for seat in sorted(attack.after, key=lambda seat: seat not in targets)]
    for by, passage in [*texts, *([(ANSWER, attack.answer)] if attack.answer else [])]:
        span = locate(words, passage)
        earlier = [attack.before[by]] if by in attack.before else list(attack.before.values())
        if span is not None and not any(locate(span.words, one) for one in earlier):
            return by, span
    return "", None


def _gone(attack: Attack, by: str, claim: Span | None) -> Span | None:
    """Return the attacked words, where they no longer stand in what was written after."""
    passage = attack.after.get(by) or attack.answer
    return None if claim is None or passage is None or locate(claim.words, passage) is not None else claim
