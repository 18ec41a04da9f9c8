"""How an author's claims hang together: a model proposes, what is near in words is added, the judge decides."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from crux.behaviour import BEHAVIOUR
from crux.book import Claim, ClaimBook, Link, Relation
from crux.claims.judge import Pair, Verdict
from crux.ending import tried
from crux.requests import Questioner, entry_line
from crux.retrieval.lexical import Lexical
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import load_prompt
from llm_runtime.structs import Struct

#: Claims that a model is shown at once.
BLOCK = 120
#: Of these, claims mentioned most, which every block of a large book has.
PILLARS = 30
#: Nearest claims that are judged for one to which nothing was said to belong.
_NEAR = 4
_KINDS: dict[str, Link] = {
    "same": "same",
    "entails": "supports",
    "supports": "supports",
    "contradicts": "contradicts",
    "undermines": "undermines",
}


class _Proposal(BaseModel):
    """Two claims of which one bears on the other."""

    model_config = ConfigDict(populate_by_name=True)

    from_: str = Field(alias="from")
    to: str
    kind: Link


class _Proposals(BaseModel):
    """The relations of one block."""

    relations: list[_Proposal] = Field(max_length=400)


class Links(Struct):
    """Relations that are proposed among one author's claims: pairs of ids, and the kind where a model named one."""

    author: str
    kinds: dict[tuple[str, str], Link | None]
    words: dict[str, str]

    @property
    def pairs(self) -> list[Pair]:
        """What a judge is to decide."""
        return [Pair(self.words[a], self.words[b]) for a, b in self.kinds]


async def proposed_links(book: ClaimBook, author: str, asking: Questioner) -> Links:
    """Return the relations that a model proposes, and for a claim without any those nearest in words.

    Raises:
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet.
    """
    signed = book.signed_by(author)
    held = [one.claim for one in signed]
    words = {one.claim.id: one.words(listed=True) for one in signed}
    proposed: dict[tuple[str, str], Link | None] = {}
    for number, claims in enumerate(_blocks(held), start=1):
        block = {claim.id: words[claim.id] for claim in claims}
        label = CallLabel("crux", "linking", author, number)
        lines = [entry_line(id=key, claim=words) for key, words in block.items()]
        text = load_prompt("crux.claims", "linking").render(claims=asking.fence(label)("CLAIMS", "\n".join(lines)))
        answer = await tried(asking.ask(asking.request("linking", label, text), _Proposals))
        for one in answer.relations if answer else ():
            if one.from_ in block and one.to in block and one.from_ != one.to:
                proposed.setdefault((one.from_, one.to), one.kind)
    known = {(relation.from_, relation.to) for relation in book.standing_relations}
    tied = {end for pair in (*known, *proposed) for end in pair}
    for pair in _near([claim for claim in held if claim.id not in tied], held):
        proposed.setdefault(pair, None)
    told = {*known, *(pair[::-1] for pair in known)}
    return Links(author, {pair: kind for pair, kind in proposed.items() if pair not in told}, words)


def loose(before: ClaimBook | None, book: ClaimBook) -> bool:
    """Tell whether the claims of a book still have to be linked: none ever was, or more was read since.

    Args:
        before: the book as it was before it was read on.
    """
    read = [len(one.authors[0].read) if one and one.authors else 0 for one in (before, book)]
    return read[0] != read[1] or not any(one.origin == "judged" for one in book.relations)


def _blocks(held: Sequence[Claim]) -> list[Sequence[Claim]]:
    """Return claims in blocks; of a large book each has those mentioned most, so that support crosses blocks."""
    first = 0 if BEHAVIOUR.before(6) or len(held) <= BLOCK else PILLARS
    rest, size = held[first:], BLOCK - first
    return [[*held[:first], *rest[start : start + size]] for start in range(0, len(rest), size)]


def linked(book: ClaimBook, links: Links, verdicts: Sequence[Verdict]) -> ClaimBook:
    """Return the book with the relations that the verdicts bear out."""
    denied = {one.claim.id: one.denied for one in book.signed_by(links.author)}
    judged = [
        Relation(from_=a, to=b, kind=kind, author=links.author, origin="judged", denied=(denied[a], denied[b]))
        for ((a, b), named), verdict in zip(links.kinds.items(), verdicts, strict=True)
        if (kind := _kind(verdict, named))
    ]
    return book.changed(relations=(*book.standing_relations, *judged))


def _kind(verdict: Verdict, proposed: Link | None) -> Link | None:
    kind = _KINDS.get(verdict.kind)
    return "narrower" if proposed == "narrower" and kind == "supports" else kind


def _near(alone: Sequence[Claim], held: Sequence[Claim]) -> list[tuple[str, str]]:
    if not alone or len(held) < 2:
        return []
    index = Lexical.of([claim.text for claim in held])
    near = ((claim.id, held[place].id) for claim in alone for place, _ in index.nearest(claim.text, _NEAR + 1))
    return [(one, other) for one, other in near if one != other]
