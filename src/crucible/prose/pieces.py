"""The objections of a critique in prose: where each begins, and what of a clerk's entries can be shown.

A clerk model proposes; what is kept is decided here. A quotation counts only where its words stand in the text that
it is said to be from, an outcome only with words that were written after the objection. Without them it is open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pydantic import BaseModel

from crucible.ledger import Change, Objection
from crucible.passages import ANSWER, Passage, Span, locate
from crucible.prose.around import TARGETS

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NAMES = "objection|attack|point|flaw|problem|weakness|issue"
_NUMBERED = re.compile(
    # Nothing in it is tried twice: a critique may be any text.
    r"^[ \t]*+(?:[#>*_+-]++[ \t]*+)*+(?:"
    rf"(?:(?:{_NAMES})[ \t]*(?:no\.?[ \t]*)?)?[#(\[]?"
    r"(?:(\d{1,2})[\])*_ \t]*(?:[.):]|(?<=[\])])|[–—-][ \t])|"
    rf"({'|'.join(_ORDINALS)})(?:ly)?\b[^\n]{{0,24}}?[,:.–—])[\s*_)]*(?=\S)|"
    rf"(?:{_NAMES})[ \t]*#?(\d{{1,2}})[*_ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"^(?:[-*+•]|\*\*)[ \t]*(?=\S)", re.MULTILINE)
_GAP = re.compile(r"\n\s*\n")
#: A letter that names a seat; an A may be an article, unless something tells.
_LETTER = re.compile(r"(?:(?<=osition )|(?<=ositions )|(?<=eat )|(?<=and )|(?<=, ))A\b|\bA(?=['’]s|:)|\b[B-E]\b")
_LEAST_WORDS = 5


@dataclass(frozen=True, slots=True)
class Attack:
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


def pieces(critique: str) -> list[tuple[int, int]]:
    """Return where each objection of a critique stands by its own numbers; else by its bullets; else none."""
    body = critique[: match.start()] if (match := TARGETS.search(critique)) else critique
    starts: list[int] = []
    indent = 0
    for mark in _NUMBERED.finditer(body):
        number = _ORDINALS.index(mark[2].lower()) + 1 if mark[2] else int(mark[1] or mark[3])
        depth = len(mark[0]) - len(mark[0].lstrip(" \t"))
        # A list within an objection stands further in.
        if number == len(starts) + 1 and (not starts or depth <= indent):
            indent = indent if starts else depth
            starts.append(mark.start())
    if not starts:
        starts = [mark.start() for mark in _BULLET.finditer(body)]
        starts = starts if len(starts) > 1 else []
    return _bodies(body, pairwise([*starts, len(body)]))


def _bodies(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans without blanks at their ends, and without those that say nothing."""
    bodies: list[tuple[int, int]] = []
    for start, end in spans:
        body = text[start:end]
        if len(body.split()) >= _LEAST_WORDS:
            first = start + len(body) - len(body.lstrip())
            bodies.append((first, start + len(body.rstrip())))
    return bodies


def entered(attack: Attack, entries: Sequence[Entry], first: int = 1) -> list[Objection]:
    """Return the objections of one critique: those that it numbers, and those that the clerk can quote.

    Args:
        entries: the clerk's; none where there is no clerk.
        first: the number of the first one's id.
    """
    critique = attack.critique
    places = [(span, one) for one in entries if (span := locate(one.quote, critique)) is not None]
    own = pieces(critique.text)
    outside = [span for span, _ in places if not any(start <= span.start < end for start, end in own)]
    own += _quoted(critique.text, outside, [start for start, _ in own])
    objections: list[Objection] = []
    for start, end in own or _paragraphs(critique.text):
        about = [one for span, one in places if start <= span.start < end]
        text = critique.span(start, end)
        settled = [_settled(attack, text, one) for one in about] or [_settled(attack, text, None)]
        # Of several entries about one objection, the one that shows the most.
        objections.append(max(settled, key=lambda one: (one.outcome != "open", one.claim is not None)))
    return [
        one.model_copy(update={"id": f"O{number}"})
        for number, one in enumerate(sorted(objections, key=lambda one: one.text.start), first)
    ]


def _quoted(text: str, spans: Sequence[Span], others: Sequence[int]) -> list[tuple[int, int]]:
    """Return the stretches from each quoted beginning to the next, no further than its paragraph."""
    starts: list[int] = []
    for at in sorted({span.start for span in spans}):
        if not starts or len(text[starts[-1] : at].split()) >= _LEAST_WORDS:
            starts.append(at)
    bodies: list[tuple[int, int]] = []
    for at in starts:
        until = min((one for one in (*starts, *others) if one > at), default=len(text))
        gap = _GAP.search(text, at, until)
        bodies.append((at, at + len(text[at : gap.start() if gap else until].rstrip())))
    return bodies


def _paragraphs(text: str) -> list[tuple[int, int]]:
    body = text[: match.start()] if (match := TARGETS.search(text)) else text
    starts = [0, *(gap.end() for gap in _GAP.finditer(body))]
    return _bodies(body, pairwise([*starts, len(body)]))


def _settled(attack: Attack, text: Span, entry: Entry | None) -> Objection:
    """Return an objection with what of a clerk's entry can be shown."""
    seat, claim = _claim(attack, entry)
    targets = (seat,) if seat else _named(attack, text.words)
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
    return objection.model_copy(
        update={"outcome": outcome, "by": by or changed_by, "reply": reply or changed, "changes": changes}
    )


def _claim(attack: Attack, entry: Entry | None) -> tuple[str, Span | None]:
    places = ((seat, locate(entry.attacks, passage)) for seat, passage in attack.before.items() if entry)
    return next(((seat, span) for seat, span in places if span is not None), ("", None))


def _later(attack: Attack, words: str | None, targets: Sequence[str]) -> tuple[str, Span | None]:
    """Find words that were written after the objection; those that stood there before are no reaction to it."""
    order = sorted(attack.after, key=lambda seat: seat not in targets)
    texts = [(seat, attack.after[seat]) for seat in order]
    for by, passage in [*texts, *([(ANSWER, attack.answer)] if attack.answer else [])]:
        span = locate(words, passage)
        earlier = [attack.before[by]] if by in attack.before else list(attack.before.values())
        if span is not None and not any(locate(span.words, one) for one in earlier):
            return by, span
    return "", None


def _gone(attack: Attack, by: str, claim: Span | None) -> Span | None:
    """Return the attacked words, where they no longer stand in what was written after."""
    passage = attack.after.get(by) or attack.answer
    if claim is None or passage is None or locate(claim.words, passage) is not None:
        return None
    return claim


def _named(attack: Attack, text: str) -> tuple[str, ...]:
    """Return the seats that an objection names by letter, label or role; the only one where there is but one."""
    if len(attack.before) == 1:
        return tuple(attack.before)
    low, bare = text.casefold().replace("_", " "), set(_LETTER.findall(text))
    return tuple(
        seat
        for seat in attack.before
        if attack.letters.get(seat) in bare or seat.partition(":")[2].replace("_", " ") in low
    )
