"""Two authors' claims side by side, before anybody speaks: shared, opposed, one-sided, and candidate cruxes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from crux.book import Claim, ClaimBook, standing
from crux.claims.audit import Audit, audit
from crux.claims.judge import BEARING, Judge, Judgement, Pair, Verdict
from crux.claims.linking import linked, proposed_links
from crux.claims.reading import BATCH_TOKENS, Unread, read_book
from crux.comparison import Comparison, CruxCandidate, Match, Read, SideView
from crux.config import CruxConfigurationError, ModelTable
from crux.ending import tried
from crux.personas.corpus import Corpus, shared_texts
from crux.requests import request
from crux.retrieval.lexical import Lexical
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel, Generate
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import ask
from llm_runtime.tasks import gather

#: Claims of an author that one call is shown; those nearest to the topic, then those mentioned most.
MOST_CLAIMS = 250
MOST_CANDIDATES = 5
#: Pairs that nearness in words adds to those a model named; the whole is judged.
_NEAR_PAIRS = 24
_QUOTES = 3
#: Pairs that a judge is shown at once.
_PAIRS = 32
_ONE_SIDED = 12


@dataclass(frozen=True, slots=True)
class Shelf:
    """One author's texts, and what was read of them before."""

    name: str
    corpus: Corpus
    book: ClaimBook | None = None


class _PairNamed(BaseModel):
    """A pair of claims."""

    first: str = Field(max_length=20)
    second: str = Field(max_length=20)
    question: str = Field(default="", max_length=600)


class _Issues(BaseModel):
    """What two lists of claims have in common, and where they part."""

    opposed: list[_PairNamed] = Field(default_factory=list[_PairNamed], max_length=80)
    shared: list[_PairNamed] = Field(default_factory=list[_PairNamed], max_length=80)


async def compare(
    first: Shelf,
    second: Shelf,
    *,
    generate: Generate,
    models: ModelTable | None = None,
    seed: int = 0,
    topic: str = "",
    language: str = "English",
    tokens_a_call: int = BATCH_TOKENS,
    known: Sequence[Judgement] = (),
    audited: bool = False,
    keep: Callable[[str, ClaimBook], None] = lambda name, book: None,
    step: Callable[[str, str, int, int], None] = lambda name, step, done, of: None,
) -> Comparison:
    """Read what is not read yet, and compare.

    Args:
        topic: what the comparison is about; empty for all that both wrote.
        language: in which claims are written; quotations stay as they are.
        tokens_a_call: of passages, 200 or more; a model with a short window needs fewer.
        known: what an earlier comparison judged.
        audited: read some passages of both once more, each alone, and count which of their claims were found.
        keep: takes an author's book whenever it has grown.
        step: takes an author, a step, and how far it is.

    Raises:
        CruxConfigurationError: both are one author, or one has no texts; nothing was asked.
        StructuredOutputError: no passage of an author got a usable answer.
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet; books were kept.
    """
    _require_two(first, second)
    models = models or ModelTable()
    judge = Judge(generate, models, seed, known=known, lot=_PAIRS)
    reading = {"models": models, "seed": seed, "language": language, "tokens_a_call": tokens_a_call}
    read = [await _read(shelf, keep, step, generate=generate, **reading) for shelf in (first, second)]
    audits = [
        await audit(
            shelf.name, shelf.corpus, book, judge, generate=generate, models=models, seed=seed, language=language
        )
        if audited
        else None
        for shelf, (book, _, _) in zip((first, second), read, strict=True)
    ]
    sides = (_Side(first.name, read[0][0], topic, "a"), _Side(second.name, read[1][0], topic, "b"))
    step("", "comparing", 0, 3)
    pairs, questions = await _proposed(sides, topic, generate, models, seed)
    loose = [side for side, (_, _, grown) in zip(sides, read, strict=True) if grown]
    links = await gather(
        proposed_links(side.book, side.name, generate=generate, models=models, seed=seed) for side in loose
    )
    step("", "comparing", 1, 3)
    asked = [Pair(sides[0].worded(a), sides[1].worded(b)) for a, b in pairs]
    within = [pair for one in links for pair in one.pairs]
    await judge.learn([*asked, *(pair.turned for pair in asked), *within], "comparison")
    for side, one in zip(loose, links, strict=True):
        side.book = linked(side.book, one, await judge.relate(one.pairs, f"links-{side.name}"))
        keep(side.name, side.book)
    verdicts = await judge.relate(asked, "issues", strict=True)
    step("", "comparing", 2, 3)
    opposed = _matches(sides, pairs, verdicts, {"contradicts", "undermines"}, questions)
    shared = _matches(sides, pairs, verdicts, {"same", "entails"}, {})
    candidates = await _candidates(opposed, judge)
    step("", "comparing", 3, 3)
    return Comparison(
        topic=topic,
        authors=(_told(first, sides[0], read[0][1], audits[0]), _told(second, sides[1], read[1][1], audits[1])),
        shared=shared,
        opposed=opposed,
        first_alone=_alone(sides[0], {match.first.claim for match in (*shared, *opposed)}),
        second_alone=_alone(sides[1], {match.second.claim for match in (*shared, *opposed)}),
        candidates=candidates,
        proposed=len(pairs),
        warnings=tuple(_warnings(first, second, shared, opposed)),
        books=(sides[0].book, sides[1].book),
        judged=judge.judged,
    )


