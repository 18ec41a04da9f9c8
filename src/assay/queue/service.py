"""A worker of the queue: takes entries, keeps alive what it holds, puts back what others lost, and drains."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay import __version__
from assay.batch.worker import new_owner
from assay.queue.carrying import Carrier, ending
from assay.queue.entry import Entry, batch_entry, read_entry, served
from assay.queue.log import Say
from assay.queue.schedules import put_due
from assay.queue.tables import TASK, check_url, due, note, open_app, open_queue, queues, rescue
from assay.registry import run_types
from llm_runtime.errors import CallError, StoreBusy, StoreError, StoreUnwritable
from llm_runtime.settings import Settings, load_settings
from llm_runtime.store import open_store

if TYPE_CHECKING:
    from procrastinate.job_context import JobContext
    from procrastinate.worker import Worker

    from assay.batch.database import Database

#: Seconds between two signs of life, after which silence counts as death, and between two looks at the queue.
BEAT_S = 5.0
SILENT_S = 30.0
LOOK_S = 1.0
#: Times that an entry is taken before it counts as failed: a provider may be away for an hour, and machines die.
ATTEMPTS = 20
#: Seconds before what may get better by itself is tried again; doubled each time up to the longest.
_FIRST_WAIT_S = 5.0
_LONGEST_WAIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Service:
    """What a worker is told.

    Args:
        store_url: ``postgresql://...``: of the queue and of the runs.
        say: takes lines of the log.
        at_once: entries at the same time, 1 or more.
        drain_s: seconds that what is under way has to finish once the worker is asked to stop; what is not done
            by then is put back, and another worker goes on with it.
        until_empty: whether to end where nothing is left to do.
        settings: reads the user's configuration.
        beat_s, silent_s: see above; all workers of a queue should have the same.
    """

    store_url: str
    say: Say
    at_once: int = 4
    drain_s: float = 30.0
    until_empty: bool = False
    settings: Callable[[], Settings] = load_settings
    beat_s: float = BEAT_S
    silent_s: float = SILENT_S


async def serve(service: Service) -> None:
    """Carry out what comes, until SIGTERM or SIGINT; a database that is away for a while is waited for.

    Raises:
        ConfigurationError: the store is a file.
        MissingExtraError: procrastinate is not installed.
        StoreError: the store cannot be reached at the start.
    """
    check_url(service.store_url)
    # What went wrong with an entry is said here, in one line, and kept with it.
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    stopped = asyncio.Event()
    async with AsyncExitStack() as stack:
        database = stack.enter_context(open_queue(service.store_url))
        store = open_store(service.store_url)
        stack.callback(store.close)
        owner = new_owner()
        carrier = Carrier(service.store_url, store, database, owner, service.settings, stack)
        stack.push_async_callback(carrier.leave)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        service.say("worker ready", worker=owner, version=__version__, at_once=service.at_once)
        while not stopped.is_set():
            if await _served_once(service, carrier, database, stopped):
                break
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await stopped.wait()
        service.say("worker stopped", worker=owner)


async def _served_once(service: Service, carrier: Carrier, database: Database, stopped: asyncio.Event) -> bool:
    """Work with one connection to the queue until it breaks, or the worker is to end; true for the latter."""
    from procrastinate.exceptions import ConnectorException

    try:
        app = open_app(service.store_url)
        async with app.open_async():
            worker = _worker(service, app, carrier, database)
            keeping = asyncio.create_task(_keep(service, worker, carrier, database, stopped))
            try:
                await worker.run()
            finally:
                keeping.cancel()
                await asyncio.wait([keeping])
            # The library stops by itself where its connection is gone.
            return stopped.is_set()
    except (ConnectorException, StoreError) as fault:
        service.say("queue out of reach", error=f"{type(fault).__name__}: {_one_line(fault)}")
        return False


def _worker(service: Service, app: Any, carrier: Carrier, database: Database) -> Worker:
    from procrastinate.worker import Worker

    async def carry_out(context: JobContext, **data: Any) -> None:
        await _carry_out(service, carrier, database, context, data.get("entry"))

    app.task(carry_out, name=TASK, pass_context=True, retry=_retry())
    return Worker(
        app,
        queues=served(_own_queues()),
        concurrency=service.at_once,
        fetch_job_polling_interval=LOOK_S,
        abort_job_polling_interval=LOOK_S,
        shutdown_graceful_timeout=service.drain_s,
        install_signal_handlers=False,
        update_heartbeat_interval=service.beat_s,
        stalled_worker_timeout=service.silent_s,
    )


def _own_queues() -> list[str]:
    return [
        *(f"{kind}@{__version__}" for kind in run_types()),
        batch_entry("", "").queue,
    ]


async def _carry_out(
    service: Service, carrier: Carrier, database: Database, context: JobContext, data: object
) -> None:
    """Carry out one entry, and say how it went."""
    from procrastinate.exceptions import JobAborted
    from procrastinate.job_context import AbortReason

    number = context.job.id or 0
    try:
        entry: Entry = read_entry(data)
        service.say("run taken", entry=number, run=entry.run_id, kind=entry.kind, attempt=context.job.attempts + 1)
        outcome = await carrier.carry(entry)
        service.say("run ended", entry=number, run=entry.run_id, kind=entry.kind, **ending(outcome))
        if outcome is not None and outcome.error is not None:
            raise outcome.error
    except asyncio.CancelledError:
        if context.abort_reason() == AbortReason.USER_REQUEST:
            raise JobAborted("cancelled by a person") from None
        raise
    except Exception as error:
        line = f"{type(error).__name__}: {_one_line(error)}"
        service.say("entry failed", entry=number, error=line)
        with suppress(StoreError):
            await asyncio.to_thread(note, database, number, line)
        raise


def _retry() -> Any:
    from procrastinate.retry import BaseRetryStrategy, RetryDecision

    class Retrying(BaseRetryStrategy):
        def get_retry_decision(self, *, exception: BaseException, job: Any) -> RetryDecision | None:
            if isinstance(exception, asyncio.CancelledError):
                # The worker is asked to stop: whoever is there goes on at once.
                return RetryDecision(retry_in={"seconds": 0})
            if not passing(exception) or job.attempts + 1 >= ATTEMPTS:
                return None
            return RetryDecision(retry_in={"seconds": min(_FIRST_WAIT_S * 2**job.attempts, _LONGEST_WAIT_S)})

    return Retrying()


def passing(error: BaseException) -> bool:
    """Tell whether an error may be gone when the entry is taken again: of a provider, a store, the machine."""
    if isinstance(error, CallError):
        return error.retryable
    return isinstance(error, StoreBusy | StoreUnwritable | OSError)


async def _keep(
    service: Service, worker: Worker, carrier: Carrier, database: Database, stopped: asyncio.Event
) -> None:
    """Beside the work: notice that it is to stop, and look at the queue; a database that is away ends nothing."""
    left_alone: list[str] = []
    looks = empty = 0
    while not stopped.is_set():
        try:
            if looks % max(1, round(service.beat_s / LOOK_S)) == 0:
                left_alone = await _look(service, worker, carrier, database, left_alone)
            if service.until_empty:
                taken = [*(worker.queues or ())]
                idle = not carrier.under_way and not await asyncio.to_thread(due, database, taken)
                # Seen twice: what has just been taken is neither due nor under way.
                empty = empty + 1 if idle else 0
                if empty > 1:
                    stopped.set()
        except StoreError as fault:
            service.say("queue out of reach", error=f"{type(fault).__name__}: {_one_line(fault)}")
        looks += 1
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                await stopped.wait()
    worker.stop()


async def _look(
    service: Service, worker: Worker, carrier: Carrier, database: Database, left_alone: list[str]
) -> list[str]:
    """Take in entries of older versions, rescue what others lost, put there what repeats; return what is left to
    newer workers, said once."""
    waiting = await asyncio.to_thread(queues, database)
    fitting = served(waiting)
    worker.queues = sorted({*fitting, *served(_own_queues())})
    others = [queue for queue in waiting if queue not in fitting]
    if others and others != left_alone:
        service.say("left to a newer worker", queues=others, version=__version__)
    back, failed = await asyncio.to_thread(rescue, database, service.silent_s, ATTEMPTS)
    for number in back:
        service.say("entry put back", entry=number, error="its worker fell silent")
    for number in failed:
        service.say("entry failed", entry=number, error="WorkerLost: so many workers fell silent over it")
    for run_id in await asyncio.to_thread(put_due, database):
        service.say("run scheduled", run=run_id)
    await carrier.beat()
    return others


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:500]
