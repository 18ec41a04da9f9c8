"""The claim book: claims, who holds or denies them in which sentence, and how they hang together (CX16)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from crux.behaviour import BEHAVIOUR
from crux.results import CamelModel, Place
from llm_runtime.grouping import grouped

ClaimKind: TypeAlias = Literal["fact", "inference", "value", "assumption", "proposal"]
Told: TypeAlias = Literal["holds", "denies", "reports", "grants"]
"""What a first reader may say of a passage."""
Stance: TypeAlias = Literal["holds", "denies", "reports", "grants", "asks", "unsure"]
"""An author's own claim; its denial; another's view that is only told; something allowed to the other side; a
question; a place that two readers took otherwise."""
Stand: TypeAlias = Literal["holds", "denies", "grants", "mixed", "reports", "asks", "unsure"]
"""Where an author stands; ``mixed`` where texts of one date, or of none, say both."""
OWN: tuple[Stance, ...] = ("holds", "denies", "grants")
"""Stances that are the author's own answer."""
Link: TypeAlias = Literal["supports", "undermines", "same", "contradicts", "narrower"]

LEAST_READ, LEAST_HELD, LEAST_IN_THEMES, THEME = 0.95, 20, 0.7, 5


class Claim(CamelModel):
    """A positive sentence that can be held or denied; ``aliases`` are wordings that were found to say the same."""

    id: str
    text: str
    kind: ClaimKind
    aliases: tuple[str, ...] = ()


class Mention(CamelModel):
    """A sentence in which an author takes a stance to a claim, verbatim.

    Args:
        readings: what two readers said, where they differ.
    """

    claim: str
    author: str
    stance: Stance
    place: Place
    readings: tuple[Stance, Stance] | None = None


class SignedClaim(CamelModel):
    """A claim with its sign: where one author stands on it, from the first sentence to the latest.

    Args:
        series: every mention, oldest first.
    """

    claim: Claim
    author: str
    series: tuple[Mention, ...]

    @cached_property
    def stance(self) -> Stand:
        """Where the author stands: the latest answer counts; what is only told, asked or unsure is none."""
        if not self._since:
            return self.series[-1].stance
        said = {one.stance for one in (self._own if BEHAVIOUR.before(5) else self._since)}
        if not BEHAVIOUR.before(5) and self._level:
            return "mixed"
        return next(stance for stance in OWN if stance in said)

    @cached_property
    def _own(self) -> tuple[Mention, ...]:
        return tuple(one for one in self.series if one.stance in OWN)

    @property
    def _level(self) -> bool:
        """Whether another text of the latest date, or of none, says the contrary."""
        last = self._own[-1]
        return any(
            one.place.date == last.place.date and one.place.item != last.place.item and _for(one) != _for(last)
            for one in self._own
        )

    @property
    def denied(self) -> bool:
        """Whether the author says that it is not so."""
        return self.stance == "denies"

    @property
    def places(self) -> tuple[Place, ...]:
        """The sentences of the stance that counts, oldest first."""
        counted = self._since or self.series
        if BEHAVIOUR.before(5):
            counted = sorted((one for one in self.series if one.stance == self.stance), key=_undated_last)
        return tuple(dict.fromkeys(one.place for one in counted))

    @property
    def history(self) -> str:
        """How it was before, ``"held until 2026-02"``; empty where nothing changed."""
        own = self._own
        since = len(own) - len(self._since)
        if not since:
            return ""
        verb = "denied" if own[since - 1].stance == "denies" else "held"
        until = own[since].place.date
        return f"{verb} until {until[:10]}" if until else f"{verb} elsewhere"

    @cached_property
    def _since(self) -> tuple[Mention, ...]:
        """The latest mentions that give one answer."""
        own = self._own
        at = next((at for at in range(len(own), 0, -1) if _for(own[at - 1]) != _for(own[-1])), 0)
        return own[at:]

    def words(self, *, listed: bool = False) -> str:
        """Return the claim as the author takes it, for people and models alike.

        Args:
            listed: it stands in a list of claims; logs of before number 5 mark a denial otherwise there.
        """
        if listed and self.denied and BEHAVIOUR.before(5):
            return f"(denied) {self.claim.text}"
        return worded(self.claim.text, self.stance)


