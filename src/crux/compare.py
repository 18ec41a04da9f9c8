"""Authors' claims side by side, before anybody speaks: shared, opposed, one-sided, and candidate cruxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TypeAlias

from pydantic import BaseModel, Field

from crux.book import Claim, ClaimBook, standing
from crux.claims.audit import Audit, audit
from crux.claims.judge import Judge, Judgement, Pair, Verdict, speaks_for
from crux.claims.linking import linked, loose, proposed_links
from crux.claims.reading import Unread, read_book
from crux.comparison import Comparison, CruxCandidate, Match, Read
from crux.config import CruxConfigurationError
from crux.cruxes import Division, divided
from crux.personas.corpus import Corpus, shared_texts
from crux.requests import Questioner, Step, entry_line
from crux.retrieval.lexical import Lexical
from crux.sides import AuthorSide
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import load_prompt
from llm_runtime.structs import Struct
from llm_runtime.tasks import gather

MOST_CANDIDATES = 5
#: Pairs that nearness in words adds to those a model named; the whole is judged.
_NEAR_PAIRS = 24
#: Pairs that a judge is shown at once.
_PAIRS = 32


_Two: TypeAlias = tuple[AuthorSide, AuthorSide]
Keep: TypeAlias = Callable[[str, ClaimBook], None]
"""Takes an author's book whenever it has grown."""


class Shelf(Struct):
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
    *shelves: Shelf, asking: Questioner, topic: str = "", known: Sequence[Judgement] = (),
    audited: bool = False, keep: Keep = lambda name, book: None, step: Step = lambda name, step, done, of: None,
) -> Comparison:  # fmt: skip
    """Read what is not read yet, and compare: two authors claim by claim, more by what divides them.

    Args:
        topic: what the comparison is about; empty for all that they wrote.
        known: what an earlier comparison judged.
        audited: read some passages of each once more, each alone, and count which of their claims were found.
        keep: takes an author's book whenever it has grown.
        step: takes an author, a step, and how far it is.

    Raises:
        CruxConfigurationError: two are one author, or one has no texts; nothing was asked.
        StructuredOutputError: no passage of an author got a usable answer.
        LlmRuntimeError: a budget, a deadline or a refusal that every call would meet; books were kept.
    """
    _require_several(shelves)
    judge = Judge(asking, known, _PAIRS)
    read = [await _read(shelf, asking, keep, step) for shelf in shelves]
    done = list(zip(shelves, read, strict=True))
    audits = [await audit(shelf.name, shelf.corpus, one.book, judge) if audited else None for shelf, one in done]
    step("", "comparing", 0, 3)
    sides = [AuthorSide(shelf.name, one.book, topic) for shelf, one in done]
    loose = [side for side, one in zip(sides, read, strict=True) if one.loose]
    if len(sides) == 2:
        division = await _side_by_side((sides[0], sides[1]), loose, topic, judge, keep, step)
    else:
        await _link(loose, [], judge, keep)
        division = await divided(sides, topic, judge)
    step("", "comparing", 3, 3)
    return division.told(topic, map(_told, shelves, sides, read, audits), sides, judge, _warnings(shelves, division))


async def _side_by_side(
    sides: _Two, loose: Sequence[AuthorSide], topic: str, judge: Judge, keep: Keep, step: Step
) -> Division:
    """Return what two share, what they oppose, and the oppositions on which most rests."""
    pairs, questions = await _proposed(sides, topic, judge.asking)
    step("", "comparing", 1, 3)
    across = [Pair(sides[0].signed[a.id].words(), sides[1].signed[b.id].words()) for a, b in pairs]
    await _link(loose, [*across, *(pair.turned for pair in across)], judge, keep)
    step("", "comparing", 2, 3)
    verdicts = await judge.relate(across, "issues", strict=True)
    opposed = _matches(sides, pairs, verdicts, {"contradicts", "undermines"}, questions)
    shared = _matches(sides, pairs, verdicts, {"same", "entails"}, {})
    return Division(await _candidates(opposed, judge), len(pairs), opposed, shared)


async def _link(loose: Sequence[AuthorSide], across: Sequence[Pair], judge: Judge, keep: Keep) -> None:
    """Give books whose claims are not linked their links, judged in the same calls as the pairs across authors."""
    links = await gather(proposed_links(side.book, side.name, judge.asking) for side in loose)
    await judge.learn([*across, *(pair for one in links for pair in one.pairs)], "comparison")
    for side, one in zip(loose, links, strict=True):
        side.book = linked(side.book, one, await judge.relate(one.pairs, f"links-{side.name}"))
        keep(side.name, side.book)


def _require_several(shelves: Sequence[Shelf]) -> None:
    names = [shelf.name for shelf in shelves]
    for shelf in shelves:
        if names.count(shelf.name) > 1:
            raise CruxConfigurationError(f"{shelf.name} is named twice; a comparison needs different authors")
        if not shelf.corpus.chunks:
            raise CruxConfigurationError(f"{shelf.name} has no texts; import some")
    if len(names) < 2:
        raise CruxConfigurationError("a comparison needs two authors or more")
    for first, second in combinations(shelves, 2):
        if {item.text for item in first.corpus.items} == {item.text for item in second.corpus.items}:
            raise CruxConfigurationError(f"{first.name} and {second.name} have the same texts: nothing to compare")


class _Done(Struct):
    """The book of one author, what stays unread, and whether its claims still have to be linked."""

    book: ClaimBook
    unread: list[Unread]
    loose: bool


