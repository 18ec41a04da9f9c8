"""Performing a job: as a recorded run of its kind, with the answers that earlier attempts were given."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeAlias

from pydantic import BaseModel

from assay.batch.at_vendors import keep, vendor_batches
from assay.batch.configurations import run_of, terms_of
from assay.batch.jobs import seed_of
from assay.batch.ledger import Batch, Claim, Ledger
from assay.batch.metering import CURRENT, Meter, MeteredGateway, SharedRows
from assay.batch.pacing import Pace
from assay.batch.write_queue import JOBS
from assay.launch import Launcher, PerRun, first_event
from assay.launch.behaviours import engines, names_of, numbered, of_log
from assay.launch.execution import beside_panel, needs_of
from assay.registry import Prepared, opened
from assay.terms import Terms
from llm_runtime.errors import BudgetExceeded, CallError, ConfigurationError, DeadlineExceeded, RunNotFound, StoreError
from llm_runtime.events import CallFailed, CallFinished, CallStarted, Event, RunFinished
from llm_runtime.providers.batches import BatchedHttp
from llm_runtime.replay import Recording
from llm_runtime.settings import Settings, load_settings
from llm_runtime.shared import Shared
from llm_runtime.store import RunStore, open_store
from llm_runtime.structs import Struct
from llm_runtime.wrappers.accounts import NOTHING, Caps, Spend, spent_before


class JobResult(Struct):
    """What came of a job: its result as JSON, the run it was, and what all its runs took."""

    result: str
    run_id: str = ""
    spent: Spend = NOTHING


class CallsFailed(Exception):
    """A job came to nothing after calls of it had failed: its other answers are of use to the next attempt.

    Args:
        error: what the protocol said.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


#: What a worker knows what to do about.
_SPEAKS_FOR_ITSELF = (CallError, BudgetExceeded, DeadlineExceeded, StoreError, ConfigurationError)


class WorkerContext(Struct):
    """What a worker offers to whoever runs its jobs."""

    batch: Batch
    ledger: Ledger
    store_url: str
    rows: SharedRows
    pace: Pace


class JobRunner(Protocol):
    """Does one job. What it raises is the job's failure; a :class:`CallsFailed` keeps the job's answers."""

    async def __call__(self, claim: Claim) -> JobResult: ...


AsBegun: TypeAlias = dict[int, tuple[BaseModel, dict[str, int]]]
"""By place in the grid: options and numbers of behaviours, as those have them that were begun."""
MakeRunner: TypeAlias = Callable[[WorkerContext], AbstractAsyncContextManager[JobRunner]]


@asynccontextmanager
async def recorded_runs(
    context: WorkerContext, configured: Callable[[], Settings] = load_settings
) -> AsyncGenerator[JobRunner]:
    """Make each job a run in the store, with one metered gateway for each set of models."""
    batch, settings = context.batch, configured()
    purse = await context.rows.open(batch.batch_id)
    meter = Meter(context.rows, batch.batch_id, purse.caps, pace=context.pace)
    store = open_store(context.store_url)
    try:
        async with AsyncExitStack() as stack:
            # A worker's settings are read once: what each job would read anew is the same.
            launcher = Launcher(store, lambda: settings)
            over_batches = batch.work.get("provider_batch")
            shared = Shared(await _over_batches(context, stack)) if over_batches else launcher.shared
            gateways = Gateways(settings, meter, stack, shared)
            as_begun = await _as_begun(context, store)

            async def run_job(claim: Claim) -> JobResult:
                with meter.line.job(claim):
                    return await _run(claim, batch, launcher, gateways, as_begun)

            yield run_job
    finally:
        store.close()


async def _over_batches(context: WorkerContext, stack: AsyncExitStack) -> BatchedHttp:
    """Return a way to models by the batches of vendors; they are ended where ours was cancelled meanwhile."""
    batch_id, rows, ledger = context.batch.batch_id, context.rows, context.ledger

    def whose() -> str:
        claim = CURRENT.get()
        return f"{batch_id} {claim.job_id if claim else ''}"

    http = BatchedHttp(
        lambda: rows.queue.do(partial(vendor_batches, ledger.database, batch_id), JOBS),
        lambda sent: rows.queue.do(partial(keep, ledger.database, batch_id, sent), JOBS),
        whose,
        context.batch.work["gather"],
    )

    async def ended() -> None:
        if (await rows.queue.do(lambda: ledger.batch(batch_id), JOBS)).state == "cancelled":
            await http.cancel()
        await http.aclose()

    stack.push_async_callback(ended)
    return http


@dataclass(eq=False, repr=False)
class Gateways:
    """One for each set of models, so that their connections and places in flight are shared by jobs."""

    settings: Settings
    meter: Meter
    stack: AsyncExitStack
    shared: Shared
    followed: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        self.meter.alerts.url = self.settings.config.budget_webhook or ""
        self.stack.push_async_callback(self.meter.alerts.aclose)
        self._made: dict[tuple[object, ...], MeteredGateway] = {}

    def under(self, terms: Terms, run: Prepared) -> MeteredGateway:
        named, needs = run.hooks.panel(run.options), needs_of(run.run.name, terms, run)
        key = (terms.model, terms.max_tokens, terms.effort, named, needs, *sorted(terms.seats.items()))
        if key not in self._made:
            settings = terms.settings(beside_panel(self.settings, run.run, run.options))
            self._made[key] = MeteredGateway(
                settings, self.meter, named=named, followed=self.followed, needs=needs, shared=self.shared
            )
        return self._made[key]


