"""What moved between two comparisons of the same authors: which cruxes are new, gone, or moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from crux.book import Change
from crux.book import moved as turns
from crux.comparison import Comparison, CruxCandidate, Match, SideView
from crux.results import CamelModel, Place
from crux.sides import Side

Turns: TypeAlias = Mapping[tuple[str, str], Change]
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
    left = list(before.opposed)
    kept = [name for name in after.names if name in before.names]
    turned: Turns = {
        (name, one.claim.id): one for name in kept for one in turns(before.book_of(name), after.book_of(name), name)
    }
    moved: list[CruxChange] = []
    fresh: list[CruxChange] = []
    for match in after.opposed:
        old = next((one for one in left if len(_claims(one) & _claims(match)) > 1), None)
        if old is None:
            fresh.append(_change("new", match, after))
            continue
        left.remove(old)
        if what := [*_moves(old, match, before, after, turned)]:
            moved.append(_change("moved", match, after, what))
    told = {key for match in after.opposed for key in _claims(match)}
    gone = [_change("gone", match, before, [turned[key].line() for key in _turns(match, turned)]) for match in left]
    told |= {key for match in left for key in _turns(match, turned)}
    moved += [one.model_copy(update={"kind": "moved"}) for one in gone if one.what]
    for key in (key for key in turned if key not in told):
        view = Side(key[0], after.book_of(key[0])).view(turned[key].claim)
        moved.append(_change("moved", Match(sides=(view,)), after, [turned[key].line()]))
    return (*moved, *fresh, *(one for one in gone if not one.what))


def _turns(match: Match, turned: Turns) -> list[tuple[str, str]]:
    return [key for key in turned if key in _claims(match)]


def _claims(match: Match | CruxCandidate) -> set[tuple[str, str]]:
    return {(side.author, side.claim) for side in match.sides}


def _moves(old: Match, new: Match, before: Comparison, after: Comparison, turned: Turns) -> Iterator[str]:
    earlier = {side.author: side for side in old.sides}
    for side in new.sides:
        was = earlier.pop(side.author, None)
        if was is None:
            yield f"{side.author} takes a side now"
            continue
        if turn := turned.get((side.author, side.claim)):
            yield turn.line()
        known = {(place.item, place.quote) for place in _places(before, was)}
        fresh = [place for place in _places(after, side) if (place.item, place.quote) not in known]
        if fresh:
            yield f"{side.author} wrote on it again{f', {fresh[0].date}' if fresh[0].date else ''}"
    yield from (f"{name} takes no side any more" for name in earlier)
    was_one, is_one = (
        next((one for one in found.candidates if _claims(one) == _claims(match)), None)
        for found, match in ((before, old), (after, new))
    )
    if (was_one is None) != (is_one is None):
        yield "it is among the candidate cruxes now" if is_one else "it is no candidate crux any more"
    elif was_one and is_one and was_one.confirmed != is_one.confirmed:
        yield "their sentences confirm it now" if is_one.confirmed else "their sentences confirm it no more"


def _places(comparison: Comparison, side: SideView) -> list[Place]:
    """Return the sentences of a side, newest first; in the book there are more than a comparison shows."""
    places = [
        mention.place
        for mention in comparison.book_of(side.author).by_claim.get(side.claim, ())
        if mention.author == side.author and mention.stance == side.stance
    ]
    return sorted(places or side.places, key=lambda place: place.date, reverse=True)


def _change(kind: Kind, match: Match, comparison: Comparison, what: list[str] | None = None) -> CruxChange:
    sides = tuple(side.model_copy(update={"places": tuple(_places(comparison, side)[:2])}) for side in match.sides)
    question = match.question or " / ".join(side.text for side in match.sides)
    return CruxChange(kind=kind, question=question, sides=sides, what=tuple(what or ()))
