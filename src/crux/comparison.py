"""What a comparison of two authors' texts comes to, as data."""

from __future__ import annotations

from crux.book import ClaimBook, Standing
from crux.claims.audit import Audit
from crux.claims.judge import Judgement
from crux.results import CamelModel, Place


class SideView(CamelModel):
    """A claim as one author takes it: ``holds``, ``denies``, ``grants`` or ``mixed``; ``places`` are oldest first.

    ``history`` says how it was before, and is empty where nothing changed.
    """

    claim: str
    text: str
    stance: str
    places: tuple[Place, ...]
    dependants: int = 0
    history: str = ""


class Match(CamelModel):
    """Two claims side by side.

    Args:
        why: the judge's words.
        question: of an opposition: answered YES by the first author and NO by the second.
    """

    first: SideView
    second: SideView
    why: str = ""
    question: str = ""


class CruxCandidate(CamelModel):
    """A question on which the two may turn, found in the texts alone.

    Args:
        confirmed: the judge reads a YES in the first author's sentences and a NO in the second's.
        rests: how many claims of both rest on their answers.
    """

    question: str
    first: SideView
    second: SideView
    confirmed: bool
    rests: int
    why: str = ""


class Read(CamelModel):
    """How far one author was read. ``unread`` is a line for each passage that got no usable answer."""

    name: str
    texts: int
    passages: int
    standing: Standing
    claims: int
    unread: tuple[str, ...] = ()
    left_out: int = 0
    audit: Audit | None = None


class Comparison(CamelModel):
    """What came of it.

    Args:
        warnings: lines a reader needs: texts in common, nothing in common.
        judged: every pair that was judged, so that a later comparison need not ask again.
    """

    topic: str
    authors: tuple[Read, Read]
    shared: tuple[Match, ...] = ()
    opposed: tuple[Match, ...] = ()
    first_alone: tuple[SideView, ...] = ()
    second_alone: tuple[SideView, ...] = ()
    candidates: tuple[CruxCandidate, ...] = ()
    proposed: int = 0
    warnings: tuple[str, ...] = ()
    books: tuple[ClaimBook, ClaimBook] = (ClaimBook(), ClaimBook())
    judged: tuple[Judgement, ...] = ()
