"""From the claims of a group to the few questions that divide it, what is common, and what would settle them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import sqrt
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from crux.board import BLOCK, Board
from crux.book import Claim
from crux.claims.judge import BEARING, Judge, Pair, Verdict, speaks_for
from crux.comparison import Answer, Common, Comparison, CruxCandidate, Match, Read, SettledBy, Settling, SideView
from crux.quotes import folded
from crux.requests import Questioner, entry_line
from crux.sides import AuthorSide
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import load_prompt
from llm_runtime.structs import Struct
from llm_runtime.tasks import gather

Decides: TypeAlias = Literal["settles", "weighs", "touches"]
_CLOSE: dict[Decides, float] = {"settles": 1.0, "weighs": 0.5, "touches": 0.0}
_BOTH: tuple[Answer, Answer] = ("YES", "NO")
MOST_CRUXES = 7
#: Claims of a side that are shown where it is asked what would settle a crux: of a short text, and of another.
_NEAR = (4, 8)
#: Claims nearest to a question, of anybody, among which one may say what would settle it.
_OTHERS = 6


class _CruxNamed(BaseModel):
    """A question that divides the group."""

    question: str = Field(min_length=1, max_length=600)
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

    id: str = Field(default="", max_length=20)
    ground: list[_Both] = Field(default_factory=list[_Both], max_length=4)
    proposals: list[_Both] = Field(default_factory=list[_Both], max_length=6)
    settled_by: list[_Way] = Field(default_factory=list[_Way], max_length=6)


class _Settlings(BaseModel):
    """The answer for all questions."""

    cruxes: list[_Settled] = Field(max_length=40)


class Division(Struct):
    """What divides a group.

    Args:
        candidates: the cruxes, ranked, at most :data:`MOST_CRUXES`.
        proposed: how many were named.
        opposed, shared: claims side by side.
        decision: what the group has to decide; empty where no answer named it.
        left_out: claims that no call was shown.
        dropped: grounds and proposals that one side does not bear out.
    """

    candidates: tuple[CruxCandidate, ...]
    proposed: int
    opposed: tuple[Match, ...]
    shared: tuple[Match, ...]
    decision: str = ""
    left_out: int = 0
    dropped: int = 0

    def told(
        self, topic: str, authors: Iterable[Read], sides: Sequence[AuthorSide], judge: Judge, warnings: Iterable[str]
    ) -> Comparison:
        """Return it as data, with the authors' books and all that was judged."""
        found = ("shared", "opposed", "candidates", "proposed", "decision", "dropped")
        return Comparison(
            **{name: getattr(self, name) for name in found},
            topic=topic,
            authors=tuple(authors),
            alone=tuple(side.alone((*self.shared, *self.opposed)) for side in sides),
            warnings=tuple(warnings),
            books=tuple({id(side.book): side.book for side in sides}.values()),
            judged=judge.judged,
            trial=judge.trial if judge.trial.asked else None,
        )


async def divided(sides: Sequence[AuthorSide], topic: str, judge: Judge) -> Division:
    """Name, judge and rank the questions on which authors divide, at most eight calls.

    Args:
        sides: of every author.
        topic: what they are to decide; empty where the texts say so.
        judge: reads answers in sentences, and whether a side's claims bear a sentence.

    Raises:
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet.
    """
    board = Board(sides, topic)
    decision, named = await _named(board, topic, judge.asking)
    ranked = _ranked([*filter(None, (_crux(board, one) for one in named))])
    cruxes = (await _confirmed(board, ranked[: MOST_CRUXES + 1], judge))[:MOST_CRUXES]
    settled = await _settled(board, cruxes, judge.asking)
    offered = [_offered(board, crux, one) for crux, one in zip(cruxes, settled, strict=True)]
    borne = await _borne([both for own in offered for both in own], judge)
    done = [_with(crux, own, borne, _ways(board, one)) for crux, own, one in zip(cruxes, offered, settled, strict=True)]
    many = sum(len(one.ground) + len(one.proposals) for one in settled)
    opposed = (Match(sides=one.sides, why=one.why, question=one.question) for one in done)
    shared = (Match(sides=both.sides, why=both.text) for both in borne if both.kind == "ground")
    found = (tuple(done), len(named), tuple(opposed), tuple(shared))
    return Division(*found, decision, board.left_out, many - len(borne))


