"""The persona build pipeline, in order: contract, belief graph, voice.

Calls run side by side; what they give is put together in the order of the corpus, so that a build does not depend
on who answered first. With kept answers, only what changed is asked again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TypeVar

from pydantic import BaseModel

from crux.config import ModelTable
from crux.ending import OVER
from crux.events import PersonaBuilt, PersonaStep
from crux.extras import library
from crux.personas.answers import Answers
from crux.personas.beliefs import BeliefGraph, BuildCounts
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
from crux.personas.corpus import Chunk, Corpus
from crux.personas.extraction import Read, Relations, extraction_request, placed
from crux.personas.gate import BeliefGraphRefused, GateReport, gate
from crux.personas.graph_building import build_graph
from crux.personas.merging import BATCH, Concepts, Groups, apply, batches, merge_alike, merge_request
from crux.personas.persona import Persona, check_name, slug
from llm_runtime.errors import (
    CallError,
    LlmRuntimeError,
    StructuredOutputError,
)
from llm_runtime.events import Emit, silent
from llm_runtime.messages import Generate, Request
from llm_runtime.tasks import first_error, gather

T = TypeVar("T", bound=BaseModel)

#: Passages that are read for beliefs: the specification allows about 200 calls.
MOST_CHUNKS = 200
#: What a contract takes: a call for each prose part, then flip conditions, excerpts and voice.
CONTRACT_CALLS = len(PROSE) + 3
_MERGE_PASSES = 3
_AT_ONCE = 16
#: After one of these, every further question would meet the same.
_MOST_ANCHORS = 8
_MOST_EXAMPLES = 3


def utc_now() -> str:
    """Return the time of a build, ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


async def build_persona(
    name: str,
    corpus: Corpus,
    *,
    generate: Generate,
    models: ModelTable | None = None,
    aliases: Sequence[str] = (),
    handle: str = "",
    answers: Answers | None = None,
    emit: Emit = silent,
    seed: int = 0,
    most_chunks: int = MOST_CHUNKS,
    now: Callable[[], str] = utc_now,
) -> tuple[Persona, GateReport]:
    """Build contract and belief graph of one person, from their texts.

    The graph is held to its gate. Where it fails it is kept all the same, for every belief in it has its sentence,
    and the report says why it is thin; :func:`require_graph` makes that an error.

    Args:
        name: as people and events will know the person.
        corpus: at least one text.
        answers: answers of earlier builds; changed in place.
        seed: 0 to 2^53-1; the same for every build of one store, or nothing that is kept can be used again.
        most_chunks: how many passages are read for beliefs, 1 or more.
        now: the time that the graph bears.

    Raises:
        PersonaError: the name cannot be used.
        CallError, StructuredOutputError: a part of the contract was not to be had.
        BudgetExceeded, DeadlineExceeded: as ``generate`` raises them; what was answered is kept.
        MissingExtraError: a library of the extra ``debate`` is not installed.
    """
    name = check_name(name)
    for module in ("sklearn", "scipy", "networkx"):
        library(module, "building a persona")  # before anything is spent
    models, answers = models or ModelTable(), answers or Answers()
    contract = await _contract(name, corpus, handle, aliases, _Asking(generate, answers, emit, name), models, seed)
    graph = await _graph(contract, corpus, _Asking(generate, answers, emit, name), models, seed, most_chunks, now)
    report = gate(graph)
    emit(
        PersonaBuilt(persona=name, gate=report.model_dump(mode="json"), counts=graph.counts.model_dump(mode="json"))
    )
    return Persona(contract=contract, corpus=corpus, beliefs=graph if graph.nodes else None), report


def require_graph(persona: Persona, report: GateReport) -> None:
    """Insist on a belief graph.

    Raises:
        BeliefGraphRefused: the gate did not pass.
    """
    if not report.passed:
        raise BeliefGraphRefused(persona.name, report)


