"""The objections of a run while it is under way: each has an identity, a claim that it strikes, and a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from crucible.ledger import Change, Effect, Ledger, Objection, Outcome
from crucible.passages import Passage, Span, locate
from crucible.records import AnswerRecord, AttackRecord, ClaimRecord, Looked
from crucible.refusing import runs
from crucible.rendering import ProsePage, objection_text
from llm_runtime.normal import normal
from llm_runtime.structs import Struct

#: Of the runs of characters of two objections, the share from which on they are the same: about the same claim, and
#: about another one.
SAME, _REPEATED = 0.6, 0.9


class Holding(Struct):
    """What a seat holds, and where it stands in prose.

    Args:
        seat: its label.
        claims: with their ids; none of a draft.
        conclusion: in a sentence.
        confidence: empty of a draft.
        page: the prose.
        source: of the prose: ``"LOOP/SEAT/KIND"``.
    """

    seat: str
    claims: tuple[ClaimRecord, ...]
    conclusion: str
    confidence: str
    page: ProsePage
    source: str

    @property
    def text(self) -> str:
        """The prose."""
        return str(self.page)

    def claim(self, id: str) -> ClaimRecord | None:
        """Return the claim of that id."""
        return next((one for one in self.claims if one.id == id), None)


class RaisedObjection(Struct):
    """One objection as it stands now.

    Args:
        owner: the label of the seat whose claim it strikes; empty where that is a sentence of an earlier answer.
        claim: that claim as it was when it was attacked; ``None`` of a passage of a draft.
        struck: the words that it strikes.
        said: the seat's words about it.
    """

    id: str
    loop: int
    step: int
    owner: str
    claim: ClaimRecord | None
    struck: Span
    attack: AttackRecord
    outcome: Outcome = "open"
    by: str = ""
    said: str = ""
    reply: Span | None = None
    changes: tuple[Change, ...] = ()
    pressed: tuple[int, ...] = ()

    def awaits(self, seat: str) -> bool:
        """Tell whether an answer of that seat settles it; of a draft, that of whoever writes the next."""
        return self.outcome == "open" and (self.claim is None or self.owner in ("", seat))

    @property
    def about(self) -> str:
        """The whole claim or passage that it strikes."""
        return self.claim.text if self.claim else self.struck.words


Struck: TypeAlias = tuple[Holding, ClaimRecord | None, Span]
"""Whose it is, the claim (of a draft none) and the words."""


def strikes(attack: AttackRecord, held: Sequence[Holding]) -> Struck | None:
    """Find what an objection strikes: by its words, else by the id of a claim.

    Returns:
        Whose it is, the claim and the words; ``None`` where neither is there.
    """
    wanted = attack.claim.strip(" .:[]()\"'").upper()
    claims = [(one, claim) for one in held for claim in one.claims]
    claims.sort(key=lambda pair: pair[1].id != wanted)
    for one, claim in claims:
        if span := _within(one, claim, attack.words):
            return one, claim, span
    for one in (one for one in held if not one.claims):
        if span := locate(attack.words, Passage(one.source, one.text)):
            return one, None, span
    for one, claim in claims[:1]:
        if claim.id == wanted and (whole := one.page.span(one.source, wanted)):
            return one, claim, whole
    return None


def nearest(text: str, held: Sequence[Holding]) -> AttackRecord:
    """Return what a person objects in plain words, against the claim or draft that shares most with it."""
    claims = [claim for one in held for claim in one.claims]
    if not claims:
        return AttackRecord(words=held[-1].text[:200], fails=text)
    return AttackRecord(claim=max(claims, key=lambda claim: alike(claim.text, text)).id, fails=text)


def _within(held: Holding, claim: ClaimRecord, words: str) -> Span | None:
    line = held.page.span(held.source, claim.id)
    span = locate(words, Passage(held.source, line.words)) if line else None
    if line is None or span is None:
        return None
    return span.model_copy(update={"start": line.start + span.start, "end": line.start + span.end})


class Objections:
    """All objections of a run.

    Args:
        letters: of the deliberating seats, by label.
    """

    def __init__(self, letters: Mapping[str, str]) -> None:
        self._letters = letters
        self._all: dict[str, RaisedObjection] = {}
        #: The critique's own words of each, for the report.
        self._texts: dict[str, Span] = {}

    def __iter__(self) -> Iterator[RaisedObjection]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    @property
    def unsettled(self) -> list[RaisedObjection]:
        """What nobody has conceded or refuted."""
        return [one for one in self._all.values() if one.outcome == "open"]

    def against(self, seat: str) -> list[RaisedObjection]:
        """Return what a seat has to answer."""
        return [one for one in self.unsettled if one.owner in ("", seat)]

    def enter(
        self, attacks: Sequence[AttackRecord], looked: Sequence[Looked], held: Sequence[Holding], loop: int, step: int
    ) -> tuple[list[RaisedObjection], str]:
        """Take in a critique; return what it raised or raised again, and the critique as prose."""
        raised: dict[str, RaisedObjection] = {}
        page = ProsePage()
        for id, one in {one.id.strip().upper(): one for one in looked}.items():
            known = self._all.get(id)
            if one.holds and known is not None and known.outcome != "conceded":
                raised[known.id] = self._press(known, loop)
                page.add(f"{known.id} still holds. {one.why}".strip())
        for attack in attacks:
            place = strikes(attack, held)
            if place is None:
                continue
            known = self._known(attack, place[1], loop)
            if known is None:
                new = self._enter(attack, place, page, (loop, step))
                raised[new.id] = new
            elif known.outcome != "conceded":
                raised[known.id] = self._press(known, loop)
        return list(raised.values()), str(page)

    def _enter(self, attack: AttackRecord, place: Struck, page: ProsePage, at: tuple[int, int]) -> RaisedObjection:
        (holding, claim, struck), (loop, step) = place, at
        id = f"O{len(self._all) + 1}"
        page.add(f"{id}, against {claim.id}: " if claim else f"{id}: ")
        page.add(f'"{struck.words}"', before="")
        page.add(f"{attack.fails}\nWhat would settle it: {attack.settles}" if attack.settles else attack.fails, id)
        self._texts[id] = page.span(f"critique/{loop}/{step}", id) or struck
        self._all[id] = new = RaisedObjection(id, loop, step, holding.seat, claim, struck, attack)
        return new

    def answer(self, answers: Sequence[AnswerRecord], now: Holding) -> None:
        """Take in what a seat says to objections; to concede and keep the claim is to concede nothing."""
        for one in answers:
            known = self._all.get(one.objection.strip().upper())
            if known is None or not known.awaits(now.seat):
                continue
            reply = now.page.span(now.source, f"reply {one.objection}")
            told = replace(known, outcome="refuted", by=now.seat, said=one.words, reply=reply)
            kept, change = _kept(known, now)
            if one.does == "concede" or not (one.does or kept):
                changes = (Change(before=known.struck, after=change),) if change else ()
                told = known if kept else replace(told, outcome="conceded", changes=changes)
            self._all[known.id] = told

    def shown(self, ones: Iterable[RaisedObjection], most: int | None, *, replies: bool = False) -> str:
        """Return objections as models are shown them, with what was said to them where that is wanted."""
        parts: list[str] = []
        for one in ones:
            attack, claim = one.attack, one.claim.id if one.claim else ""
            text = objection_text(one.id, claim, one.struck.words, attack.fails, attack.settles, most)
            if replies:
                who = self._letters.get(one.by, one.by)
                said = f"{one.outcome} by {who}: {one.said}" if one.said else "open: nobody has answered it"
                text += f"\nWhat became of it: {said}" + (" The critic still holds to it." if one.pressed else "")
            parts.append(text)
        return "\n\n".join(parts)

    def ledger(self, effects: Mapping[str, tuple[Effect, Span | None]], note: str = "") -> Ledger:
        """Return the ledger, with what the answer does with each claim."""
        listed: list[Objection] = []
        for one in self._all.values():
            effect, said = effects.get(one.id, (None, None))
            listed.append(
                Objection(
                    id=one.id, loop=one.loop, step=one.step, text=self._texts[one.id],
                    targets=(one.owner,) if one.owner else (),
                    claim=one.struck, outcome=one.outcome, by=one.by, reply=one.reply, changes=one.changes,
                    pressed=one.pressed, effect=effect, said=said,
                )
            )  # fmt: skip
        return Ledger(objections=tuple(listed), note=note)

    def _press(self, one: RaisedObjection, loop: int) -> RaisedObjection:
        pressed = one if loop in (one.loop, *one.pressed) else replace(one, pressed=(*one.pressed, loop))
        self._all[one.id] = pressed = replace(pressed, outcome="open")
        return pressed

    def _known(self, attack: AttackRecord, claim: ClaimRecord | None, loop: int) -> RaisedObjection | None:
        """Return an earlier objection that says the same of the same, or the very same again, however dressed."""
        for one in self._all.values():
            share = alike(attack.fails, one.attack.fails)
            same = claim is not None and one.claim is not None and claim.id == one.claim.id
            same = same or alike(attack.words, one.attack.words) >= SAME
            if share >= (SAME if same else _REPEATED) and (same or loop != one.loop):
                return one
        return None


def _kept(one: RaisedObjection, now: Holding) -> tuple[bool, Span | None]:
    """Tell whether a seat still holds what was attacked, to the letter; else return what stands in its place."""
    if one.claim is None:
        return locate(one.struck.words, Passage(now.source, now.text)) is not None, None
    claim = now.claim(one.claim.id)
    if claim is None:
        return any(normal(other.text).text == normal(one.claim.text).text for other in now.claims), None
    return normal(claim.text).text == normal(one.claim.text).text, now.page.span(now.source, claim.id)


def alike(one: str, other: str) -> float:
    """Return the share of runs of characters that two texts have in common, 0 to 1."""
    first, second = runs(one), runs(other)
    return len(first & second) / len(first | second) if first and second else 0.0
