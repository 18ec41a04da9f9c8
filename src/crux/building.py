"""Building a persona: every passage is read into the claim book, then the contract is written from its claims.

Nothing is asked twice: the book is kept as it grows, and every other answer by what was asked. Calls run side by
side; what they give is put together in order, so that a build does not depend on who answered first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from crux.answers import Answers
from crux.behaviour import BEHAVIOUR
from crux.book import ClaimBook, Standing, standing
from crux.claims.audit import Audit, audit, audit_calls
from crux.claims.judge import Judge
from crux.claims.linking import linked, loose, proposed_links
from crux.claims.reading import Unread, batches_of, read_book
from crux.config import ModelTable
from crux.events import PersonaBuilt, PersonaStep
from crux.extras import library
from crux.personas.beliefs import graph_of
from crux.personas.contract import (
    PROSE,
    ExcerptAnswer,
    FlipAnswer,
    FlipCondition,
    PersonaContract,
    Prose,
    VoiceAnswer,
    VoiceProfile,
    contract_request,
    measured_voice,
    unquoted,
    verbatim,
)
from crux.personas.corpus import Corpus
from crux.personas.persona import Persona, check_name, slug
from crux.requests import BATCH_TOKENS, Questioner
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Emit, silent
from llm_runtime.messages import Generate
from llm_runtime.structs import Struct
from llm_runtime.tasks import first_error

T = TypeVar("T", bound=BaseModel)

#: What a contract takes: a call for each prose part, then flip conditions, excerpts and voice.
CONTRACT_CALLS = len(PROSE) + 3
_MOST_ANCHORS = 8
_MOST_EXAMPLES = 3


class Built(Struct):
    """What a build came to. A thin book is kept like any other; ``standing`` says why it is thin."""

    persona: Persona
    book: ClaimBook
    standing: Standing
    unread: tuple[Unread, ...] = ()
    audit: Audit | None = None


def utc_now() -> str:
    """Return the time of a build, ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


async def build_persona(
    name: str, corpus: Corpus, *, generate: Generate, book: ClaimBook | None = None,
    models: ModelTable | None = None, aliases: Sequence[str] = (), handle: str = "",
    answers: Answers | None = None, emit: Emit = silent, seed: int = 0, language: str = "English",
    tokens_a_call: int = BATCH_TOKENS, audited: bool = False,
    keep: Callable[[ClaimBook], None] = lambda book: None, now: Callable[[], str] = utc_now,
) -> Built:  # fmt: skip
    """Read one person's texts whole, and write their contract from what they claim.

    Args:
        name: as people and events will know the person.
        corpus: at least one text.
        book: what was read before; its passages are not asked about again.
        answers: answers of earlier builds; changed in place.
        seed: 0 to 2^53-1; the same for every build of one store, or nothing that is kept can be used again.
        language: in which claims are written; quotations stay as they are.
        tokens_a_call: of passages, 200 or more; a model with a short window needs fewer.
        audited: read some passages once more, each alone, and count which of their claims the book has.
        keep: takes the book whenever it has grown.
        now: the time that the beliefs bear.

    Raises:
        PersonaError: the name cannot be used.
        CallError, StructuredOutputError: a part of the contract was not to be had.
        BudgetExceeded, DeadlineExceeded: as ``generate`` raises them; what was answered is kept.
        MissingExtraError: a library of the extra ``debate`` is not installed.
    """
    name = check_name(name)
    library("bm25s", "building a persona")  # before anything is spent
    asking = Questioner(generate, models or ModelTable(), seed, language, tokens_a_call, answers or Answers())
    before, step = book, steps_of(emit)
    book, unread = await read_book(name, corpus, asking, before, keep=keep, step=partial(step, name, "reading"))
    judge = Judge(asking)
    if BEHAVIOUR.before(6) or loose(before, book):
        links = await proposed_links(book, name, asking)
        book = linked(book, links, await judge.relate(links.pairs, f"links-{name}"))
        keep(book)
    figures = standing(book, name, len(corpus.chunks))
    checked = await audit(name, corpus, book, judge) if audited else None
    contract = await _contract(name, corpus, book, asking, partial(step, name, "contract"))
    contract = contract.model_copy(update={"handle": handle, "aliases": tuple(aliases)})
    beliefs = graph_of(book, name, corpus, contract.persona_id, now())
    counts = {"claims": len(book.claims), "unread": len(unread), "unquoted": book.authors[0].unquoted}
    emit(PersonaBuilt(persona=name, gate=figures.model_dump(mode="json"), counts=counts))
    persona = Persona(contract=contract, corpus=corpus, beliefs=beliefs if beliefs.nodes else None)
    return Built(persona, book, figures, tuple(unread), checked)


