"""What divides a group: from many authors' claims to the few questions on which they turn, and what is common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from string import ascii_uppercase
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from crux.book import Claim
from crux.claims.judge import BEARING, Judge, Pair, Verdict
from crux.comparison import Answer, Common, CruxCandidate, Match, SettledBy, Settling, SideView
from crux.config import ModelTable
from crux.ending import tried
from crux.quotes import folded
from crux.requests import request
from crux.retrieval.lexical import Lexical
from crux.sides import Side
from llm_runtime.messages import CallLabel, Generate
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask
from llm_runtime.tasks import gather

Decides: TypeAlias = Literal["settles", "weighs", "touches"]
_CLOSE: dict[Decides, float] = {"settles": 1.0, "weighs": 0.5, "touches": 0.0}
_BOTH: tuple[Answer, Answer] = ("YES", "NO")
MOST_CRUXES = 7
#: Claims that one call is shown, and how many such calls there are; more claims are left out, and counted.
BLOCK, BLOCKS = 200, 4
#: Under so many claims a group's text is short: fewer questions are asked for, and one author a side is judged.
_FEW = 60
#: Letters of a claim's holders that are shown; of a crowd the rest is a number.
_LETTERS = 12
#: Claims of a side that are shown where it is asked what would settle a crux.
_NEAR = 5


class _CruxNamed(BaseModel):
    """A question that divides the group."""

    question: str = Field(max_length=600)
    yes: list[str] = Field(default_factory=list, max_length=60)
    no: list[str] = Field(default_factory=list, max_length=60)
    rests: list[str] = Field(default_factory=list, max_length=60)
    decides: Decides = "touches"


class _Cruxes(BaseModel):
    """What a group has to decide, and over what it divides."""

    decision: str = Field(default="", max_length=600)
    cruxes: list[_CruxNamed] = Field(max_length=40)


class _Both(BaseModel):
    """A sentence that a claim of each side bears out."""

    text: str = Field(max_length=1_000)
    yes: str = Field(max_length=20)
    no: str = Field(max_length=20)


class _Way(BaseModel):
    """A way to settle a question."""

    by: SettledBy
    text: str = Field(max_length=1_000)
    claims: list[str] = Field(default_factory=list, max_length=20)


class _Settled(BaseModel):
    """What both sides of one question can say, and what would settle it."""

    id: str = Field(max_length=20)
    ground: list[_Both] = Field(default_factory=list[_Both], max_length=4)
    proposals: list[_Both] = Field(default_factory=list[_Both], max_length=6)
    settled_by: list[_Way] = Field(default_factory=list[_Way], max_length=6)


class _Settlings(BaseModel):
    """The answer for all questions."""

    cruxes: list[_Settled] = Field(max_length=40)


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom a question is put to, and how.

    Args:
        language: in which questions and proposals are written.
    """

    generate: Generate
    models: ModelTable
    seed: int
    language: str = "English"


@dataclass(frozen=True, slots=True)
class Division:
    """What divides a group.

    Args:
        candidates: the cruxes, ranked, at most :data:`MOST_CRUXES`.
        proposed: how many were named.
        decision: what the group has to decide; empty where no answer named it.
        left_out: claims that no call was shown.
        dropped: grounds and proposals that one side does not bear out.
    """

    candidates: tuple[CruxCandidate, ...]
    proposed: int
    decision: str = ""
    left_out: int = 0
    dropped: int = 0

    @property
    def matches(self) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
        """What is opposed and what is shared, as claims side by side."""
        opposed = (Match(sides=one.sides, why=one.why, question=one.question) for one in self.candidates)
        grounds = (both for one in self.candidates for both in one.common if both.kind == "ground")
        return tuple(opposed), tuple(Match(sides=both.sides, why=both.text) for both in grounds)


async def divided(sides: Sequence[Side], topic: str, judge: Judge, asking: Asking) -> Division:
    """Name, judge and rank the questions on which authors divide, at most eight calls.

    Args:
        sides: of every author, in books of their own or in one.
        topic: what they are to decide; empty where the texts say so.
        judge: reads answers in sentences, and whether a side's claims bear a sentence.

    Raises:
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet.
    """
    board = _Board(sides, topic)
    decision, named = await _named(board, topic, asking)
    ranked = _ranked([found for one in named if (found := board.crux(one))], len(sides))
    confirmed = await _confirmed(board, ranked[: MOST_CRUXES + 1], judge)
    cruxes = confirmed[:MOST_CRUXES]
    settled = {one.id: one for one in await _settled(board, cruxes, asking)}
    pairs = [settled.get(f"q{number}", _Settled(id="")) for number in range(1, len(cruxes) + 1)]
    common, dropped = await _common(board, cruxes, pairs, judge)
    done = [
        crux.model_copy(
            update={
                "common": both,
                "settled_by": tuple(board.way(way) for way in one.settled_by if way.text.strip()),
            }
        )
        for crux, one, both in zip(cruxes, pairs, common, strict=True)
    ]
    return Division(tuple(done), len(named), decision, board.left_out, dropped)


