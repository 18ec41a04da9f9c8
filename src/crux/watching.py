"""What moved between two comparisons of the same authors: which cruxes are new, gone, or moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from crux.book import StanceChange
from crux.book import moved as turns
from crux.comparison import Comparison, CruxCandidate, Match, SideView
from crux.results import CamelModel, Place
from crux.sides import AuthorSide

Turns: TypeAlias = Mapping[tuple[str, str], StanceChange]
"""Who answers a claim otherwise than before, by author and claim."""
Kind: TypeAlias = Literal["new", "moved", "gone"]


class CruxChange(CamelModel):
    """One opposition of authors, and what became of it.

    Args:
        what: how it moved, a line each; empty where it is new or gone.
        sides: as each author takes it, with the newest sentences first; of one that is no more, as it was.
    """

    kind: Kind
    question: str
    sides: tuple[SideView, ...]
    what: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What it is known by: the claims of its sides."""
        return ":".join(side.claim for side in self.sides)


def crux_changes(before: Comparison, after: Comparison) -> tuple[CruxChange, ...]:
    """Return what became of every opposition, those that moved first.

    An opposition is known by its claims: it is the earlier one that has claims of two of its authors. Where an
    author answers a claim otherwise than before, that is told too, whether another still opposes it or not.
    """
    turned, (still, left) = _turned(before, after), _followed(before, after)
    changes = [_change("moved", now, after, _moves(was, now, before, after, turned)) for was, now in still if was]
    changes += [_change("new", now, after) for was, now in still if was is None]
    changes += [_ended(match, before, turned) for match in left]
    changes += _alone(turned, after, left)
    kept = (one for one in changes if one.what or one.kind != "moved")
    return tuple(sorted(kept, key=lambda one: ("moved", "new", "gone").index(one.kind)))


def _followed(before: Comparison, after: Comparison) -> tuple[list[tuple[Match | None, Match]], list[Match]]:
    """Return each opposition with the earlier one that it is, and the earlier ones that are no more."""
    left, still = list(before.opposed), list[tuple[Match | None, Match]]()
    for match in after.opposed:
        old = next((one for one in left if len(_claims(one) & _claims(match)) > 1), None)
        if old:
            left.remove(old)
        still.append((old, match))
    return still, left


def _turned(before: Comparison, after: Comparison) -> Turns:
    names = [name for name in after.names if name in before.names]
    changes = [change for name in names for change in turns(before.book_of(name), after.book_of(name), name)]
    return {(change.author, change.claim.id): change for change in changes}


def _lines(match: Match, turned: Turns) -> list[str]:
    return [change.line() for key, change in turned.items() if key in _claims(match)]


def _alone(turned: Turns, after: Comparison, left: Sequence[Match]) -> list[CruxChange]:
    """Return the turns on claims that nobody opposes, nor did."""
    told = {key for match in (*after.opposed, *left) for key in _claims(match)}
    changes: list[CruxChange] = []
    for (author, claim), turn in turned.items():
        if (author, claim) not in told:
            side = AuthorSide(author, after.book_of(author))
            match = Match(sides=(side.view(side.signed[claim].claim),))
            changes.append(_change("moved", match, after, [turn.line()]))
    return changes


def _claims(match: Match | CruxCandidate) -> set[tuple[str, str]]:
    return {(side.author, side.claim) for side in match.sides}


def _moves(old: Match, new: Match, before: Comparison, after: Comparison, turned: Turns) -> list[str]:
    earlier = {side.author: side for side in old.sides}
    lines = _lines(new, turned)
    for side in new.sides:
        if was := earlier.pop(side.author, None):
            lines += _wrote(was, side, before, after)
        else:
            lines.append(f"{side.author} takes a side now")
    lines += [f"{name} takes no side any more" for name in earlier]
    return [*lines, *_rank_moves(_candidate(before, old), _candidate(after, new))]


def _rank_moves(was_one: CruxCandidate | None, is_one: CruxCandidate | None) -> list[str]:
    if (was_one is None) != (is_one is None):
        return ["it is among the candidate cruxes now" if is_one else "it is no candidate crux any more"]
    if was_one and is_one and was_one.confirmed != is_one.confirmed:
        return ["their sentences confirm it now" if is_one.confirmed else "their sentences confirm it no more"]
    return []


def _candidate(comparison: Comparison, match: Match) -> CruxCandidate | None:
    return next((one for one in comparison.candidates if _claims(one) == _claims(match)), None)


def _wrote(was: SideView, side: SideView, before: Comparison, after: Comparison) -> list[str]:
    known = {(place.item, place.quote) for place in _places(before, was)}
    fresh = [place for place in _places(after, side) if (place.item, place.quote) not in known]
    dated = f", {fresh[0].date}" if fresh and fresh[0].date else ""
    return [f"{side.author} wrote on it again{dated}"] if fresh else []


def _places(comparison: Comparison, side: SideView) -> list[Place]:
    """Return the sentences of a side, newest first; in the book there are more than a comparison shows."""
    mentions = comparison.book_of(side.author).by_claim.get(side.claim, ())
    places = [one.place for one in mentions if (one.author, one.stance) == (side.author, side.stance)]
    return sorted(places or side.places, key=lambda place: place.date, reverse=True)


def _ended(match: Match, before: Comparison, turned: Turns) -> CruxChange:
    """Return what became of an opposition that is no more: gone, or an author of it answers otherwise now."""
    what = _lines(match, turned)
    return _change("moved" if what else "gone", match, before, what)


def _change(kind: Kind, match: Match, comparison: Comparison, what: Sequence[str] = ()) -> CruxChange:
    sides = tuple(side.model_copy(update={"places": tuple(_places(comparison, side)[:2])}) for side in match.sides)
    question = match.question or " / ".join(side.text for side in match.sides)
    return CruxChange(kind=kind, question=question, sides=sides, what=tuple(what))