async def _as_begun(context: WorkerContext, store: RunStore) -> AsBegun:
    """Look how the jobs were carried out that a release without numbers began: the others go the same way.

    Raises:
        ConfigurationError: the batch names a behaviour that this release does not know.
    """
    found: AsBegun = {}
    batch, known = context.batch, engines(context.batch.protocol)
    for place, data in enumerate(batch.configurations):
        if data.get("behaviours"):
            numbered(f"batch {batch.batch_id}", data["behaviours"], known)
            continue
        for job_id, fence in await context.rows.queue.do(partial(context.ledger.begun, batch.batch_id, place), JOBS):
            with suppress(RunNotFound, ConfigurationError):
                events = [event for _, event in store.events(run_id_of(batch, job_id, fence))]
                run = opened(first_event(events))
                found[place] = run.options, names_of(await of_log(run, events))
                break
    return found


async def _run(claim: Claim, batch: Batch, launcher: Launcher, gateways: Gateways, as_begun: AsBegun) -> JobResult:
    configuration = batch.configurations[claim.configuration]
    terms, store = terms_of(configuration), launcher.store
    answers = Recording.from_events(_of_use(claim, batch, store))
    counted = claim.fence > 1 and terms.caps != Caps()
    run, behaviours = run_of(batch.protocol, claim.task, configuration), configuration.get("behaviours")
    earlier, others = list(_earlier(claim, batch, store)), as_begun.get(claim.configuration)
    if others is not None and not any(isinstance(event, CallFinished) for event in earlier):
        run, behaviours = replace(run, options=others[0]), others[1]
    elif earlier:
        # What an earlier claim began is gone on with as it began, whatever release began it.
        run = opened(first_event(earlier))
        behaviours = names_of(await of_log(run, earlier))
    gateway = gateways.under(terms, run)
    running = await launcher.start(
        run,
        terms,
        seed=seed_of(claim.job_id),
        run_id=run_id_of(batch, claim.job_id, claim.fence),
        answers=answers,
        before=spent_before(earlier) if counted else None,
        behaviours=behaviours,
        model=PerRun(gateway.under, gateway.who),
    )
    outcome = await running.outcome()
    if outcome.error is not None:
        if isinstance(outcome.error, _SPEAKS_FOR_ITSELF) or not _has_failed_calls(store, outcome.run_id):
            raise outcome.error
        raise CallsFailed(outcome.error)
    return JobResult(json.dumps(outcome.result), outcome.run_id, _spent(claim, batch, store))


def run_id_of(batch: Batch, job_id: str, fence: int) -> str:
    """Return the id of a job's run under one claim; each has its own, so that no two ever write one log."""
    return f"{batch.tag}-{job_id[:20]}-{fence}"


def _earlier(claim: Claim, batch: Batch, store: RunStore) -> Iterator[Event]:
    """Yield what earlier claims of the job recorded: the answers there are paid for."""
    for fence in range(1, claim.fence):
        with suppress(RunNotFound):
            yield from (event for _, event in store.events(run_id_of(batch, claim.job_id, fence)))


def _of_use(claim: Claim, batch: Batch, store: RunStore) -> Iterator[Event]:
    """Yield what earlier claims recorded, but for the step in which one came to nothing by what was answered: the
    answers before it are as good as ever."""
    for fence in range(claim.fresh_from + 1, claim.fence):
        with suppress(RunNotFound):
            events = [event for _, event in store.events(run_id_of(batch, claim.job_id, fence))]
            yield from _without_last_step(events) if _failed_by_answers(events) else events


def _failed_by_answers(events: Sequence[Event]) -> bool:
    ended = events and events[-1]
    failed = isinstance(ended, RunFinished) and ended.state == "failed"
    return failed and not any(isinstance(event, CallFailed) and not event.replayed for event in events)


def _without_last_step(events: Sequence[Event]) -> Iterator[Event]:
    labels = {(one.digest, one.occurrence): one.request["label"] for one in events if isinstance(one, CallStarted)}
    steps = {key: (label.get("phase"), label.get("round")) for key, label in labels.items()}
    answered = [event for event in events if isinstance(event, CallFinished)]
    last = [steps.get((event.digest, event.occurrence)) for event in answered[-1:]]
    for event in events:
        if not isinstance(event, CallFinished) or steps.get((event.digest, event.occurrence)) not in last:
            yield event


def _has_failed_calls(store: RunStore, run_id: str) -> bool:
    return any(isinstance(event, CallFailed) and not event.replayed for _, event in store.events(run_id))


def _spent(claim: Claim, batch: Batch, store: RunStore) -> Spend:
    """Return what a job's runs took together, those of earlier claims included."""
    spent = NOTHING
    for fence in range(1, claim.fence + 1):
        with suppress(RunNotFound):
            run = store.summary(run_id_of(batch, claim.job_id, fence))
            spent = spent.plus(Spend(run.cost, run.input_tokens + run.output_tokens, run.calls))
    return spent
