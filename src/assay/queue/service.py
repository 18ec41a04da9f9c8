"""A worker of the queue: takes entries, keeps alive what it holds, puts back what others lost, and drains."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from socket import gethostname
from typing import TypeVar

from assay import __version__
from assay.queue.carrying import Carrier, ending
from assay.queue.entry import BATCH, Entry, read_entry, served
from assay.queue.log import Say
from assay.queue.schedules import put_due
from assay.queue.tables import Taken, check_url, end, held, open_queue, put_back, queues, rescue, take
from assay.registry import run_types
from llm_runtime.errors import CallError, StoreBusy, StoreError, StoreUnwritable
from llm_runtime.http.shape import reason_of
from llm_runtime.settings import Settings, load_settings
from llm_runtime.store import open_store
from llm_runtime.store.database import Database
from llm_runtime.store.ownership import SILENT_S, Owner
from llm_runtime.structs import Struct

T = TypeVar("T")

#: Seconds between two looks at what is held and what waits.
LOOK_S = 1.0
#: Times that an entry is taken before it counts as failed: a provider may be away for an hour, and machines die.
ATTEMPTS = 20
#: Seconds before what may get better by itself is tried again; doubled each time up to the longest.
_FIRST_WAIT_S = 5.0
_LONGEST_WAIT_S = 300.0
_TAKEN_OVER = "this worker fell silent for a while, and another went on with the run; nothing needs to be done"


class Service(Struct):
    """What a worker is told.

    Args:
        store_url: ``postgresql://...``: of the queue and of the runs.
        say: takes lines of the log.
        at_once: entries at the same time, 1 or more.
        drain_s: seconds that what is under way has to finish once the worker is asked to stop; what is not done
            by then is put back, and another worker goes on with it.
        until_empty: whether to end where nothing is left to do.
        settings: reads the user's configuration.
        silent_s: seconds without a sign of life after which others take what it holds.
    """

    store_url: str
    say: Say
    at_once: int = 4
    drain_s: float = 30.0
    until_empty: bool = False
    settings: Callable[[], Settings] = load_settings
    silent_s: float = SILENT_S


async def serve(service: Service) -> None:
    """Carry out what comes, until SIGTERM or SIGINT; a database that is away for a while is waited for.

    Raises:
        ConfigurationError: the store is a file.
        StoreError: the store cannot be reached at the start.
    """
    check_url(service.store_url)
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        # It is refused while a worker of an older version writes in it: before that one's entries are moved.
        store = open_store(service.store_url, silent_s=service.silent_s)
        stack.callback(store.close)
        database = stack.enter_context(open_queue(service.store_url))
        name = store.owner.live()
        carrier = Carrier(service.store_url, store, database, name, service.settings, stack)
        stack.push_async_callback(carrier.leave)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        service.say("worker ready", worker=name, machine=gethostname(), version=__version__, at_once=service.at_once)
        await _Worker(service, carrier, database, store.owner).run(stopped)
        service.say("worker stopped", worker=name)


class _Worker:
    """Takes entries and has them carried out; what it holds names the owner of its store."""

    def __init__(self, service: Service, carrier: Carrier, database: Database, owner: Owner) -> None:
        self._service = service
        self._carrier = carrier
        self._database = database
        self._owner = owner
        self._running: dict[int, asyncio.Task[None]] = {}
        #: Of those, the ones that a person stopped.
        self._unwanted: set[int] = set()
        #: And those whose end is being entered: nobody interrupts that.
        self._entering: set[int] = set()
        self._left_alone: list[str] = []
        self._queues: list[str] = []

    async def run(self, stopped: asyncio.Event) -> None:
        stopping, due, now = asyncio.create_task(stopped.wait()), 0.0, asyncio.get_running_loop().time
        while not stopped.is_set():
            try:
                if now() >= due:
                    await self._look()
                    # Six looks tell that an owner is silent.
                    due = now() + self._owner.silent_s / 6
                await self._check()
                await self._take()
            except StoreError as fault:
                self._service.say("queue out of reach", error=f"{type(fault).__name__}: {reason_of(fault, 500)}")
            else:
                if self._service.until_empty and not self._running:
                    break
            waits = {stopping, *self._running.values()}
            await asyncio.wait(waits, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if self._running:
            await asyncio.wait(self._running.values(), timeout=self._service.drain_s)
        for task in self._at_work().values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _at_work(self) -> dict[int, asyncio.Task[None]]:
        kept = self._entering
        return {one: task for one, task in self._running.items() if one not in kept and not task.cancelling()}

    async def _take(self) -> None:
        free = self._service.at_once - len(self._running)
        if free > 0:
            for taken in await self._do(take, self._owner.name, self._queues, free):
                task = asyncio.create_task(self._carry_out(taken))
                self._running[taken.number] = task
                task.add_done_callback(lambda _, number=taken.number: self._running.pop(number, None))

    async def _check(self) -> None:
        """Stop what a person stopped, and what another has by now; put back what nobody here knows of."""
        mine = await self._do(held, self._owner.name)
        for number, task in self._at_work().items():
            if mine.get(number, True):
                self._unwanted |= {number} if number in mine else set()
                task.cancel()
        for number in mine.keys() - self._running.keys():
            # It ended, or was taken, while the database was away.
            await self._do(put_back, self._owner.name, number)

    async def _look(self) -> None:
        """Take in entries of older versions, rescue what others lost, put there what repeats."""
        service, database = self._service, self._database
        waiting = await self._do(queues)
        fitting = served(waiting)
        self._queues = sorted({*fitting, *served(f"{kind}@{__version__}" for kind in (*run_types(), BATCH))})
        others = [queue for queue in waiting if queue not in fitting]
        if others and others != self._left_alone:
            service.say("left to a newer worker", queues=others, version=__version__)
        self._left_alone = others
        await asyncio.to_thread(self._owner.bury)
        back, failed = await self._do(rescue, ATTEMPTS)
        for number in back:
            service.say("entry put back", entry=number, error="its worker fell silent")
        for number in failed:
            service.say("entry failed", entry=number, error="WorkerLost: so many workers fell silent over it")
        for run_id in await asyncio.to_thread(put_due, database):
            service.say("run scheduled", run=run_id)
        await self._carrier.beat()

    async def _carry_out(self, taken: Taken) -> None:
        """Carry out one entry, say how it went, and enter that; nothing is entered where another has it by now."""
        number, say = taken.number, self._service.say
        self._entering.discard(number)
        try:
            entry: Entry = read_entry(taken.data)
            say("run taken", entry=number, run=entry.run_id, kind=entry.kind, attempt=taken.attempts + 1)
            outcome = await self._carrier.carry(entry)
            # Where another has the run, it has not ended.
            if outcome is None or not isinstance(outcome.error, StoreBusy):
                say("run ended", entry=number, run=entry.run_id, kind=entry.kind, **ending(outcome))
            if outcome is not None and outcome.error is not None:
                raise outcome.error
        except asyncio.CancelledError:
            stopped = number in self._unwanted
            self._unwanted.discard(number)
            await (self._enter(end, number, "aborted") if stopped else self._enter(put_back, number))
        except Exception as error:
            await self._fail(taken, error)
        else:
            await self._enter(end, number, "done")

    async def _fail(self, taken: Taken, error: Exception) -> None:
        line = f"{type(error).__name__}: {reason_of(error, 500)}"
        if not passing(error) or taken.attempts + 1 >= ATTEMPTS:
            entered = await self._enter(end, taken.number, "failed", line)
        else:
            # Who waits for another that has the run has not tried.
            wait, tried = min(_FIRST_WAIT_S * 2**taken.attempts, _LONGEST_WAIT_S), not isinstance(error, StoreBusy)
            entered = await self._enter(put_back, taken.number, line, wait, int(tried))
        if entered:
            self._service.say("entry failed", entry=taken.number, error=line)

    async def _enter(self, what: Callable[..., bool], number: int, *values: object) -> bool:
        """Enter how an entry ended; return false where another worker has it by now, and say that."""
        self._entering.add(number)
        with suppress(StoreError):
            if not await self._do(what, self._owner.name, number, *values):
                self._service.say("entry taken over", entry=number, note=_TAKEN_OVER)
                return False
        return True

    async def _do(self, what: Callable[..., T], *values: object) -> T:
        return await asyncio.to_thread(what, self._database, *values)


def passing(error: BaseException) -> bool:
    """Tell whether an error may be gone when the entry is taken again: of a provider, a store, the machine."""
    if isinstance(error, CallError):
        return error.retryable
    return isinstance(error, StoreBusy | StoreUnwritable | OSError)