class _Asking:
    """Many questions side by side; answers in the order of the questions."""

    def __init__(self, generate: Generate, answers: Answers, emit: Emit, name: str) -> None:
        self._generate = generate
        self._answers = answers
        self._emit = emit
        self._name = name

    async def one(self, request: Request, model: type[T]) -> T:
        return await self._answers.ask(self._generate, request, model)

    def step(self, step: str, done: int, of: int) -> None:
        """Say how far a step has come."""
        self._emit(PersonaStep(persona=self._name, step=step, done=done, of=of))

    async def all(self, requests: Sequence[Request], model: type[T], step: str) -> list[T | None]:
        """Ask all; None where a question got no usable answer: a passage is lost, not the build.

        When the money or the time runs out nothing more is asked; what is under way is paid for, so it is kept.
        """
        free = asyncio.Semaphore(_AT_ONCE)
        found: list[T | None] = [None] * len(requests)
        done = 0
        over: Exception | None = None

        async def ask(place: int, request: Request) -> None:
            nonlocal done, over
            async with free:
                if over is not None:
                    return
                try:
                    found[place] = await self.one(request, model)
                except OVER as fault:
                    over = over or fault
                    return
                except (CallError, StructuredOutputError):
                    found[place] = None
            done += 1
            self.step(step, done, len(requests))

        await gather(ask(place, request) for place, request in enumerate(requests))
        if over is not None:
            raise over
        return found


async def _contract(
    name: str,
    corpus: Corpus,
    handle: str,
    aliases: Sequence[str],
    asking: _Asking,
    models: ModelTable,
    seed: int,
) -> PersonaContract:
    done = 0

    async def ask(part: str, model: type[T]) -> T | LlmRuntimeError:
        nonlocal done
        try:
            answer = await asking.one(contract_request(part, name, corpus, models, seed), model)
        except LlmRuntimeError as fault:
            return fault  # raised once the other parts are there: they are under way and paid for
        done += 1
        asking.step("contract", done, CONTRACT_CALLS)
        return answer

    try:
        async with asyncio.TaskGroup() as group:
            prose = {part: group.create_task(ask(part, Prose)) for part in PROSE}
            flips = group.create_task(ask("flip", FlipAnswer))
            excerpts = group.create_task(ask("excerpts", ExcerptAnswer))
            voice = group.create_task(ask("voice", VoiceAnswer))
    except ExceptionGroup as faults:
        raise first_error(faults) from None
    told = {part: unquoted(" ".join(_had(task.result()).text.split()), corpus) for part, task in prose.items()}
    written = {part: text for part, (text, _) in told.items()}
    conditions, spoken = _had(flips.result()).conditions, _had(voice.result())
    anchors, lost = verbatim(_had(excerpts.result()).excerpts, corpus, _MOST_ANCHORS)
    examples, also_lost = verbatim(spoken.examples, corpus, _MOST_EXAMPLES)
    words, contractions = measured_voice(corpus)
    return PersonaContract(
        persona_id=slug(name),
        name=name,
        handle=handle,
        aliases=tuple(aliases),
        **written,
        flip_conditions=tuple(
            FlipCondition(id=f"F{place}", text=" ".join(text.split()))
            for place, text in enumerate(conditions, start=1)
            if text.strip()
        ),
        anchor_excerpts=tuple(anchors),
        voice=VoiceProfile(
            speech_patterns=tuple(spoken.speech_patterns),
            vocabulary=tuple(spoken.vocabulary),
            forbidden_phrases=tuple(spoken.forbidden_phrases),
            examples=tuple(examples),
            words_per_sentence=words,
            contractions_per_100_words=contractions,
        ),
        dropped_quotes=lost + also_lost + sum(count for _, count in told.values()),
        corpus_digest=corpus.digest,
    )


def _had(answer: T | LlmRuntimeError) -> T:
    if isinstance(answer, LlmRuntimeError):
        raise answer
    return answer


