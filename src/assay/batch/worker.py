"""A worker: claims jobs, performs so many at once, enters what came of them, and takes over what others lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import TypeVar

from assay.batch.database import open_database
from assay.batch.jobfile import Work
from assay.batch.ledger import Claim, Ledger
from assay.batch.metering import CURRENT, BatchBudgetExceeded, JobLost, SharedRows
from assay.batch.pacing import pace_of
from assay.batch.performing import CallsFailed, JobRunner, MakeRunner, WorkerContext, recorded_runs
from assay.batch.write_queue import BUCKETS, JOBS
from llm_runtime.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    CallError,
    DeadlineExceeded,
    MissingExtraError,
    NoModelError,
    PaymentRequired,
    StoreError,
    UnknownPrice,
)
from llm_runtime.store.ownership import Owner
from llm_runtime.tasks import first_error

T = TypeVar("T")

#: What ends the batch rather than the job: the next job would meet it too.
ENDS_ALL = (BatchBudgetExceeded, UnknownPrice, AuthenticationFailed, PaymentRequired, NoModelError, MissingExtraError)
#: A job's own bounds: what is left of them does not grow by trying again.
_ENDS_JOB = (BudgetExceeded, DeadlineExceeded)
#: First and longest pause between two looks for work, in seconds; it doubles while there is none.
_FIRST_LOOK_S = 0.01
_LOOK_S = 1.0
#: Longest pause between two looks at what it holds, in seconds: so quickly a cancelled batch stops, too.
_BEAT_S = 2.0
#: Microseconds before a job is taken up again that a provider's outage kept from its end, and how often that is no
#: failure: an input that puts the provider out of order must end somewhere.
_OUTAGE_US = 10_000_000
_MOST_WAITS = 100


@dataclass(slots=True)
class WorkerCounts:
    """What one worker did: jobs finished and failed, and results that came too late."""

    done: int = 0
    failed: int = 0
    refused: int = 0


class Worker:
    """One worker of one batch; :meth:`run` returns when nothing is left to do.

    Args:
        context: what is worked on, and where the rows of it are.
        run_job: does a job.
        owner: holds the jobs.
    """

    def __init__(self, context: WorkerContext, run_job: JobRunner, owner: Owner) -> None:
        self.batch, self.ledger, self.owner = context.batch, context.ledger, owner
        self.queue, self.purses, self.buckets = context.rows.queue, context.rows.purses, context.rows.buckets
        self.pace = context.pace
        self.run_job = run_job
        self.tally = WorkerCounts()
        self._work = Work.model_validate(self.batch.work)
        self._running: dict[asyncio.Task[None], Claim] = {}
        self._changed = asyncio.Event()

    async def run(self) -> WorkerCounts:
        """Work until all jobs are over, or the batch was stopped.

        Raises:
            StoreError: the store cannot be reached. What was held is another's when this owner is gone.
        """
        try:
            self.owner.live()
            await self._look()
            async with asyncio.TaskGroup() as group:
                looking = group.create_task(self._keep())
                await self._serve(group)
                looking.cancel()
        except* StoreError as errors:
            raise first_error(errors) from None
        finally:
            if not self.queue.broken:
                await asyncio.shield(self._leave())
        return self.tally

    async def _serve(self, group: asyncio.TaskGroup) -> None:
        look = _FIRST_LOOK_S
        while True:
            self._changed.clear()
            claims = await self._claim()
            for claim in claims:
                task = group.create_task(self._job(claim))
                self._running[task] = claim
                task.add_done_callback(self._over)
            if claims:
                look = _FIRST_LOOK_S
                continue
            pause = look = min(2 * look, _LOOK_S)
            if not self._running:
                state, wait_us = await self._do(lambda: self.ledger.state(self.batch.batch_id))
                if state != "open" or wait_us is None:
                    return
                pause = min(pause, max(wait_us / 1_000_000, _FIRST_LOOK_S))
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._changed.wait()

    async def _claim(self) -> list[Claim]:
        free = self._work.in_flight - len(self._running)
        if free <= 0:
            await self._changed.wait()
            return await self._claim()
        batch_id, owner = self.batch.batch_id, self.owner.name

        def claim() -> list[Claim]:
            count = free
            if (purse := self.purses.read(batch_id)).left:
                count = self.pace.more(purse, self.ledger.running(batch_id), free)
            return self.ledger.claim(batch_id, owner, count) if count else []

        return await self._do(claim)

    async def _job(self, claim: Claim) -> None:
        CURRENT.set(claim)
        try:
            done = await self.run_job(claim)
        except StoreError:
            raise
        except JobLost:
            self.tally.refused += 1
        except ENDS_ALL as error:
            reason = f"{type(error).__name__}: {error}"
            await self._do(lambda: self.ledger.stop(claim, reason))
        except CallsFailed as failure:
            await self._fail(claim, failure.error, fresh=False, called=True)
        except Exception as error:
            # Where the step in which it failed was asked anew in vain, the fault may lie in an earlier answer.
            in_vain = claim.failures > 0 and not isinstance(error, (CallError, *_ENDS_JOB))
            await self._fail(claim, error, fresh=in_vain)
        else:
            if await self._do(lambda: self.ledger.finish(claim, done.result, done.run_id, done.spent.cost)):
                self.tally.done += 1
                self.pace.ended(done.spent)
            else:
                self.tally.refused += 1

    async def _fail(self, claim: Claim, error: Exception, *, fresh: bool, called: bool = False) -> None:
        attempts = 1 if isinstance(error, _ENDS_JOB) else self._work.attempts
        message = "".join(sign if sign.isprintable() else " " for sign in str(error))[:1000]
        delay, kind = us(self._work.retry_delay), type(error).__name__
        by_calls = isinstance(error, CallError) or called
        if by_calls and claim.fence < _MOST_WAITS and await self.queue.do(self.buckets.outage, BUCKETS):
            await self._do(lambda: self.ledger.postpone(claim, kind, message, max(delay, _OUTAGE_US)))
            return
        await self._do(lambda: self.ledger.fail(claim, kind, message, attempts, delay, fresh=fresh))
        self.tally.failed += 1

    async def _look(self) -> None:
        """Put back what others lost, and let it go first."""
        batch_id, attempts = self.batch.batch_id, self._work.attempts
        await asyncio.to_thread(self.owner.bury)
        await self._do(lambda: self.ledger.rescue(batch_id, attempts))
        await self._do(lambda: self.ledger.line_up(batch_id))

    async def _keep(self) -> None:
        batch_id, owner = self.batch.batch_id, self.owner.name
        strays: set[tuple[str, int]] = set()
        while True:
            await asyncio.sleep(min(self._work.lease / 6, _BEAT_S))
            before = list(self._running.items())
            state, held = await self._do(lambda: self.ledger.held(batch_id, owner))
            await self._look()
            await self.queue.do(self.buckets.renew, BUCKETS)
            for task, claim in before:
                # A batch that stopped for its budget lets what is paid for come to its end.
                if state == "cancelled" or (claim.job_id, claim.fence) not in held:
                    task.cancel()
            # A claim whose commit was never heard of is held by nobody here; seen twice, it is no newcomer.
            unknown = held - {(claim.job_id, claim.fence) for claim in self._running.values()}
            if lost := unknown & strays:
                await self._do(lambda lost=lost: self.ledger.put_back(batch_id, owner, lost))
            strays = unknown

    async def _leave(self) -> None:
        await self._do(lambda: self.ledger.put_back(self.batch.batch_id, self.owner.name))
        await self.queue.do(self.buckets.leave, BUCKETS)

    async def _do(self, statement: Callable[[], T]) -> T:
        return await self.queue.do(statement, JOBS)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._changed.set()


def us(seconds: float) -> int:
    """Return whole microseconds."""
    return round(seconds * 1_000_000)


async def work(store_url: str, batch_id: str, make_runner: MakeRunner = recorded_runs) -> WorkerCounts:
    """Work off a batch from this event loop, with connections of its own.

    Args:
        store_url: of the run store.
        batch_id: a batch whose jobs are entered.
        make_runner: does the jobs.

    Raises:
        StoreError: the store cannot be reached.
    """
    database = open_database(store_url)
    ledger, owner = Ledger(database), Owner(database, getattr(database, "path", None))
    async with AsyncExitStack() as stack:
        stack.callback(database.close)
        stack.callback(owner.close)
        batch = ledger.batch(batch_id)
        owner.silent_s = batch.work["lease"]
        rows = SharedRows(database, owner.name, batch.tenant, us(owner.silent_s))
        stack.push_async_callback(rows.queue.aclose)
        context = WorkerContext(batch, ledger, store_url, rows, pace_of(batch.protocol))
        return await Worker(context, await stack.enter_async_context(make_runner(context)), owner).run()