class _Board:
    """The claims of all sides under short ids, with who takes each how."""

    def __init__(self, sides: Sequence[Side], topic: str) -> None:
        self.sides = {side.name: side for side in sides}
        letters = dict(zip(self.sides, map(_letters, range(len(self.sides))), strict=True))
        takers: dict[str, dict[str, list[str]]] = {}
        claims: dict[str, Claim] = {}
        for side in sides:
            for claim in side.claims:
                claims[claim.id] = claim
                takers.setdefault(claim.id, {}).setdefault(side.signed[claim.id].stance, []).append(side.name)
        order = sorted(claims.values(), key=lambda claim: _contested(takers[claim.id]))
        if topic and len(order) > BLOCK * BLOCKS:
            near = [order[at] for at, _ in Lexical.of([one.text for one in order]).nearest(topic, BLOCK)]
            order = list(dict.fromkeys((*near, *order)))
        self.claims = order[: BLOCK * BLOCKS]
        self.left_out = len(order) - len(self.claims) + sum(side.left_out for side in sides)
        self.short = {f"k{number}": claim for number, claim in enumerate(self.claims, start=1)}
        self.ids = {claim.id: short for short, claim in self.short.items()}
        self._takers, self._letters = takers, letters

    @property
    def few(self) -> bool:
        """Whether the group's text is short."""
        return len(self.claims) < _FEW

    def lines(self, claims: Iterable[Claim]) -> str:
        """Return claims as a model sees them."""
        return "\n".join(
            json.dumps(
                {"id": self.ids[claim.id], "claim": claim.text}
                | {
                    stance.removesuffix("s"): self._crowd(names) for stance, names in self._takers[claim.id].items()
                },
                ensure_ascii=False,
            )
            for claim in claims
        )

    def _crowd(self, names: Sequence[str]) -> str:
        shown = " ".join(self._letters[name] for name in names[:_LETTERS])
        return shown if len(names) <= _LETTERS else f"{shown} and {len(names) - _LETTERS} more"

    def crux(self, named: _CruxNamed) -> CruxCandidate | None:
        """Return a question with everybody's answer; None where nobody gives the one, or the other."""
        claims: dict[str, Answer] = {}
        for answer, keys in zip(_BOTH, (named.yes, named.no), strict=True):
            claims |= {self.short[key].id: answer for key in keys if key in self.short}
        views = [view for side in self.sides.values() if (view := _answer(side, claims))]
        if not named.question.strip() or {"YES", "NO"} - {view.answer for view in views}:
            return None
        resting = {self.short[key].id for key in named.rests if key in self.short}
        resting |= {one for side in self.sides.values() for key in claims for one in side.book.dependants(key)}
        yes, no = (sum(view.answer == answer for view in views) for answer in ("YES", "NO"))
        return CruxCandidate(
            question=" ".join(named.question.split()),
            sides=tuple(sorted(views, key=lambda view: ("YES", "NO", "").index(view.answer))),
            confirmed=False,
            rests=len(resting - claims.keys()),
            split=2 * sqrt(yes * no) / len(self.sides),
            closeness=_CLOSE[named.decides],
        )

    def near(self, crux: CruxCandidate, answer: Answer) -> list[tuple[Side, Claim]]:
        """Return claims of those who give an answer: the ones that they answer with, then those nearest to it."""
        own = [(self.sides[view.author], view.claim) for view in crux.side(answer)]
        held = [(side, key) for side, _ in own for key in side.signed if key in self.ids]
        index = Lexical.of([side.book.by_id[key].text for side, key in held])
        nearest = [held[at] for at, _ in index.nearest(crux.question, 2 * _NEAR)]
        most = _NEAR - 1 if self.few else 2 * _NEAR
        chosen: dict[str, Side] = {}
        for side, key in (*own, *nearest):
            chosen.setdefault(key, side)
        return [(side, side.book.by_id[key]) for key, side in chosen.items()][:most]

    def view(self, short: str, authors: Iterable[str] = ()) -> SideView | None:
        """Return a claim as the first of some authors, or of all, takes it who takes it at all."""
        claim = self.short.get(short)
        takers = (self.sides[name] for name in authors or self.sides)
        side = next((side for side in takers if claim and claim.id in side.signed), None)
        return side.view(claim) if side and claim else None

    def way(self, way: _Way) -> Settling:
        """Return a way to settle a question with the sentences that name it."""
        sources = tuple(view for key in dict.fromkeys(way.claims) if (view := self.view(key)))
        return Settling(by=way.by, text=" ".join(way.text.split()), sources=sources)