async def _graph(
    contract: PersonaContract,
    corpus: Corpus,
    asking: _Asking,
    models: ModelTable,
    seed: int,
    most_chunks: int,
    now: Callable[[], str],
) -> BeliefGraph:
    chunks = chosen_chunks(corpus, most_chunks)
    requests = [
        extraction_request(chunk, corpus.by_id[chunk.item], contract.name, models, seed) for chunk in chunks
    ]
    reads: list[Read] = []
    unquoted = unreadable = 0
    for chunk, answer in zip(chunks, await asking.all(requests, Relations, "beliefs"), strict=True):
        if answer is None:
            unreadable += 1
            continue
        found, lost = placed(answer, chunk, corpus.by_id[chunk.item])
        reads += found
        unquoted += lost
    concepts = Concepts([text for read in reads for text in (read.relation.cause, read.relation.effect)])
    named = len(concepts.names)
    merge_alike(concepts)
    await _merge_by_meaning(concepts, contract.persona_id, asking, models, seed)
    counts = BuildCounts(
        chunks=len(chunks),
        relations=len(reads),
        unquoted=unquoted,
        unreadable=unreadable,
        merged=named - len(concepts.names),
        vetoed=concepts.vetoed,
    )
    return build_graph(contract.persona_id, reads, concepts, now(), counts)


async def _merge_by_meaning(
    concepts: Concepts, persona: str, asking: _Asking, models: ModelTable, seed: int
) -> None:
    """Ask about neighbours, until a pass merges nothing; at most three passes."""
    for turn in range(_MERGE_PASSES):
        shown = batches(concepts)
        requests = [
            merge_request(batch, persona, models, seed, 1000 * turn + number)
            for number, batch in enumerate(shown, start=1)
        ]
        before = len(concepts.names)
        for batch, answer in zip(shown, await asking.all(requests, Groups, "merging"), strict=True):
            if answer is not None:
                apply(answer, batch, concepts)
        if len(concepts.names) == before or len(shown) < 2:
            return


@dataclass(frozen=True, slots=True)
class BuildCalls:
    """About how many calls a build will make: exact for contract and passages, a guess for merging."""

    contract: int
    passages: int
    merging: int

    @property
    def total(self) -> int:
        """All of them."""
        return self.contract + self.passages + self.merging


def build_calls(
    name: str,
    corpus: Corpus,
    answers: Answers | None = None,
    *,
    models: ModelTable | None = None,
    seed: int = 0,
    most_chunks: int = MOST_CHUNKS,
) -> BuildCalls:
    """Count what :func:`build_persona` with the same arguments would ask: what is on file is not asked again.

    Three beliefs a passage is what essays gave; merging looks at them in batches, and once more at what is left.
    """
    models, answers = models or ModelTable(), answers or Answers()
    name = check_name(name)
    chunks = chosen_chunks(corpus, most_chunks)
    parts = (contract_request(part, name, corpus, models, seed) for part in (*PROSE, "flip", "excerpts", "voice"))
    reads = (extraction_request(chunk, corpus.by_id[chunk.item], name, models, seed) for chunk in chunks)
    passages = sum(not answers.has(request) for request in reads)
    return BuildCalls(
        contract=sum(not answers.has(request) for request in parts),
        passages=passages,
        merging=2 * ceil(3 * len(chunks) / BATCH) if passages else 0,
    )


def chosen_chunks(corpus: Corpus, most: int) -> list[Chunk]:
    """Choose at most ``most`` passages, every text in turn; which of a text's depends on their content alone.

    So a new text changes the choice as little as can be, and answers that are kept stay useful.
    """
    if len(corpus.chunks) <= most:
        return list(corpus.chunks)
    ranked: list[tuple[int, str, Chunk]] = []
    by_item: dict[str, list[Chunk]] = {}
    for chunk in corpus.chunks:
        by_item.setdefault(chunk.item, []).append(chunk)
    for chunks in by_item.values():
        for rank, chunk in enumerate(sorted(chunks, key=lambda one: one.id)):
            ranked.append((rank, hashlib.sha256(chunk.id.encode()).hexdigest(), chunk))
    chosen = {chunk.id for _, _, chunk in sorted(ranked, key=lambda entry: entry[:2])[:most]}
    return [chunk for chunk in corpus.chunks if chunk.id in chosen]
