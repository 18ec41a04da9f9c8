"""How much reading overlooked: some passages are read once more, each alone, and their claims looked for."""

from __future__ import annotations

from math import ceil
from random import Random

from crux.behaviour import BEHAVIOUR
from crux.book import ClaimBook, SignedClaim
from crux.claims.judge import BEARING, Judge, Pair
from crux.claims.reading import read_alone
from crux.personas.corpus import Chunk, Corpus
from crux.results import CamelModel, Place
from llm_runtime.tasks import gather

#: Share of the passages that are read once more, and how many at least.
SHARE, LEAST = 0.05, 5
#: Share of the claims of passages read alone that the book should have.
ENOUGH = 0.8


class Missed(CamelModel):
    """A claim of a passage read alone that the book does not have."""

    text: str
    place: Place


class Audit(CamelModel):
    """What an audit found.

    Args:
        passages: how many were read once more.
        claims: how many claims these hold when read alone.
        found: how many of them the book has from the same passage, as the judge says.
        missed: the others.
    """

    passages: int
    claims: int
    found: int
    missed: tuple[Missed, ...] = ()

    @property
    def share(self) -> float | None:
        """Found of all claims, 0 to 1; None where the passages hold none."""
        return self.found / self.claims if self.claims else None


def audit_calls(passages: int) -> int:
    """Return how many of so many passages are read once more: a twentieth, five at least."""
    return min(passages, max(LEAST, ceil(SHARE * passages)))


def audited_passages(book: ClaimBook, author: str, corpus: Corpus, seed: int) -> list[Chunk]:
    """Draw the passages to read once more from those that were read, and return them in order."""
    read = {key for one in book.authors if one.name == author for key in one.read}
    chunks = [chunk for chunk in corpus.chunks if chunk.id in read]
    drawn = Random(f"{seed}:{corpus.digest}").sample(range(len(chunks)), audit_calls(len(chunks)))
    return [chunks[place] for place in sorted(drawn)]


async def audit(author: str, corpus: Corpus, book: ClaimBook, judge: Judge) -> Audit:
    """Read some passages once more, each alone, and count which of their claims the book has.

    A claim counts as found where what the book took from the same passage, with its sign, says the same or bears it
    out: one that is denied is not found where the book has it held.

    Args:
        judge: decides whether two wordings say the same.

    Raises:
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet.
    """
    chunks = audited_passages(book, author, corpus, judge.asking.seed)
    alone = await gather(read_alone(author, corpus, chunk, judge.asking) for chunk in chunks)
    lone = [(one, claim) for one in zip(chunks, alone, strict=True) for claim in one[1].claims]
    pairs = [
        [Pair(taken, _words(single.signed(own.id, author))) for taken in _taken(book, author, chunk)]
        for (chunk, single), own in lone
    ]
    about = f"audit-{author}"
    await judge.learn([pair for near in pairs for pair in near if pair.premise != pair.claim], about)
    matched = 0
    missed: list[Missed] = []
    for ((_, single), own), near in zip(lone, pairs, strict=True):
        same = any(pair.premise == pair.claim for pair in near)
        if same or any(one.kind in BEARING for one in await judge.relate(near, about)):
            matched += 1
        else:
            missed.append(Missed(text=own.text, place=single.places(own.id)[0]))
    read = sum(bool(one.read) for single in alone for one in single.authors)
    return Audit(passages=read, claims=len(lone), found=matched, missed=tuple(missed))


def _words(signed: SignedClaim) -> str:
    return signed.claim.text if BEHAVIOUR.before(6) else signed.words()


def _taken(book: ClaimBook, author: str, chunk: Chunk) -> list[str]:
    """Return what a book took from a passage, as the author takes it there."""
    own = (one for one in book.mentions if one.author == author and one.place.item == chunk.item)
    near = (one for one in own if one.place.start < chunk.end and chunk.start < one.place.end)
    taken = (_words(SignedClaim(claim=book.by_id[one.claim], author=author, series=(one,))) for one in near)
    return list(dict.fromkeys(taken))