def _letters(number: int) -> str:
    first, last = divmod(number, len(ascii_uppercase))
    return (_letters(first - 1) if first else "") + ascii_uppercase[last]


def _contested(takers: dict[str, list[str]]) -> tuple[int, int]:
    """Return the place of a claim: those that some hold and some deny first, then those of most authors."""
    holds, denies = len(takers.get("holds", ())), len(takers.get("denies", ()))
    return -min(holds, denies), -(holds + denies)


def _answer(side: Side, claims: dict[str, Answer]) -> SideView | None:
    """Return how an author answers, by the newest of the claims that answer; None where no claim of theirs does."""
    turned: dict[Answer, Answer] = {"YES": "NO", "NO": "YES"}
    views: list[SideView] = []
    for key, answer in claims.items():
        stance = side.signed[key].stance if key in side.signed else ""
        if stance in ("holds", "denies"):
            views.append(side.view(side.book.by_id[key], answer if stance == "holds" else turned[answer]))
    newest = max((_last(view) for view in views), default="")
    latest = [view for view in views if _last(view) == newest]
    if len({view.answer for view in latest}) > 1:
        return latest[0].model_copy(update={"answer": ""})
    return max(latest, key=lambda view: len(view.places), default=None)


def _last(view: SideView) -> str:
    return max((place.date for place in view.places), default="")


async def _named(board: _Board, topic: str, asking: Asking) -> tuple[str, list[_CruxNamed]]:
    """Return what is to be decided and the questions that models name, block by block, then of all."""
    blocks = _blocks(board.claims)
    answers = await gather(
        _asked(board, block, topic, asking, number) for number, block in enumerate(blocks, start=1)
    )
    if len(blocks) > 1:
        named = [
            key for answer in answers if answer for one in answer.cruxes for key in (*one.yes, *one.no, *one.rests)
        ]
        across = [board.short[key] for key in dict.fromkeys(named) if key in board.short][:BLOCK]
        answers.insert(0, await _asked(board, across, topic, asking, 0))
    decision = next((answer.decision for answer in answers if answer and answer.decision.strip()), "")
    cruxes: list[_CruxNamed] = []
    for one in (crux for answer in answers if answer for crux in answer.cruxes):
        if not any(_alike(one, other) for other in cruxes):
            cruxes.append(one)
    return " ".join(decision.split()), cruxes


def _alike(one: _CruxNamed, other: _CruxNamed) -> bool:
    """Tell whether two questions are one: in the same words, or between the same claims."""
    ends = {*one.yes, *one.no} & {*other.yes, *other.no}
    return folded(one.question).casefold() == folded(other.question).casefold() or len(ends) > 1