def worded(text: str, stance: str) -> str:
    """Return a claim as somebody with a stance takes it."""
    return f"It is not so: {text}" if stance == "denies" else text


def _for(mention: Mention) -> bool:
    return mention.stance != "denies"


class StanceChange(CamelModel):
    """An author who answers otherwise than before; ``place`` is the newest sentence."""

    author: str
    claim: Claim
    before: Stand
    after: Stand
    place: Place

    def line(self) -> str:
        """Return it as news."""
        now = "says both of" if self.after == "mixed" else self.after
        dated = f", {self.place.date[:10]}" if self.place.date else ""
        return f"{self.author} {now} it now{dated}; before: {self.before}"


class Relation(CamelModel):
    """``from_`` bears on ``to``; said by the author, or found by the judge. On the wire: ``from`` and ``to``.

    Args:
        denied: whether the author denied the one and the other when it was found; None where nobody noted it.
    """

    model_config = ConfigDict(alias_generator=lambda name: to_camel(name.rstrip("_")))

    from_: str
    to: str
    kind: Link
    author: str
    origin: Literal["stated", "judged"]
    places: tuple[Place, ...] = ()
    denied: tuple[bool, bool] | None = None


class Author(CamelModel):
    """How far an author was read, by ids of passages; ``unchecked`` where stances wait for a second reader."""

    name: str
    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unquoted: int = 0
    unchecked: bool = Field(default=False, exclude_if=lambda left: not left)


class Correction(CamelModel):
    """What somebody says of a claim of a book.

    Args:
        what: ``accept`` that an author takes the ``stance``; ``reject`` the claim; ``merge`` it ``into`` another;
            ``not_said``: the author did not say it.
        author: whose stance is meant; empty for the claim itself.
        by: who says so; may be empty.
        at: ISO 8601.
    """

    what: Literal["accept", "reject", "merge", "not_said"]
    claim: str
    author: str = ""
    into: str = ""
    stance: Stance | None = None
    by: str = ""
    at: str = ""


