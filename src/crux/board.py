"""The claims of a group on one board: under short ids, with who holds and who denies each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, count, islice
from string import ascii_uppercase

from crux.book import Claim, SignedClaim
from crux.comparison import Answer, CruxCandidate, SideView
from crux.requests import entry_line
from crux.retrieval.lexical import Lexical
from crux.sides import AuthorSide
from llm_runtime.grouping import grouped

#: Claims that one call is shown, and how many such calls there are; more claims are left out, and counted.
BLOCK, BLOCKS = 200, 4
#: Under so many claims a group's text is short.
_FEW = 60
_TURNED: dict[Answer, Answer] = {"YES": "NO", "NO": "YES"}


class Board:
    """What every author takes for true or not.

    Args:
        sides: of every author, in books of their own or in one.
        topic: of a large board the claims nearest to it come first.
    """

    def __init__(self, sides: Sequence[AuthorSide], topic: str = "") -> None:
        self.sides = {side.name: side for side in sides}
        self._letters = dict(zip(self.sides, _letters(), strict=False))
        self._takers = _takers(sides)
        every = {claim.id: claim for side in sides for claim in side.claims}
        order = _nearest_first(sorted(every.values(), key=self._contested), topic)
        self.claims = order[: BLOCK * BLOCKS]
        self.left_out = len(order) - len(self.claims) + sum(side.left_out for side in sides)
        self.short = {f"k{number}": claim for number, claim in enumerate(self.claims, start=1)}
        self.ids = {claim.id: short for short, claim in self.short.items()}

    @property
    def few(self) -> bool:
        """Whether the group's text is short."""
        return len(self.claims) < _FEW

    def _contested(self, claim: Claim) -> tuple[int, int]:
        """Return the place of a claim: those that some hold and some deny first, then those of most authors."""
        takers = self._takers[claim.id]
        holds, denies = len(takers.get("holds", ())), len(takers.get("denies", ()))
        return -min(holds, denies), -(holds + denies)

    def lines(self, claims: Iterable[Claim]) -> str:
        """Return claims as a model sees them."""
        return "\n".join(map(self._line, claims))

    def _line(self, claim: Claim) -> str:
        takers = self._takers[claim.id].items()
        told = {stance: " ".join(self._letters[name] for name in names) for stance, names in takers}
        return entry_line(id=self.ids[claim.id], claim=claim.text, **told)

    def blocks(self) -> list[list[Claim]]:
        """Return all claims in as few lots as hold them, those near in words in the same one."""
        if len(self.claims) <= BLOCK:
            return [self.claims]
        left, blocks = [*range(len(self.claims))], list[list[Claim]]()
        while left:
            near = [at for at, _ in self._index.nearest(self.claims[left[0]].text, len(self.claims)) if at in left]
            block = list(dict.fromkeys((left[0], *near, *left)))[:BLOCK]
            blocks.append([self.claims[at] for at in block])
            left = [at for at in left if at not in block]
        return blocks

    def meant(self, shorts: Iterable[str]) -> list[Claim]:
        """Return the claims that ids mean, each once; an id that there is none of is passed over."""
        return [self.short[one] for one in dict.fromkeys(shorts) if one in self.short]

    def answers(self, yes: Iterable[str], no: Iterable[str]) -> list[SideView]:
        """Return everybody's answer to a question, by the ids of the claims that answer it; YES comes first."""
        claims: dict[str, Answer] = {claim.id: "NO" for claim in self.meant(no)}
        claims.update({claim.id: "YES" for claim in self.meant(yes)})
        views = filter(None, (_answer(side, claims) for side in self.sides.values()))
        return sorted(views, key=lambda view: ("YES", "NO", "").index(view.answer))

    def resting(self, ends: Iterable[Claim], named: Iterable[Claim]) -> int:
        """Return how many claims, of anybody, rest on some: those that are named, and those that were found."""
        own = {claim.id for claim in ends}
        books = {id(side.book): side.book for side in self.sides.values()}
        found = {key for book in books.values() for end in own for key in book.dependants(end)}
        return len((found | {claim.id for claim in named}) - own)

    def near(self, crux: CruxCandidate, answer: Answer, most: int) -> list[SideView]:
        """Return claims of those who give an answer: the ones that they answer with, then those nearest to it."""
        own = crux.side(answer)
        held = [(self.sides[view.author], claim) for view in own for claim in self.sides[view.author].claims]
        nearest = [held[at] for at, _ in Lexical.of([claim.text for _, claim in held]).nearest(crux.question, 2 * most)]
        views = (side.view(claim, answer) for side, claim in (*nearest, *held) if claim.id in self.ids)
        return list(islice({view.claim: view for view in chain(own, views)}.values(), most))

    def about(self, question: str, most: int) -> list[Claim]:
        """Return the claims of anybody that are nearest to a question."""
        return [self.claims[at] for at, _ in self._index.nearest(question, most)]

    @cached_property
    def _index(self) -> Lexical:
        return Lexical.of([claim.text for claim in self.claims])

    def view(self, short: str, authors: Iterable[str]) -> SideView | None:
        """Return a claim as the first of some authors takes it who takes it at all."""
        claim = self.short.get(short)
        sides = (self.sides[name] for name in authors)
        return next((side.view(claim) for side in sides if claim and claim.id in side.signed), None)


def _letters() -> Iterator[str]:
    """Yield A to Z, then A1, B1, and so on."""
    return (f"{letter}{turn or ''}" for turn in count() for letter in ascii_uppercase)


def _nearest_first(claims: list[Claim], topic: str) -> list[Claim]:
    """Return claims as they are; of more than are looked at, those nearest to the topic come first."""
    if not topic or len(claims) <= BLOCK * BLOCKS:
        return claims
    near = Lexical.of([one.text for one in claims]).nearest(topic, BLOCK)
    return list(dict.fromkeys((*(claims[at] for at, _ in near), *claims)))


def _takers(sides: Iterable[AuthorSide]) -> dict[str, dict[str, list[str]]]:
    told = ((claim.id, (side.signed[claim.id].stance, side.name)) for side in sides for claim in side.claims)
    return {claim: grouped(taken) for claim, taken in grouped(told).items()}


def _answer(side: AuthorSide, claims: dict[str, Answer]) -> SideView | None:
    """Return how an author answers, by the newest of the claims that answer; None where no claim of theirs does."""
    own = [one for key, one in side.signed.items() if key in claims and one.stance in ("holds", "denies")]
    newest = max(map(_newest, own), default="")
    latest = [one for one in own if _newest(one) == newest]
    said: set[Answer] = {
        claims[one.claim.id] if one.stance == "holds" else _TURNED[claims[one.claim.id]] for one in latest
    }
    best = max(latest, key=lambda one: len(one.places), default=None)
    return side.view(best.claim, said.pop() if len(said) == 1 else "") if best else None


def _newest(one: SignedClaim) -> str:
    return max((place.date for place in one.places), default="")
