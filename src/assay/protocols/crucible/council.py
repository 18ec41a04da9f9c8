"""Holding a council: the engine in the middle, what stands around it, and the ledger when it has answered."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from assay.hooks import Data
from assay.protocol import RunContext
from assay.protocols.crucible.purposes import form_of
from assay.protocols.crucible.task import Options, Task
from assay.registry import prepared, read_run
from assay.terms import Terms
from crucible import Council, Crucible
from crucible.config import DeltaStrategy
from crucible.events import LedgerWritten, Triaged
from crucible.executor.delta import TextSimilarityDeltaStrategy
from crucible.letters import Lettering
from crucible.material import check_window, manifest
from crucible.prose.around import formed, grounded, lettered, unmarked
from crucible.prose.clerk import write_ledger
from crucible.prose.entries import attacks
from crucible.prose.judging import ConclusionsJudge
from crucible.prose.shortening import shortening
from crucible.transcript import CouncilTranscript
from llm_runtime.events import Event, silent
from llm_runtime.messages import Generate


async def hold(question: str, generate: Generate, seed: int, **options: Any) -> str:
    """Hold the council that ``ask`` holds, for whoever has a question and a model but no run; return its answer.

    Raises:
        LlmRuntimeError: whatever ends a council.
    """
    council = prepared(read_run("crucible.council", {"query": question}, options))
    context = RunContext("", seed, generate, silent, lambda: 0, Terms())
    return str((await council.hooks.run(council.task, council.options, context))["final_response"])


async def run(task: Task, options: Options, context: RunContext) -> Data:
    """Put the question to a council; the result is ``ExecutorResult`` as data, with the ledger where one is wanted.

    Raises:
        ConfigurationError: the attachments do not fit the smallest window; no call was made.
        LlmRuntimeError: whatever ends a council.
    """
    if task.dossier:
        check_window(task.dossier, await context.window())
    seed = context.seed
    if options.form == "records":
        return await _of_records(task, options, context)
    state, seats = CouncilTranscript(), Lettering(seed)

    def emit(event: Event) -> Awaitable[None] | None:
        state.apply(event)
        if isinstance(event, Triaged) and options.letters:
            drawn = Lettering.of(state.labels, state.grammar, seed)
            seats.names, seats.drawn = drawn.names, drawn.drawn
        return context.emit(event)

    generate = shortening(unmarked(context.generate), emit)
    generate = grounded(generate, task.dossier, seed, task.earlier)
    generate = lettered(formed(generate, form_of(task.purpose).response), seats)
    strategies: dict[str, DeltaStrategy | None] = {
        "conclusions": ConclusionsJudge(context.generate, context.emit, seed),
        "similarity": TextSimilarityDeltaStrategy(),
    }
    async with Crucible(options.config(generate, strategies.get(options.delta)), emit=emit, seed=seed) as engine:
        result = (await engine.run(task.query, _for_triage(task))).model_dump(mode="json")
    if options.ledger == "off":
        return result
    ledger = await write_ledger(context.generate, attacks(state, seats.names), seed, options.ledger_budget)
    data = ledger.model_dump(mode="json", exclude_defaults=True)
    context.emit(LedgerWritten(ledger=data))
    return {**result, "ledger": {"objections": [], **data}}


async def _of_records(task: Task, options: Options, context: RunContext) -> Data:
    form, review = form_of(task.purpose), task.purpose == "review"
    told = {**(task.context or {}), **({"purpose": form.triage} if form.triage else {})}
    async with Council(options.config(context.generate, None), emit=context.emit, seed=context.seed) as council:
        result = await council.run(
            task.query,
            material=task.dossier,
            earlier=task.earlier,
            challenge=task.challenge,
            form="" if review else form.response,
            kind="review" if review else "answer",
            route=options.route,
            context=told or None,
        )
    return result.model_dump(mode="json")


def _for_triage(task: Task) -> Data | None:
    """Return what triage is told beside the question: the user's context, names of attachments, the purpose."""
    merged = dict(task.context or {})
    if task.dossier:
        merged["attachments"] = manifest(task.dossier)
        merged["about_attachments"] = "Every seat, the red team and the synthesis are shown them whole; you see names."
    if words := form_of(task.purpose).triage:
        merged["purpose"] = words
    if task.earlier:
        merged["follows"] = task.earlier[:4_000]
    return merged or None