class ClaimBook(CamelModel):
    """Everything that was read, of one author or of several; ``corrections`` are what people said of it since."""

    claims: tuple[Claim, ...] = ()
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    authors: tuple[Author, ...] = ()
    corrections: tuple[Correction, ...] = Field(default=(), exclude_if=lambda said: not said)

    @cached_property
    def by_id(self) -> dict[str, Claim]:
        """Claims by id."""
        return {claim.id: claim for claim in self.claims}

    @cached_property
    def by_claim(self) -> dict[str, tuple[Mention, ...]]:
        """Mentions by claim, in the order of reading."""
        mentions = grouped((mention.claim, mention) for mention in self.mentions)
        return {claim: tuple(mentions.get(claim, ())) for claim in (*self.by_id, *mentions)}

    def of(self, author: str, *stances: Stance) -> list[Claim]:
        """Return the claims to which an author takes one of these stances, those mentioned most first."""
        own = self._of.get(author, ())
        counts = Counter(mention.claim for mention in own if not stances or mention.stance in stances)
        return [self.by_id[key] for key, _ in counts.most_common()]

    @cached_property
    def _of(self) -> dict[str, list[Mention]]:
        return grouped((mention.author, mention) for mention in self.mentions)

    def places(self, claim: str, author: str = "", *stances: Stance) -> list[Place]:
        """Return where a claim is mentioned, oldest first."""
        own = self.by_claim.get(claim, ())
        mentions = [one for one in own if author in ("", one.author) and (not stances or one.stance in stances)]
        return list(dict.fromkeys(mention.place for mention in sorted(mentions, key=_undated_last)))

    def changed(self, **update: Any) -> ClaimBook:
        """Return the book with other parts; unlike a copy, it remembers nothing that was found in the old ones."""
        return ClaimBook(**{name: getattr(self, name) for name in ClaimBook.model_fields} | update)

    def signed(self, claim: str, author: str) -> SignedClaim:
        """Return where an author stands on a claim that this book has of that author.

        Raises:
            KeyError: the author does not mention it.
        """
        return self._signed[author][claim]

    def signed_by(self, author: str) -> tuple[SignedClaim, ...]:
        """Return the claims that an author answers in one way or another, those mentioned most first."""
        return tuple(self.signed(claim.id, author) for claim in self.of(author, *OWN))

    @cached_property
    def _signed(self) -> dict[str, dict[str, SignedClaim]]:
        return {
            author: {
                key: SignedClaim(claim=self.by_id[key], author=author, series=tuple(sorted(own, key=_when)))
                for key, own in grouped((mention.claim, mention) for mention in mentions).items()
                if key in self.by_id
            }
            for author, mentions in self._of.items()
        }

    def dependants(self, claim: str) -> list[str]:
        """Return what rests on a claim: all that is reached along supporting relations, nearest first.

        Claims that say the same are one: what rests on the one rests on the other.
        """
        same = {claim, *_walked(claim, self._same)}
        return [one for one in _walked(claim, self._resting) if one not in same]

    @cached_property
    def standing_relations(self) -> tuple[Relation, ...]:
        """The relations whose author still takes both claims as when they were found."""

        def stands(one: Relation) -> bool:
            own = self._signed.get(one.author, {})
            signs = tuple(key in own and own[key].denied for key in (one.from_, one.to))
            return one.denied is None or one.denied == signs

        return tuple(filter(stands, self.relations))

    @cached_property
    def _same(self) -> dict[str, list[str]]:
        same = [one for one in self.standing_relations if one.kind == "same" and not BEHAVIOUR.before(6)]
        return grouped([(one.from_, one.to) for one in same] + [(one.to, one.from_) for one in same])

    @cached_property
    def _resting(self) -> dict[str, list[str]]:
        edges = [(one.from_, one.to) for one in self.standing_relations if one.kind in ("supports", "narrower")]
        return grouped([*edges, *((one, other) for one, others in self._same.items() for other in others)])


def _when(mention: Mention) -> tuple[str, str, int]:
    return mention.place.date, mention.place.item, mention.place.start


def _undated_last(mention: Mention) -> tuple[str, str, int]:
    return mention.place.date or "9999", mention.place.item, mention.place.start


def moved(before: ClaimBook, after: ClaimBook, author: str) -> list[StanceChange]:
    """Return on which claims an author answers otherwise than in an earlier book, in the order of the later."""
    earlier: dict[str, Stand] = {one.claim.id: one.stance for one in before.signed_by(author)}
    return [
        StanceChange(
            author=author, claim=one.claim, before=earlier[one.claim.id], after=one.stance, place=one.places[-1]
        )
        for one in after.signed_by(author)
        if one.claim.id in earlier and _side(earlier[one.claim.id]) != _side(one.stance)
    ]


def _side(stance: Stand) -> str:
    return "holds" if stance == "grants" else stance


def reached(start: str, edges: Iterable[tuple[str, str]]) -> list[str]:
    """Return what can be reached along edges (from, to), nearest first, without the start."""
    return _walked(start, grouped(edges))


def _walked(start: str, onward: dict[str, list[str]]) -> list[str]:
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
    held = {one.claim.id for one in book.signed_by(author) if one.stance != "grants"}
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
    edges = [(one.from_, one.to) for one in book.relations if {one.from_, one.to} <= among]
    onward = grouped([*edges, *((to, from_) for from_, to in edges)])
    found, seen = list[set[str]](), set[str]()
    for claim in sorted(among):
        if claim not in seen:
            found.append({claim, *_walked(claim, onward)})
            seen |= found[-1]
    return sorted(found, key=len, reverse=True)
