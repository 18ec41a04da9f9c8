"""Performing a job: as a recorded run of its protocol, with the answers that earlier attempts were given."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from assay import __version__, launch
from assay.batch.buckets import Buckets
from assay.batch.desk import PURSES, Desk
from assay.batch.jobs import seed_of
from assay.batch.ledger import Batch, Claim
from assay.batch.metering import Meter, MeteredGateway
from assay.batch.purses import Purses
from llm_runtime.errors import RunNotFound
from llm_runtime.events import Event, RunStarted
from llm_runtime.replay import Recording
from llm_runtime.settings import Settings, load_settings, merged
from llm_runtime.store import RunStore, open_store

#: The fields of a task that say what it is about, whatever its protocol, the most telling first.
_TITLES = ("query", "topic", "puzzle", "user", "application", "system")


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a job: its result as JSON, the run it was, and micro-dollars."""

    result: str
    run_id: str = ""
    cost: int = 0


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a worker offers to whoever performs its jobs."""

    batch: Batch
    store_url: str
    desk: Desk
    purses: Purses
    buckets: Buckets


class Perform(Protocol):
    """Does one job. What it raises is the job's failure."""

    async def __call__(self, claim: Claim) -> Done: ...


Performer: TypeAlias = Callable[[Workplace], AbstractAsyncContextManager[Perform]]


@asynccontextmanager
async def recorded_runs(place: Workplace) -> AsyncGenerator[Perform]:
    """Jobs as runs in the store, with one metered gateway for each set of models."""
    store = open_store(place.store_url)
    settings = load_settings()
    caps = (await place.desk.do(lambda: place.purses.read(place.batch.batch_id), PURSES)).caps
    meter = Meter(place.desk, place.batch.batch_id, caps, place.purses, place.buckets)
    gateways: dict[tuple[Any, ...], MeteredGateway] = {}
    try:
        async with AsyncExitStack() as stack:

            async def perform(claim: Claim) -> Done:
                configuration = place.batch.configurations[claim.configuration]
                key = (configuration["model"], configuration["max_tokens"])
                if key not in gateways:
                    gateway = MeteredGateway(settings_for(settings, configuration), meter)
                    gateways[key] = gateway
                    stack.push_async_callback(gateway.aclose)
                return await _run(claim, configuration, place.batch, store, gateways[key])

            yield perform
    finally:
        store.close()


def settings_for(settings: Settings, configuration: Mapping[str, Any]) -> Settings:
    """The user's settings with the models of one configuration laid over them."""
    return merged(settings, model=configuration["model"], max_tokens=configuration["max_tokens"])


async def _run(
    claim: Claim, configuration: Mapping[str, Any], batch: Batch, store: RunStore, gateway: MeteredGateway
) -> Done:
    started = opening(claim, configuration, batch, gateway.settings)
    recorded = Recording.from_events(_earlier(claim, batch, store))
    outcome = await launch.start(started, store, gateway.settings, model=gateway.generate, recorded=recorded)
    if outcome.error is not None:
        raise outcome.error
    cost = store.summary(outcome.run_id).cost
    return Done(json.dumps(outcome.result), outcome.run_id, cost)


def opening(claim: Claim, configuration: Mapping[str, Any], batch: Batch, settings: Settings) -> RunStarted:
    """The first event of a job's run."""
    config = settings.config
    return RunStarted(
        run_id=run_id_of(batch, claim.job_id, claim.fence),
        protocol=batch.protocol,
        title=_title(claim.task),
        task=claim.task,
        settings={
            **{name: value for name, value in configuration.items() if name not in ("model", "max_tokens")},
            "models": {"model": config.model, "seats": config.seats},
        },
        seed=seed_of(claim.job_id),
        version=__version__,
    )


def run_id_of(batch: Batch, job_id: str, fence: int) -> str:
    """The id of a job's run under one claim. Each claim has a run of its own, so that no two ever write one log."""
    return f"{batch.tag}-{job_id[:20]}-{fence}"


def _earlier(claim: Claim, batch: Batch, store: RunStore) -> Iterator[Event]:
    """What earlier claims of the job recorded: the answers there are paid for."""
    for fence in range(claim.fresh_from + 1, claim.fence):
        with suppress(RunNotFound):
            yield from (event for _, event in store.events(run_id_of(batch, claim.job_id, fence)))


def _title(task: Mapping[str, Any]) -> str:
    text = next((task[name] for name in _TITLES if isinstance(task.get(name), str)), "")
    return " ".join(text.split())[:200]