def _require_two(first: Shelf, second: Shelf) -> None:
    if first.name == second.name:
        raise CruxConfigurationError(f"{first.name} is named twice; a comparison needs two authors")
    for shelf in (first, second):
        if not shelf.corpus.chunks:
            raise CruxConfigurationError(f"{shelf.name} has no texts; import some")
    if {item.text for item in first.corpus.items} == {item.text for item in second.corpus.items}:
        raise CruxConfigurationError(
            f"{first.name} and {second.name} have the same texts; there is nothing to compare"
        )


async def _read(
    shelf: Shelf,
    keep: Callable[[str, ClaimBook], None],
    step: Callable[[str, str, int, int], None],
    **reading: Any,
) -> tuple[ClaimBook, list[Unread], bool]:
    """Return the book of one author, what stays unread, and whether its claims still have to be linked."""
    before = len(shelf.book.authors[0].read) if shelf.book and shelf.book.authors else 0
    book, unread = await read_book(
        shelf.name,
        shelf.corpus,
        shelf.book,
        keep=lambda grown: keep(shelf.name, grown),
        step=lambda done, of: step(shelf.name, "reading", done, of),
        **reading,
    )
    if not book.claims:
        why = f" ({unread[0].reason})" if unread else ""
        raise StructuredOutputError(f"no claim was found in the texts of {shelf.name}{why}", "")
    judged = any(one.origin == "judged" for one in book.relations)
    return book, unread, not judged or before != len(book.authors[0].read)


def _told(shelf: Shelf, side: _Side, unread: Sequence[Unread], audit: Audit | None) -> Read:
    items, passages = shelf.corpus.by_id, len(shelf.corpus.chunks)
    return Read(
        name=shelf.name,
        texts=len(shelf.corpus.items),
        passages=passages,
        standing=standing(side.book, shelf.name, passages),
        claims=len(side.book.claims),
        unread=tuple(
            f"{items[one.chunk.item].title or one.chunk.item}, from character {one.chunk.start}: {one.reason}"
            for one in unread
        ),
        left_out=side.left_out,
        audit=audit,
    )


class _Side:
    """One author's claims as the comparison sees them, under short ids."""

    def __init__(self, name: str, book: ClaimBook, topic: str, letter: str) -> None:
        self.name, self.book = name, book
        self.signed = {one.claim.id: one for one in book.signed_by(name)}
        held = [one.claim for one in self.signed.values()]
        if topic and len(held) > MOST_CLAIMS:
            index = Lexical.of([claim.text for claim in held])
            near = [held[place] for place, _ in index.nearest(topic, MOST_CLAIMS)]
            held = list(dict.fromkeys((*near, *held)))
        self.claims = held[:MOST_CLAIMS]
        self.left_out = len(held) - len(self.claims)
        self.short = {f"{letter}{number}": claim for number, claim in enumerate(self.claims, start=1)}

    def lines(self) -> str:
        """Return the claims as a model sees them."""
        return "\n".join(
            json.dumps({"id": short, "claim": self.signed[claim.id].words(listed=True)}, ensure_ascii=False)
            for short, claim in self.short.items()
        )

    def worded(self, claim: Claim) -> str:
        """Return a claim as its author takes it."""
        return self.signed[claim.id].words()

    def view(self, claim: Claim) -> SideView:
        """Return a claim with its sentences."""
        signed = self.signed[claim.id]
        return SideView(
            claim=claim.id,
            text=claim.text,
            stance=signed.stance,
            places=signed.places[:_QUOTES],
            history=signed.history,
            dependants=len(self.book.dependants(claim.id)),
        )