def _with(
    crux: CruxCandidate, offered: Sequence[Common], borne: Sequence[Common], ways: tuple[Settling, ...]
) -> CruxCandidate:
    return crux.model_copy(update={"common": tuple(both for both in offered if both in borne), "settled_by": ways})


async def _named(board: Board, topic: str, asking: Questioner) -> tuple[str, list[_CruxNamed]]:
    """Return what is to be decided and the questions that models name: block by block, then across blocks."""
    blocks = enumerate(board.blocks(), start=1)
    told = await gather(_asked(board, block, topic, asking, number) for number, block in blocks)
    named = [crux for answer in told for crux in answer.cruxes]
    if len(told) > 1:
        ends = board.meant(chain.from_iterable((*one.yes, *one.no, *one.rests) for one in named))
        told.insert(0, await _asked(board, ends[:BLOCK], topic, asking, 0))
        named = [*told[0].cruxes, *named]
    return next((answer.decision for answer in told if answer.decision), ""), _distinct(named)


def _distinct(named: Sequence[_CruxNamed]) -> list[_CruxNamed]:
    cruxes: list[_CruxNamed] = []
    for one in named:
        if not any(_alike(one, other) for other in cruxes):
            cruxes.append(one)
    return cruxes


def _alike(one: _CruxNamed, other: _CruxNamed) -> bool:
    """Tell whether two questions are one: in the same words, or between the same claims."""
    ends = {*one.yes, *one.no} & {*other.yes, *other.no}
    return folded(one.question).casefold() == folded(other.question).casefold() or len(ends) > 1


