"""An author's side of a claim book: how each claim is taken, in which words, with which sentences."""

from __future__ import annotations

from collections.abc import Iterable

from crux.book import Claim, ClaimBook
from crux.comparison import Answer, Match, SideView
from crux.retrieval.lexical import Lexical

#: Claims of an author that are looked at; those nearest to the topic, then those mentioned most.
MOST_CLAIMS = 250
_QUOTES, _ALONE = 3, 12


class AuthorSide:
    """One author and a book that has the author's claims, among others' perhaps."""

    def __init__(self, name: str, book: ClaimBook, topic: str = "") -> None:
        self.name, self.book = name, book
        self.signed = {one.claim.id: one for one in book.signed_by(name)}
        held = [one.claim for one in self.signed.values()]
        if topic and len(held) > MOST_CLAIMS:
            near = [held[place] for place, _ in Lexical.of([claim.text for claim in held]).nearest(topic, MOST_CLAIMS)]
            held = list(dict.fromkeys((*near, *held)))
        self.claims = held[:MOST_CLAIMS]
        self.left_out = len(held) - len(self.claims)

    def view(self, claim: Claim, answer: Answer = "") -> SideView:
        """Return a claim with its sentences."""
        signed = self.signed[claim.id]
        return SideView(
            claim=claim.id,
            text=claim.text,
            stance=signed.stance,
            places=signed.places[:_QUOTES],
            history=signed.history,
            dependants=len(self.book.dependants(claim.id)),
            author=self.name,
            answer=answer,
        )

    def alone(self, matches: Iterable[Match]) -> tuple[SideView, ...]:
        """Return the claims that no match has, those on which most rests first."""
        matched = {view.claim for match in matches for view in match.sides}
        views = [self.view(claim) for claim in self.claims if claim.id not in matched]
        return tuple(sorted(views, key=lambda view: -view.dependants)[:_ALONE])