async def _read(shelf: Shelf, asking: Questioner, keep: Keep, step: Step) -> _Done:
    name = shelf.name
    kept, told = partial(keep, name), partial(step, name, "reading")
    book, unread = await read_book(name, shelf.corpus, asking, shelf.book, keep=kept, step=told)
    if not book.claims:
        why = f" ({unread[0].reason})" if unread else ""
        raise StructuredOutputError(f"no claim was found in the texts of {name}{why}", "")
    return _Done(book, unread, loose(shelf.book, book))


def _told(shelf: Shelf, side: AuthorSide, done: _Done, audit: Audit | None) -> Read:
    items, passages = shelf.corpus.by_id, len(shelf.corpus.chunks)
    return Read(
        name=shelf.name,
        texts=len(shelf.corpus.items),
        passages=passages,
        standing=standing(side.book, shelf.name, passages),
        claims=len(side.book.claims),
        unread=tuple(
            f"{items[one.chunk.item].title or one.chunk.item}, from character {one.chunk.start}: {one.reason}"
            for one in done.unread
        ),
        left_out=side.left_out,
        audit=audit,
    )


async def _proposed(
    sides: _Two, topic: str, asking: Questioner
) -> tuple[list[tuple[Claim, Claim]], dict[tuple[str, str], str]]:
    """Return pairs that a model names from both lists, then those nearest in words; and the questions named."""
    label = CallLabel("crux", "issues", "")
    fence = asking.fence(label)
    short = [
        {f"{letter}{number}": claim for number, claim in enumerate(side.claims, start=1)}
        for letter, side in zip("ab", sides, strict=True)
    ]
    first, second = (_lines(side, own) for side, own in zip(sides, short, strict=True))
    text = load_prompt("crux.claims", "issues").render(
        topic=fence("TOPIC", topic or "all that both wrote about"),
        first=fence("CLAIMS OF THE FIRST", first),
        second=fence("CLAIMS OF THE SECOND", second),
    )
    answer = await asking.tried("comparison", label, text, _Issues)
    pairs: dict[tuple[str, str], tuple[Claim, Claim]] = {}
    questions: dict[tuple[str, str], str] = {}
    for one in (*answer.opposed, *answer.shared) if answer else ():
        a, b = short[0].get(one.first), short[1].get(one.second)
        if a is not None and b is not None:
            pairs.setdefault((a.id, b.id), (a, b))
            if one.question.strip():
                questions.setdefault((a.id, b.id), " ".join(one.question.split()))
    near = [(a, b) for a, b in _near(sides) if (a.id, b.id) not in pairs]
    return [*pairs.values(), *near[:_NEAR_PAIRS]], questions


def _lines(side: AuthorSide, own: Mapping[str, Claim]) -> str:
    return "\n".join(entry_line(id=key, claim=side.signed[one.id].words(listed=True)) for key, one in own.items())


def _near(sides: _Two) -> list[tuple[Claim, Claim]]:
    """Return pairs of both authors, nearest in words first."""
    if not sides[0].claims or not sides[1].claims:
        return []
    index = Lexical.of([claim.text for claim in sides[1].claims])
    own, others = sides[0].claims, sides[1].claims
    matches = [(score, claim, others[at]) for claim in own for at, score in index.nearest(claim.text, 2)]
    return [(a, b) for _, a, b in sorted(matches, key=lambda entry: (-entry[0], entry[1].id, entry[2].id))]


def _matches(
    sides: _Two, pairs: Sequence[tuple[Claim, Claim]], verdicts: Sequence[Verdict], kinds: set[str],
    questions: dict[tuple[str, str], str],
) -> tuple[Match, ...]:  # fmt: skip
    matches = [
        Match(sides=(sides[0].view(a), sides[1].view(b)), why=v.why, question=questions.get((a.id, b.id), ""))
        for (a, b), v in zip(pairs, verdicts, strict=True)
        if v.kind in kinds
    ]
    return tuple(sorted(matches, key=lambda match: -_rests(match)))


def _rests(match: Match) -> int:
    return sum(side.dependants for side in match.sides)


async def _candidates(opposed: Sequence[Match], judge: Judge) -> tuple[CruxCandidate, ...]:
    """Return the oppositions on which most rests as questions, each confirmed by both authors' own sentences."""
    chosen: list[Match] = []
    taken: set[str] = set()
    for match in opposed:
        ends = {match.question, *(side.claim for side in match.sides)}
        if match.question and not ends & taken:
            chosen.append(match)
            taken |= ends
    chosen = chosen[:MOST_CANDIDATES]
    sides = ((match, side) for match in chosen for side in match.sides)
    pairs = [Pair(side.said, f"The answer to this question is YES: {match.question}") for match, side in sides]
    verdicts = await judge.relate(pairs, "candidates")
    found: list[CruxCandidate] = []
    for match, yes, no in zip(chosen, verdicts[::2], verdicts[1::2], strict=True):
        answers = zip(match.sides, ("YES", "NO"), strict=True)
        told = tuple(side.model_copy(update={"answer": answer}) for side, answer in answers)
        sure, rests = speaks_for("YES", yes) and speaks_for("NO", no), _rests(match)
        found.append(CruxCandidate(question=match.question, sides=told, confirmed=sure, rests=rests, why=match.why))
    return tuple(found)


def _warnings(shelves: Sequence[Shelf], division: Division) -> Iterator[str]:
    for first, second in combinations(shelves, 2):
        if texts := shared_texts(first.corpus, second.corpus):
            yield (
                f"{first.name} and {second.name} share {len(texts)} of {len(first.corpus.items)} texts: "
                "where these speak, their agreement means nothing"
            )
    if not division.shared and not division.opposed:
        yield "nothing that both wrote was found to agree or to clash: they may have written on other things"
