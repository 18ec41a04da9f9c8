"""What moved between two comparisons of the same two authors: which cruxes are new, gone, or moved."""

from __future__ import annotations

from typing import Literal

from crux.comparison import Comparison, Match, SideView
from crux.results import CamelModel, Place


class CruxChange(CamelModel):
    """One opposition of two authors, and what became of it.

    Args:
        what: how it moved, a line each; empty where it is new or gone.
        first: as the first author takes it, with the newest sentences first; of a crux that is gone, as it was.
    """

    kind: Literal["new", "moved", "gone"]
    question: str
    first: SideView
    second: SideView
    what: tuple[str, ...] = ()


def crux_changes(before: Comparison, after: Comparison) -> tuple[CruxChange, ...]:
    """Return what became of every opposition, those that moved first; an opposition is known by its two claims."""
    earlier, later = _by_claims(before), _by_claims(after)
    moved: list[CruxChange] = []
    fresh: list[CruxChange] = []
    for key, match in later.items():
        old = earlier.get(key)
        if old is None:
            fresh.append(_change("new", match, after))
        elif what := _moves(old, match, before, after):
            moved.append(_change("moved", match, after, what))
    gone = [_change("gone", match, before) for key, match in earlier.items() if key not in later]
    return (*moved, *fresh, *gone)


def _by_claims(comparison: Comparison) -> dict[tuple[str, str], Match]:
    return {(match.first.claim, match.second.claim): match for match in comparison.opposed}


def _moves(old: Match, new: Match, before: Comparison, after: Comparison) -> list[str]:
    lines: list[str] = []
    for number, (was, side) in enumerate(((old.first, new.first), (old.second, new.second))):
        name = after.authors[number].name
        if was.stance != side.stance:
            lines.append(f"{name} {side.stance} it now; before: {was.stance}")
        known = {(place.item, place.quote) for place in _places(before, number, was)}
        fresh = [place for place in _places(after, number, side) if (place.item, place.quote) not in known]
        if fresh:
            lines.append(f"{name} wrote on it again{f', {fresh[0].date}' if fresh[0].date else ''}")
    ranks = [{(one.first.claim, one.second.claim): one for one in each.candidates} for each in (before, after)]
    was_one, is_one = (rank.get((new.first.claim, new.second.claim)) for rank in ranks)
    if (was_one is None) != (is_one is None):
        lines.append("it is among the candidate cruxes now" if is_one else "it is no candidate crux any more")
    elif was_one and is_one and was_one.confirmed != is_one.confirmed:
        lines.append("their sentences confirm it now" if is_one.confirmed else "their sentences confirm it no more")
    return lines


def _places(comparison: Comparison, number: int, side: SideView) -> list[Place]:
    """Return the sentences of a side, newest first; in the book there are more than a comparison shows."""
    name = comparison.authors[number].name
    places = [
        mention.place
        for mention in comparison.books[number].by_claim.get(side.claim, ())
        if mention.author == name and mention.stance == side.stance
    ]
    return sorted(places or side.places, key=lambda place: place.date, reverse=True)


def _change(
    kind: Literal["new", "moved", "gone"], match: Match, comparison: Comparison, what: list[str] | None = None
) -> CruxChange:
    first, second = (
        side.model_copy(update={"places": tuple(_places(comparison, number, side)[:2])})
        for number, side in enumerate((match.first, match.second))
    )
    question = match.question or f"{first.text} / {second.text}"
    return CruxChange(kind=kind, question=question, first=first, second=second, what=tuple(what or ()))
