"""What seats and critic are asked for in a council of records: the prompts, and what an answer must hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

from crucible.asking import Say, Wanted, kept, lines_of, part
from crucible.behaviour import BEHAVIOUR
from crucible.briefing import Briefing
from crucible.objections import SAME, Holding, Objections, RaisedObjection, alike, nearest, strikes
from crucible.panel import EARLIER, CouncilMember
from crucible.records import (
    AttackRecord,
    ClaimRecord,
    CritiqueRecord,
    DraftRecord,
    PositionRecord,
    RevisionRecord,
    wanting,
)
from crucible.refusing import refuses
from crucible.rendering import claim_words, cut
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel, Message
from llm_runtime.normal import normal
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct

#: A draft is cut at so many times the bound of a claim.
_DRAFT = 5
#: Nobody means more characters by a claim, nor more objections by a critique.
_LONGEST, _MOST = 6_000, 60
T = TypeVar("T", PositionRecord, RevisionRecord)
SeatRecord: TypeAlias = PositionRecord | RevisionRecord | DraftRecord
_NONE = "none (leave the list empty)"
_OTHERWISE = "nothing in it is about the question; say what you hold on it, and on what claims that rests"


class Forms(Struct):
    """The questions of one run.

    Args:
        briefing: what all calls begin with.
        members: the seats that deliberate.
        critic: the red team.
        held: what each seat holds, by label; filled while the run goes on.
        objections: of the run.
    """

    briefing: Briefing
    members: Sequence[CouncilMember]
    critic: CouncilMember
    held: dict[str, Holding]
    objections: Objections

    def shown(self, fence: Fence, most: int | None, own: str = "") -> str:
        """Return what all hold, claim by claim, each seat behind a fence."""
        return "\n\n".join(
            fence(f"{'YOUR OWN POSITION' if one.seat == own else 'POSITION of'} {self._letter(one)}", text)
            for one in self.held.values()
            for text in [held_text(one, most)]
        )

    def standing(self, label: CallLabel, most: int | None) -> str:
        """Return what all hold at the end, for a call of that label; of drafts the last."""
        held = list(self.held.values())
        return self._shuffled(label, held if any(one.claims for one in held) else held[-1:], most)

    def _shuffled(self, label: CallLabel, ones: Sequence[Holding], most: int | None) -> str:
        """Return positions in an order drawn for a call, or a draft."""
        fence = Fence(self.briefing.seed, label)
        blocks = [
            fence(f"POSITION of {self._letter(one)}", held_text(one, most))
            if any(each.claims for each in ones)
            else fence("DRAFT", cut(_draft_text(one), most and most * _DRAFT))
            for one in ones
        ]
        random.Random(f"{self.briefing.seed}|{label}").shuffle(blocks)
        return "\n\n".join(blocks)

    def _letter(self, one: Holding) -> str:
        return next((member.letter for member in self.members if member.label == one.seat), EARLIER)

    def _conversation(self, member: CouncilMember, task: str) -> list[Message]:
        return [Message("system", member.system), self.briefing.turn(member.label, task)]

    def _complete(
        self, member: CouncilMember, mine: Sequence[RaisedObjection] = ()
    ) -> Callable[[SeatRecord], str | None]:
        """Complain of a record that leaves out objections, or says one thing only and nothing of the question."""
        texts = [self.briefing.query, member.system, *(one.text for one in self.briefing.material)]
        shown = "\n".join([*texts, *(one.text for one in self.held.values())])

        def complete(record: SeatRecord) -> str | None:
            answers = [] if isinstance(record, PositionRecord) else record.answers
            answered = {one.objection.strip().upper() for one in answers}
            if missing := [one.id for one in mine if one.id not in answered]:
                return f"answers has no entry for {', '.join(missing)}"
            longest = max(map(len, [record.conclusion, *_said(record)]))
            if longest > _LONGEST and not BEHAVIOUR.before(8):
                return f"a conclusion or claim has {longest:,} characters; say each in a sentence or two"
            return _OTHERWISE if not answers and _repeats(record) and refuses(record.conclusion, shown) else None

        return complete

    def position(self, member: CouncilMember, label: CallLabel, mine: Sequence[RaisedObjection]) -> Wanted[SeatRecord]:
        """Ask for a first position; of who has one already, for one that answers the objections of ``mine``."""
        fence, before = Fence(self.briefing.seed, label), self.held.get(member.label)
        query, complete = fence("QUESTION", self.briefing.query), self._complete(member, mine if before else ())

        def compose(bound: int | None) -> list[Message]:
            values = {"query": query, "evidence": self.briefing.evidence}
            if before is None:
                return self._conversation(member, load_prompt("crucible", "position").render(**values))
            listed = self.objections.shown(self.objections.unsettled, bound) or "(none is left)"
            task = load_prompt("crucible", "revision").render(
                **values,
                letter=member.letter,
                positions=self.shown(fence, bound, own=member.label),
                objections=fence("OBJECTIONS", listed),
                yours=", ".join(one.id for one in mine) or _NONE,
            )
            return self._conversation(member, task)

        async def parts(say: Say) -> RevisionRecord:
            conclusion = await say(part("conclusion"))
            claims = _claims(await say(part("claims")))
            # Without the form nobody knows which claim goes on; one that stands to the letter does.
            known = {normal(one.text).text: one.id for one in (before.claims if before else ())}
            going_on = [one.model_copy(update={"id": known.get(normal(one.text).text, "")}) for one in claims]
            return RevisionRecord(conclusion=conclusion, claims=going_on)

        async def first(say: Say) -> PositionRecord:
            return kept(PositionRecord(**(await parts(say)).model_dump(exclude={"answers"})), complete)

        if before is None:
            return Wanted(PositionRecord, compose, complete, first, partial(_in_words, PositionRecord), query)
        kind, shown = wanting(RevisionRecord, "answers", len(mine)), self.shown(fence, None, own=member.label)
        return Wanted(kind, compose, complete, parts, partial(_in_words, RevisionRecord), shown)

    def draft(
        self, member: CouncilMember, label: CallLabel, open_: Sequence[RaisedObjection], last: Holding | None
    ) -> Wanted[SeatRecord]:
        """Ask for the next version of a text."""
        fence = Fence(self.briefing.seed, label)

        def compose(bound: int | None) -> list[Message]:
            before = "Nothing is written yet; you begin."
            if last is not None:
                listed = self.objections.shown(open_, bound) or "(none is left)"
                draft = fence("CURRENT DRAFT", cut(_draft_text(last), bound and bound * _DRAFT))
                against = fence("OBJECTIONS", listed)
                before = f"Its current version:\n\n{draft}\n\nObjections to it that nobody has settled:\n\n{against}"
            task = load_prompt("crucible", "draft").render(
                query=fence("QUESTION", self.briefing.query),
                before=before,
                yours=", ".join(one.id for one in open_) or _NONE,
                conclusion=f": {fence('CONCLUSION', last.conclusion)}" if last else "",
            )
            return self._conversation(member, task)

        async def parts(say: Say) -> DraftRecord:
            return kept(words(await say(part("draft"))), self._complete(member))

        def words(text: str) -> DraftRecord:
            return DraftRecord(text=text, conclusion=lines_of(text)[-1] if lines_of(text) else text)

        kind = wanting(DraftRecord, "answers", len(open_))
        return Wanted(kind, compose, self._complete(member, open_), parts, words, last.text if last else "")

    def critique(self, label: CallLabel, held: Sequence[Holding]) -> Wanted[CritiqueRecord]:
        """Ask for objections to what is held, and for what the critic finds of its earlier ones."""
        left = [one for one in self.objections if one.outcome != "conceded"]
        ids = {one.id for one in left}

        def located(critique: CritiqueRecord) -> str | None:
            if len(critique.objections) > _MOST and not BEHAVIOUR.before(8):
                return f"{len(critique.objections):,} objections are more than can be answered; give the gravest"
            looked = {one.id.strip().upper(): one.holds for one in critique.earlier}
            settled = bool(len(self.objections)) and ids <= looked.keys()
            pressed = any(looked.get(id) for id in ids)
            struck = settled or pressed or any(strikes(one, held) for one in critique.objections)
            return None if struck else "no objection strikes anything that is held; copy the words that it strikes"

        async def parts(say: Say) -> CritiqueRecord:
            claims = [claim.id for one in held for claim in one.claims]
            text = await say(part("objections", ids=", ".join(claims) or "draft"))
            return kept(CritiqueRecord(objections=[_plain_attack(line, held) for line in lines_of(text)[:5]]), located)

        def compose(bound: int | None) -> list[Message]:
            task = self._critique_task(label, held, left, bound)
            return [Message("system", self.critic.system), self.briefing.turn(self.critic.label, task)]

        def words(text: str) -> CritiqueRecord:
            return CritiqueRecord(objections=[nearest(text, held)])

        kind = wanting(CritiqueRecord, "earlier", len(ids))
        return Wanted(kind, compose, located, parts, words, "\n\n".join(one.text for one in held))

    def _critique_task(
        self, label: CallLabel, held: Sequence[Holding], left: Sequence[RaisedObjection], bound: int | None
    ) -> str:
        fence = Fence(self.briefing.seed, label)
        drafts = not any(one.claims for one in held)
        values = {
            "query": fence("QUESTION", self.briefing.query),
            "positions": self._shuffled(label, held, bound),
            "example": "" if drafts else held[0].claims[0].id,
            "fields": load_prompt("crucible", "objection_to_draft" if drafts else "objection_to_claim").render(),
        }
        if not len(self.objections):
            return load_prompt("crucible", "critique").render(**values)
        listed = self.objections.shown(self.objections, bound, replies=True)
        return load_prompt("crucible", "critique_again").render(
            **values, objections=fence("OBJECTIONS", listed), ids=", ".join(one.id for one in left) or _NONE
        )


def _claims(text: str) -> list[ClaimRecord]:
    """Return the claims of a list; who lists none, a model that refuses among them, has none."""
    claims = [ClaimRecord(text=line) for line in lines_of(text, listed=True)[:12]]
    if not claims:
        raise StructuredOutputError("the answer lists no claim", text)
    return claims


def _in_words(kind: type[T], text: str) -> T:
    return kind(conclusion=lines_of(text)[0], claims=[ClaimRecord(text=line) for line in lines_of(text)[:12]])


def _plain_attack(line: str, held: Sequence[Holding]) -> AttackRecord:
    id, colon, rest = line.partition(":")
    known = [claim for one in held for claim in one.claims if claim.id == id.strip(" *`.").upper()]
    if known and colon:
        return AttackRecord(claim=known[0].id, words="", fails=rest.strip() or line)
    return AttackRecord(fails=line)


def held_text(one: Holding, most: int | None) -> str:
    """Return what a seat holds as others are shown it: conclusion and claims, without its words to the critic."""
    claims = (f"{claim.id}. {claim_words(claim, most)}" for claim in one.claims)
    return "\n".join([f"Conclusion: {cut(one.conclusion, most)}", *claims])


def _repeats(record: SeatRecord) -> bool:
    said = [record.text] if isinstance(record, DraftRecord) else _said(record)
    return all(alike(one, record.conclusion) >= SAME for one in said)


def _said(record: SeatRecord) -> list[str]:
    return [] if isinstance(record, DraftRecord) else [one.text for one in record.claims]


def _draft_text(one: Holding) -> str:
    span = one.page.span(one.source, "draft")
    return span.words if span else one.text