def _blocks(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Return claims in as few blocks as hold them, those near in words in the same one."""
    count = -(-len(claims) // BLOCK)
    if count < 2:
        return [list(claims)]
    index, left, blocks = (
        Lexical.of([claim.text for claim in claims]),
        dict.fromkeys(range(len(claims))),
        list[list[Claim]](),
    )
    size = -(-len(claims) // count)
    while left:
        block = dict.fromkeys([next(iter(left))])
        for at in block.copy():
            for near, _ in index.nearest(claims[at].text, len(claims)):
                if near in left and len(block) < size:
                    block[near] = None
        block |= dict.fromkeys([at for at in left if at not in block][: size - len(block)])
        blocks.append([claims[at] for at in block])
        left = {at: None for at in left if at not in block}
    return blocks


async def _asked(board: _Board, claims: Sequence[Claim], topic: str, asking: Asking, number: int) -> _Cruxes | None:
    label = CallLabel("crux", "cruxes", "", number)
    fence = Fence(asking.seed, label)
    text = load_prompt("crux", "cruxes").render(
        topic=fence("TOPIC", topic or "as the claims show it"),
        claims=fence("CLAIMS", board.lines(claims)),
        most=str(min(MOST_CRUXES + 2, max(4, len(claims) // 5))),
        language=asking.language,
    )
    answer = await tried(ask(asking.generate, request(asking.models, "comparison", label, text), _Cruxes))
    return answer.value if answer else None


def _ranked(cruxes: Sequence[CruxCandidate], authors: int) -> list[CruxCandidate]:
    """Return cruxes with their rank: the mean of split and dependants, each of the most there is, and closeness."""
    split = max((one.split for one in cruxes), default=0) or 1
    rests = max((one.rests for one in cruxes), default=0) or 1
    ranked = [
        one.model_copy(update={"rank": round((one.split / split + one.rests / rests + one.closeness) / 3, 3)})
        for one in cruxes
    ]
    return sorted(ranked, key=lambda one: -one.rank)


async def _confirmed(board: _Board, cruxes: Sequence[CruxCandidate], judge: Judge) -> list[CruxCandidate]:
    """Return cruxes with the answers that the judge reads in sentences; those that are not confirmed last."""
    most = 1 if board.few else 2
    shown = {
        (number, view.author)
        for number, crux in enumerate(cruxes)
        for answer in ("YES", "NO")
        for view in sorted(crux.side(answer), key=lambda view: -len(view.places))[:most]
    }
    asked = {
        (number, view.author): Pair(view.said, f"The answer to this question is YES: {crux.question}")
        for number, crux in enumerate(cruxes)
        for view in crux.sides
        if (number, view.author) in shown
    }
    verdicts = dict(zip(asked, await judge.relate(list(asked.values()), "cruxes"), strict=True))
    judged: list[CruxCandidate] = []
    for number, crux in enumerate(cruxes):
        own = [(view, verdicts.get((number, view.author))) for view in crux.sides]
        sides = tuple(view.model_copy(update={"read": bool(v and _reads(view.answer, v))}) for view, v in own)
        read = {view.answer for view in sides if view.read}
        why = next((v.why for _, v in own if v and v.why), "")
        judged.append(crux.model_copy(update={"sides": sides, "confirmed": read == {"YES", "NO"}, "why": why}))
    return sorted(judged, key=lambda crux: not crux.confirmed)


def _reads(answer: Answer, verdict: Verdict) -> bool:
    return verdict.kind in BEARING if answer == "YES" else verdict.kind in ("contradicts", "undermines")


async def _settled(board: _Board, cruxes: Sequence[CruxCandidate], asking: Asking) -> list[_Settled]:
    """Return what models say of each crux: what is common to its sides, and what would settle it."""
    if not cruxes:
        return []
    label = CallLabel("crux", "settling", "")
    lines = [
        json.dumps(
            {"id": f"q{number}", "question": crux.question}
            | {
                answer.lower(): [
                    {"id": board.ids[claim.id], "claim": side.signed[claim.id].words()}
                    for side, claim in board.near(crux, answer)
                ]
                for answer in _BOTH
            },
            ensure_ascii=False,
        )
        for number, crux in enumerate(cruxes, start=1)
    ]
    text = load_prompt("crux", "settling").render(
        cruxes=Fence(asking.seed, label)("QUESTIONS", "\n".join(lines)), language=asking.language
    )
    answer = await tried(ask(asking.generate, request(asking.models, "comparison", label, text), _Settlings))
    return answer.value.cruxes if answer else []


async def _common(
    board: _Board, cruxes: Sequence[CruxCandidate], settled: Sequence[_Settled], judge: Judge
) -> tuple[list[tuple[Common, ...]], int]:
    """Return of each crux what its sides have in common, and how much fell: a claim of each side has to bear it."""
    offered: list[tuple[int, Common]] = []
    fallen = 0
    for number, (crux, one) in enumerate(zip(cruxes, settled, strict=True)):
        named = [("ground", both) for both in one.ground] + [("proposal", both) for both in one.proposals]
        for kind, both in named:
            views = [
                board.view(short, [view.author for view in crux.side(answer)])
                for short, answer in zip((both.yes, both.no), _BOTH, strict=True)
            ]
            sides = tuple(view for view in views if view)
            fallen += len(sides) < len(views)
            if len(sides) == len(views):
                common = {"kind": kind, "text": " ".join(both.text.split()), "sides": sides}
                offered.append((number, Common.model_validate(common)))
    pairs = [Pair(view.said, common.text) for _, common in offered for view in common.sides]
    verdicts = await judge.relate(pairs, "common")
    borne = [all(v.kind in BEARING for v in both) for both in zip(verdicts[::2], verdicts[1::2], strict=True)]
    kept: list[list[Common]] = [[] for _ in cruxes]
    for (number, common), stands in zip(offered, borne, strict=True):
        if stands:
            kept[number].append(common)
    return [tuple(one) for one in kept], fallen + borne.count(False)