def steps_of(emit: Emit) -> Callable[[str, str, int, int], None]:
    """Return what tells how far a step is, of a persona or of all."""

    def step(name: str, step: str, done: int, of: int) -> None:
        emit(PersonaStep(persona=name, step=step, done=done, of=of))

    return step


async def _contract(
    name: str, corpus: Corpus, book: ClaimBook, asking: Questioner, step: Callable[[int, int], None]
) -> PersonaContract:
    done = 0

    async def ask(part: str, model: type[T]) -> T | LlmRuntimeError:
        nonlocal done
        try:
            answer = await asking.ask(contract_request(part, name, corpus, book, asking.models, asking.seed), model)
        except LlmRuntimeError as fault:
            return fault  # raised once the other parts are there: they are under way and paid for
        done += 1
        step(done, CONTRACT_CALLS)
        return answer

    try:
        async with asyncio.TaskGroup() as group:
            prose = {part: group.create_task(ask(part, Prose)) for part in PROSE}
            minds = group.create_task(ask("flip", FlipAnswer))
            excerpts = group.create_task(ask("excerpts", ExcerptAnswer))
            heard = group.create_task(ask("voice", VoiceAnswer))
    except ExceptionGroup as faults:
        raise first_error(faults) from None
    texts = {part: unquoted(" ".join(_had(task.result()).text.split()), corpus) for part, task in prose.items()}
    written: Mapping[str, Any] = {part: text for part, (text, _) in texts.items()}
    conditions, spoken = _had(minds.result()).conditions, _had(heard.result())
    anchors, lost = verbatim(_had(excerpts.result()).excerpts, corpus, _MOST_ANCHORS)
    examples, also_lost = verbatim(spoken.examples, corpus, _MOST_EXAMPLES)
    numbered = enumerate((" ".join(text.split()) for text in conditions), start=1)
    flips = tuple(FlipCondition(id=f"F{place}", text=text) for place, text in numbered if text)
    return PersonaContract(
        persona_id=slug(name),
        name=name,
        **written,
        flip_conditions=flips,
        anchor_excerpts=tuple(anchors),
        voice=VoiceProfile.model_validate(spoken.model_dump() | measured_voice(corpus) | {"examples": examples}),
        dropped_quotes=lost + also_lost + sum(count for _, count in texts.values()),
        corpus_digest=corpus.digest,
    )


def _had(answer: T | LlmRuntimeError) -> T:
    if isinstance(answer, LlmRuntimeError):
        raise answer
    return answer


class BuildCalls(Struct):
    """About how many calls a build will make: exact for reading, a guess for linking before all is read."""

    contract: int
    reading: int
    linking: int
    audit: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.contract + self.reading + self.linking + self.audit


def build_calls(
    name: str, corpus: Corpus, book: ClaimBook | None = None, answers: Answers | None = None, *,
    tokens_a_call: int = BATCH_TOKENS, audited: bool = False,
) -> BuildCalls:  # fmt: skip
    """Count what :func:`build_persona` with the same arguments would ask: what is on file is not asked again."""
    name, answers, book = check_name(name), answers or Answers(), book or ClaimBook()
    reading = len(batches_of(corpus, book.authors[0].read if book.authors else (), tokens_a_call))
    parts = (*PROSE, "flip", "excerpts", "voice")
    asked = (contract_request(part, name, corpus, book, ModelTable(), 0) for part in parts)
    contract = CONTRACT_CALLS if reading else sum(not answers.has(request) for request in asked)
    checked = audit_calls(len(corpus.chunks)) + 1 if audited else 0  # and one of the judge
    return BuildCalls(contract=contract, reading=reading, linking=linking_calls(reading), audit=checked)


def linking_calls(reading: int) -> int:
    """Guess the calls that check and link what so many calls read: stances, a block of claims, their judging."""
    return 2 + reading + reading // 2 if reading else 0
