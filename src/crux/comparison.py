"""What setting several authors' claims side by side comes to, as data."""

from __future__ import annotations

import operator
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

from pydantic import Field, model_validator

from crux.behaviour import BEHAVIOUR
from crux.book import ClaimBook, Standing, worded
from crux.claims.audit import Audit
from crux.claims.judge import Judgement
from crux.claims.known import JudgeTrial
from crux.results import CamelModel, Place
from llm_runtime.rewording import instead

Answer: TypeAlias = Literal["YES", "NO", ""]
SettledBy: TypeAlias = Literal["measurement", "experiment", "definition", "who decides"]
# What a comparison of two has no use for is left out of its data, which so stays as older releases wrote it.
_UNSET: Any = {"exclude_if": operator.not_}


class SideView(CamelModel):
    """A claim as one author takes it: ``holds``, ``denies``, ``grants`` or ``mixed``; ``places`` are oldest first.

    Args:
        history: how it was before; empty where nothing changed.
        answer: of a side of a crux: what the claim answers to its question; empty where both, or neither.
        read: whether the judge reads that answer in the author's own sentences.
    """

    claim: str
    text: str
    stance: str
    places: tuple[Place, ...]
    dependants: int = 0
    history: str = Field(default="", **_UNSET)
    author: str = Field(default="", **_UNSET)
    answer: Answer = Field(default="", **_UNSET)
    read: bool = Field(default=False, **_UNSET)

    @property
    def words(self) -> str:
        """The claim as its author takes it."""
        return worded(self.text, self.stance)

    @property
    def said(self) -> str:
        """The author's sentences on the claim, or the claim where none is left."""
        return " […] ".join(place.shown for place in self.places) or self.text


class Match(CamelModel):
    """Claims of different authors side by side, in the order of the authors.

    Args:
        why: the judge's words.
        question: of an opposition of two: answered YES by the first author and NO by the second.
    """

    sides: tuple[SideView, ...]
    why: str = ""
    question: str = ""


class Settling(CamelModel):
    """What would settle a crux; ``sources`` are sentences that name it, none where nobody said so."""

    by: SettledBy
    text: str
    sources: tuple[SideView, ...] = ()


class Common(CamelModel):
    """What both sides of a crux can say: a ground that they share, or a proposal that bridges them.

    Args:
        sides: the claim of each side that bears it out, as the judge reads them.
    """

    kind: Literal["ground", "proposal"]
    text: str
    sides: tuple[SideView, ...]


class CruxCandidate(CamelModel):
    """A question on which authors may turn, found in the texts alone.

    Args:
        sides: who answers it how; of two authors the first says YES, the second NO.
        confirmed: the judge reads a YES in sentences of one side and a NO in those of the other.
        rests: how many claims of all rest on their answers.
        split: how evenly and how widely it divides the authors, 0 to 1.
        closeness: how far its answer decides what the authors are to decide, 0 to 1.
        rank: what it is ordered by, 0 to 1.
    """

    question: str
    sides: tuple[SideView, ...]
    confirmed: bool
    rests: int
    why: str = ""
    split: float = Field(default=0.0, **_UNSET)
    closeness: float = Field(default=0.0, **_UNSET)
    rank: float = Field(default=0.0, **_UNSET)
    settled_by: tuple[Settling, ...] = Field(default=(), **_UNSET)
    common: tuple[Common, ...] = Field(default=(), **_UNSET)

    def side(self, answer: Answer) -> list[SideView]:
        """Return those who give an answer."""
        return [view for view in self.sides if view.answer == answer]


class Read(CamelModel):
    """How far one author was read. ``unread`` is a line for each passage that got no usable answer.

    Args:
        standing: of a book of the author's own.
    """

    name: str
    texts: int
    passages: int
    claims: int
    standing: Standing | None = None
    unread: tuple[str, ...] = ()
    left_out: int = 0
    audit: Audit | None = None


class Comparison(CamelModel):
    """What came of it.

    Args:
        authors: in the order of everything that has a part for each.
        alone: of each author, claims that nobody else shares or opposes.
        warnings: lines a reader needs: texts in common, nothing in common.
        books: a book for each author, or one for all.
        judged: every pair that was judged, so that a later comparison need not ask again.
        decision: the question that a group has to decide, as its texts have it.
        dropped: grounds and proposals that one side's claims do not bear out.
        trial: how the judge did on pairs whose answers are known.
    """

    topic: str
    authors: tuple[Read, ...]
    shared: tuple[Match, ...] = ()
    opposed: tuple[Match, ...] = ()
    alone: tuple[tuple[SideView, ...], ...] = ()
    candidates: tuple[CruxCandidate, ...] = ()
    proposed: int = 0
    warnings: tuple[str, ...] = ()
    books: tuple[ClaimBook, ...] = ()
    judged: tuple[Judgement, ...] = ()
    decision: str = Field(default="", **_UNSET)
    dropped: int = Field(default=0, **_UNSET)
    trial: JudgeTrial | None = None

    @model_validator(mode="before")
    @classmethod
    def _listed(cls, data: Any) -> Any:
        """Take in what comparisons of before number 6 left, which knew a first and a second author."""
        if not isinstance(data, dict) or "firstAlone" not in data:
            return cast("Any", data)
        old = dict(cast("dict[str, Any]", data))
        with instead(ValueError("a comparison of two authors that lacks one of them"), KeyError, TypeError, ValueError):
            names = [author["name"] for author in old["authors"]]
            old["alone"] = [old.pop("firstAlone"), old.pop("secondAlone")]
            for kind in ("shared", "opposed", "candidates"):
                answers = ("YES", "NO") if kind == "candidates" else ("", "")
                old[kind] = [_of_two(one, names, answers) for one in old[kind]]
        return old

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The authors' names."""
        return tuple(author.name for author in self.authors)

    def book_of(self, author: str) -> ClaimBook:
        """Return the book that has an author's claims."""
        return self.books[self.names.index(author) if len(self.books) > 1 else 0]


def _of_two(match: dict[str, Any], names: list[str], answers: tuple[str, str]) -> dict[str, Any]:
    match = dict(match)
    sides = zip((match.pop("first"), match.pop("second")), names, answers, strict=True)
    return {**match, "sides": [{**side, "author": name, "answer": answer} for side, name, answer in sides]}


def as_pair(found: Comparison) -> dict[str, Any]:
    """Return the data of a comparison of two as it was before number 6."""
    data = found.model_dump(mode="json")
    data["firstAlone"], data["secondAlone"] = data.pop("alone")
    matches: list[dict[str, Any]] = [*data["shared"], *data["opposed"], *data["candidates"]]
    for match in matches:
        match["first"], match["second"] = match.pop("sides")
    views = [match[side] for match in matches for side in ("first", "second")]
    for view in (*views, *data["firstAlone"], *data["secondAlone"]):
        history = {} if BEHAVIOUR.before(5) else {"history": view.get("history", "")}
        for name in ("author", "answer", "history"):
            view.pop(name, None)
        view.update(history)
    return data