async def _proposed(
    sides: tuple[_Side, _Side], topic: str, generate: Generate, models: ModelTable, seed: int
) -> tuple[list[tuple[Claim, Claim]], dict[tuple[str, str], str]]:
    """Return pairs that a model names from both lists, then those nearest in words; and the questions named."""
    label = CallLabel("crux", "issues", "")
    fence = Fence(seed, label)
    text = load_prompt("crux.claims", "issues").render(
        topic=fence("TOPIC", topic or "all that both wrote about"),
        first=fence("CLAIMS OF THE FIRST", sides[0].lines()),
        second=fence("CLAIMS OF THE SECOND", sides[1].lines()),
    )
    answer = await tried(ask(generate, request(models, "comparison", label, text), _Issues))
    pairs: dict[tuple[str, str], tuple[Claim, Claim]] = {}
    questions: dict[tuple[str, str], str] = {}
    for one in (*answer.value.opposed, *answer.value.shared) if answer else ():
        a, b = sides[0].short.get(one.first), sides[1].short.get(one.second)
        if a is not None and b is not None:
            pairs.setdefault((a.id, b.id), (a, b))
            if one.question.strip():
                questions.setdefault((a.id, b.id), " ".join(one.question.split()))
    near = [(a, b) for a, b in _near(sides) if (a.id, b.id) not in pairs]
    return [*pairs.values(), *near[:_NEAR_PAIRS]], questions


def _near(sides: tuple[_Side, _Side]) -> list[tuple[Claim, Claim]]:
    """Return pairs of both authors, nearest in words first."""
    if not sides[0].claims or not sides[1].claims:
        return []
    index = Lexical.of([claim.text for claim in sides[1].claims])
    matches = [
        (score, claim, sides[1].claims[place])
        for claim in sides[0].claims
        for place, score in index.nearest(claim.text, 2)
    ]
    return [(a, b) for _, a, b in sorted(matches, key=lambda entry: (-entry[0], entry[1].id, entry[2].id))]


def _matches(
    sides: tuple[_Side, _Side],
    pairs: Sequence[tuple[Claim, Claim]],
    verdicts: Sequence[Verdict],
    kinds: set[str],
    questions: dict[tuple[str, str], str],
) -> tuple[Match, ...]:
    matches = [
        Match(first=sides[0].view(a), second=sides[1].view(b), why=v.why, question=questions.get((a.id, b.id), ""))
        for (a, b), v in zip(pairs, verdicts, strict=True)
        if v.kind in kinds
    ]
    return tuple(sorted(matches, key=lambda match: -_rests(match)))


def _rests(match: Match) -> int:
    return match.first.dependants + match.second.dependants


async def _candidates(opposed: Sequence[Match], judge: Judge) -> tuple[CruxCandidate, ...]:
    """Return the oppositions on which most rests as questions, each confirmed by both authors' own sentences."""
    chosen: list[Match] = []
    taken: set[str] = set()
    for match in opposed:
        ends = {match.question, match.first.claim, match.second.claim}
        if match.question and not ends & taken:
            chosen.append(match)
            taken |= ends
    chosen = chosen[:MOST_CANDIDATES]
    # An author's sentences on a claim, or the claim where none is left.
    pairs = [
        Pair(
            " […] ".join(place.quote for place in side.places) or side.text,
            f"The answer to this question is YES: {match.question}",
        )
        for match in chosen
        for side in (match.first, match.second)
    ]
    verdicts = await judge.relate(pairs, "candidates")
    return tuple(
        CruxCandidate(
            question=match.question,
            first=match.first,
            second=match.second,
            confirmed=yes.kind in BEARING and no.kind in ("contradicts", "undermines"),
            rests=_rests(match),
            why=match.why,
        )
        for match, yes, no in zip(chosen, verdicts[::2], verdicts[1::2], strict=True)
    )


def _alone(side: _Side, matched: set[str]) -> tuple[SideView, ...]:
    """Return the claims that the other author neither shares nor opposes, those on which most rests first."""
    views = [side.view(claim) for claim in side.claims if claim.id not in matched]
    return tuple(sorted(views, key=lambda view: -view.dependants)[:_ONE_SIDED])


def _warnings(first: Shelf, second: Shelf, shared: Sequence[Match], opposed: Sequence[Match]) -> Iterator[str]:
    if texts := shared_texts(first.corpus, second.corpus):
        yield (
            f"{first.name} and {second.name} share {len(texts)} of {len(first.corpus.items)} texts: "
            "where these speak, their agreement means nothing"
        )
    if not shared and not opposed:
        yield "nothing that both wrote was found to agree or to clash: they may have written on other things"