async def _asked(board: Board, claims: Sequence[Claim], topic: str, asking: Questioner, number: int) -> _Cruxes:
    label = CallLabel("crux", "cruxes", "", number)
    fence = asking.fence(label)
    text = load_prompt("crux", "cruxes").render(
        topic=fence("TOPIC", topic or "as the claims show it"),
        claims=fence("CLAIMS", board.lines(claims)),
        most=str(min(MOST_CRUXES + 2, max(4, len(claims) // 5))),
        language=asking.language,
    )
    return await asking.tried("comparison", label, text, _Cruxes) or _Cruxes(cruxes=[])


def _crux(board: Board, named: _CruxNamed) -> CruxCandidate | None:
    """Return a question with everybody's answer; None where nobody gives the one, or the other."""
    sides = board.answers(named.yes, named.no)
    yes, no = (sum(view.answer == answer for view in sides) for answer in _BOTH)
    if not yes or not no:
        return None
    return CruxCandidate(
        question=" ".join(named.question.split()),
        sides=tuple(sides),
        confirmed=False,
        rests=board.resting(board.meant((*named.yes, *named.no)), board.meant(named.rests)),
        split=2 * sqrt(yes * no) / len(board.sides),
        closeness=_CLOSE[named.decides],
    )


def _ranked(cruxes: Sequence[CruxCandidate]) -> list[CruxCandidate]:
    """Return cruxes with their rank: the mean of split and dependants, each of the most there is, and closeness."""
    split = max((one.split for one in cruxes), default=0) or 1
    rests = max((one.rests for one in cruxes), default=0) or 1
    ranks = [(one.split / split + one.rests / rests + one.closeness) / 3 for one in cruxes]
    ranked = (one.model_copy(update={"rank": round(rank, 3)}) for one, rank in zip(cruxes, ranks, strict=True))
    return sorted(ranked, key=lambda one: -one.rank)


async def _confirmed(board: Board, cruxes: Sequence[CruxCandidate], judge: Judge) -> list[CruxCandidate]:
    """Return cruxes with the answers that the judge reads in sentences; those that are not confirmed last."""
    most = 1 if board.few else 2
    asked = [(crux, view) for crux in cruxes for answer in _BOTH for view in _loudest(crux.side(answer), most)]
    pairs = [Pair(view.said, f"The answer to this question is YES: {crux.question}") for crux, view in asked]
    verdicts = await judge.relate(pairs, "cruxes")
    heard = [(crux.question, view, v) for (crux, view), v in zip(asked, verdicts, strict=True)]
    judged = [_heard(crux, [(view, v) for question, view, v in heard if question == crux.question]) for crux in cruxes]
    return sorted(judged, key=lambda crux: not crux.confirmed)


def _loudest(views: Sequence[SideView], most: int) -> list[SideView]:
    return sorted(views, key=lambda view: -len(view.places))[:most]


def _heard(crux: CruxCandidate, verdicts: Sequence[tuple[SideView, Verdict]]) -> CruxCandidate:
    read = {view.author: view.answer for view, verdict in verdicts if speaks_for(view.answer, verdict)}
    sides = tuple(view.model_copy(update={"read": view.author in read}) for view in crux.sides)
    why = next((verdict.why for _, verdict in verdicts if verdict.why), "")
    return crux.model_copy(update={"sides": sides, "confirmed": {*read.values()} == {*_BOTH}, "why": why})


async def _settled(board: Board, cruxes: Sequence[CruxCandidate], asking: Questioner) -> list[_Settled]:
    """Return of each crux what a model says is common to its sides, and what would settle it."""
    if not cruxes:
        return []
    label = CallLabel("crux", "settling", "")
    lines = [_line(board, number, crux) for number, crux in enumerate(cruxes, start=1)]
    questions = asking.fence(label)("QUESTIONS", "\n".join(lines))
    text = load_prompt("crux", "settling").render(cruxes=questions, language=asking.language)
    answer = await asking.tried("comparison", label, text, _Settlings)
    told = {one.id: one for one in answer.cruxes} if answer else {}
    return [told.get(f"q{number}", _Settled()) for number in range(1, len(cruxes) + 1)]


def _line(board: Board, number: int, crux: CruxCandidate) -> str:
    entry: dict[str, object] = {"id": f"q{number}", "question": crux.question}
    shown: set[str] = set()
    for answer in _BOTH:
        near = board.near(crux, answer, _NEAR[not board.few])
        entry[answer.lower()] = [{"id": board.ids[view.claim], "claim": view.words} for view in near]
        shown |= {view.claim for view in near}
    others = [claim for claim in board.about(crux.question, _OTHERS) if claim.id not in shown]
    entry["others"] = [{"id": board.ids[claim.id], "claim": claim.text} for claim in others]
    return entry_line(**entry)


def _offered(board: Board, crux: CruxCandidate, told: _Settled) -> list[Common]:
    """Return what a model says that both sides bear, where it names a claim that somebody on each side has."""
    authors = [[view.author for view in crux.side(answer)] for answer in _BOTH]
    offered: list[Common] = []
    for place, both in enumerate((*told.ground, *told.proposals)):
        views = (board.view(short, own) for short, own in zip((both.yes, both.no), authors, strict=True))
        if len(sides := tuple(filter(None, views))) == len(_BOTH):
            kind = "ground" if place < len(told.ground) else "proposal"
            offered.append(Common(kind=kind, text=" ".join(both.text.split()), sides=sides))
    return offered


async def _borne(offered: Sequence[Common], judge: Judge) -> list[Common]:
    """Return what a claim of each side bears out, as the judge reads it."""
    pairs = [Pair(view.said, both.text) for both in offered for view in both.sides]
    bears = [verdict.kind in BEARING for verdict in await judge.relate(pairs, "common")]
    return [both for both, first, second in zip(offered, bears[::2], bears[1::2], strict=True) if first and second]


def _ways(board: Board, told: _Settled) -> tuple[Settling, ...]:
    """Return the ways to settle a crux, with the sentences that ask for them."""
    views = [[board.view(key, board.sides) for key in dict.fromkeys(way.claims)] for way in told.settled_by]
    return tuple(
        Settling(by=way.by, text=" ".join(way.text.split()), sources=tuple(filter(None, own)))
        for way, own in zip(told.settled_by, views, strict=True)
    )
