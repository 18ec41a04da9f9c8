"""The claim book: claims, who holds or denies them in which sentence, and how they hang together (CX16)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal, TypeAlias

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from crux.results import CamelModel, Place

ClaimKind: TypeAlias = Literal["fact", "inference", "value", "assumption", "proposal"]
Stance: TypeAlias = Literal["holds", "denies", "reports", "grants"]
"""An author's own claim; its denial; another's view that is only told; something allowed to the other side."""
Link: TypeAlias = Literal["supports", "undermines", "same", "contradicts", "narrower"]

LEAST_READ, LEAST_HELD, LEAST_IN_THEMES, THEME = 0.95, 20, 0.7, 5


class Claim(CamelModel):
    """A positive sentence that can be held or denied; ``aliases`` are wordings that were found to say the same."""

    id: str
    text: str
    kind: ClaimKind
    aliases: tuple[str, ...] = ()


class Mention(CamelModel):
    """A sentence in which an author takes a stance to a claim, verbatim."""

    claim: str
    author: str
    stance: Stance
    place: Place


class Relation(CamelModel):
    """``from_`` bears on ``to``; said by the author, or found by the judge. On the wire: ``from`` and ``to``."""

    model_config = ConfigDict(alias_generator=lambda name: to_camel(name.rstrip("_")))

    from_: str
    to: str
    kind: Link
    author: str
    origin: Literal["stated", "judged"]
    places: tuple[Place, ...] = ()


class Author(CamelModel):
    """How far an author was read: ids of passages, with the reason where one holds no claim or got no answer."""

    name: str
    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unquoted: int = 0


class ClaimBook(CamelModel):
    """Everything that was read, of one author or of several."""

    claims: tuple[Claim, ...] = ()
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    authors: tuple[Author, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Claim]:
        """Claims by id."""
        return {claim.id: claim for claim in self.claims}

    @cached_property
    def by_claim(self) -> dict[str, tuple[Mention, ...]]:
        """Mentions by claim, in the order of reading."""
        by_claim: dict[str, list[Mention]] = {claim.id: [] for claim in self.claims}
        for mention in self.mentions:
            by_claim.setdefault(mention.claim, []).append(mention)
        return {claim: tuple(mentions) for claim, mentions in by_claim.items()}

    def of(self, author: str, *stances: Stance) -> list[Claim]:
        """Return the claims to which an author takes one of these stances, those mentioned most first."""
        counts: dict[str, int] = {}
        for mention in self.mentions:
            if mention.author == author and (not stances or mention.stance in stances):
                counts[mention.claim] = counts.get(mention.claim, 0) + 1
        return [self.by_id[key] for key in sorted(counts, key=lambda key: -counts[key])]

    def places(self, claim: str, author: str = "", *stances: Stance) -> list[Place]:
        """Return where a claim is mentioned, oldest first."""
        mentions = [
            mention.place
            for mention in self.by_claim.get(claim, ())
            if author in ("", mention.author) and (not stances or mention.stance in stances)
        ]
        return sorted(dict.fromkeys(mentions), key=lambda place: (place.date or "9999", place.item, place.start))

    def dependants(self, claim: str) -> list[str]:
        """Return what rests on a claim: all that is reached along supporting relations, nearest first."""
        return reached(claim, self._resting)

    @cached_property
    def _resting(self) -> list[tuple[str, str]]:
        return [(one.from_, one.to) for one in self.relations if one.kind in ("supports", "narrower")]


def reached(start: str, edges: Iterable[tuple[str, str]]) -> list[str]:
    """Return what can be reached along edges (from, to), nearest first, without the start."""
    onward: dict[str, list[str]] = {}
    for source, target in edges:
        onward.setdefault(source, []).append(target)
    reached: dict[str, None] = {start: None}
    waiting = [start]
    for at in waiting:
        fresh = [one for one in dict.fromkeys(onward.get(at, ())) if one not in reached]
        reached.update(dict.fromkeys(fresh))
        waiting += fresh
    return waiting[1:]


class Standing(CamelModel):
    """Whether a book is enough to stand on.

    Args:
        read: share of the author's passages that were read, 0 to 1.
        held: claims that the author holds or denies.
        in_themes: share of these in pieces of :data:`THEME` claims or more that hang together, 0 to 1.
        reasons: one line for each figure that is too low; such a book is kept, and marked thin.
    """

    read: float
    held: int
    in_themes: float
    reasons: tuple[str, ...] = ()

    @property
    def thin(self) -> bool:
        """Whether anything is too low."""
        return bool(self.reasons)


def standing(book: ClaimBook, author: str, passages: int) -> Standing:
    """Return the figures of one author's part of a book.

    Args:
        passages: how many the author's texts have.
    """
    entry = next((one for one in book.authors if one.name == author), Author(name=author))
    held = {claim.id for claim in book.of(author, "holds", "denies")}
    themes = [piece for piece in pieces(book, held) if len(piece) >= THEME]
    read = len(entry.read) / passages if passages else 0.0
    in_themes = sum(map(len, themes)) / len(held) if held else 0.0
    reasons: list[str] = []
    if read < LEAST_READ:
        reasons.append(f"{read:.0%} of the passages are read, {LEAST_READ:.0%} are needed")
    if len(held) < LEAST_HELD:
        reasons.append(f"{len(held)} claims are held, at least {LEAST_HELD} are needed (add texts)")
    if in_themes < LEAST_IN_THEMES:
        reasons.append(f"{in_themes:.0%} of the claims hang together in themes, {LEAST_IN_THEMES:.0%} are needed")
    return Standing(read=read, held=len(held), in_themes=in_themes, reasons=tuple(reasons))


def pieces(book: ClaimBook, among: set[str]) -> list[set[str]]:
    """Return which of some claims hang together by relations of any kind, the largest piece first."""
    home = {claim: {claim} for claim in sorted(among)}
    for relation in book.relations:
        left, right = home.get(relation.from_), home.get(relation.to)
        if left is None or right is None or left is right:
            continue
        left |= right
        for claim in right:
            home[claim] = left
    distinct = {id(piece): piece for piece in home.values()}
    return sorted(distinct.values(), key=len, reverse=True)
