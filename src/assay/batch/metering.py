"""A gateway whose money and rates are rows that all workers share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import partial

from assay.batch.alerts import Alerts
from assay.batch.buckets import FULL_PACE, LOOK_US, Buckets, Grant
from assay.batch.ledger import Claim
from assay.batch.line import QueuePlace, WaitingLine
from assay.batch.pacing import Pace
from assay.batch.purses import BatchPurse, Purses, Reservation
from assay.batch.write_queue import BUCKETS, PURSES, WriteQueue
from assay.launch import NOBODY, Followers
from llm_runtime.dialects import HUMAN_PROVIDERS
from llm_runtime.errors import BudgetExceeded, RateLimited, ServerFault
from llm_runtime.gateway import Gateway
from llm_runtime.messages import CallLabel, Delta, Generate, Reply, Request, unwatched
from llm_runtime.price import Price
from llm_runtime.providers.terminal import terminal
from llm_runtime.routing import Target
from llm_runtime.settings import Settings
from llm_runtime.silence import queued
from llm_runtime.tokens import estimate_input
from llm_runtime.wires import Held
from llm_runtime.wrappers.accounts import (
    NOTHING,
    Budget,
    Caps,
    Settlement,
    Spend,
    amount,
    settled,
    settled_by_fault,
)
from llm_runtime.wrappers.answer_bounds import answers_bounded
from llm_runtime.wrappers.budgeted import not_sent_before, worst_case
from llm_runtime.wrappers.limiting import Limits
from llm_runtime.wrappers.retrying import Backoff

#: The job on whose behalf the current task asks, and the budget of the job's own run.
CURRENT: ContextVar[Claim | None] = ContextVar("CURRENT", default=None)
_BUDGET: ContextVar[Budget | None] = ContextVar("BUDGET", default=None)
_FOLLOWERS: ContextVar[Followers] = ContextVar("FOLLOWERS", default=NOBODY)


class JobLost(BudgetExceeded):
    """The job has gone to another worker: nothing is paid for on its behalf any more."""


class BatchBudgetExceeded(BudgetExceeded):
    """The batch's own budget is spent: no other job has anything left either."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call may take, where in its run it stands, and where among those that wait for money."""

    hold: Spend
    where: object
    place: QueuePlace


class Meter:
    """Rows of one batch, as the calls of one worker see them.

    Args:
        queue: runs the statements.
        purse: the batch's.
        caps: of that purse.
        purses, buckets: the rows.
        remedy: what to do where the purse is empty.
        pace: what a job takes.

    Attributes:
        line: who asks the purse next where it has not room for all.
        buckets: the rows of rates.
        alerts: hears what of the purse is used.
    """

    def __init__(
        self,
        queue: WriteQueue,
        purse: str,
        caps: Caps,
        purses: Purses,
        buckets: Buckets,
        remedy: str = "raise [budget] in the job file and run it again",
        pace: Pace | None = None,
    ) -> None:
        self.caps = caps
        self._remedy = remedy
        self._queue = queue
        self._purse = purse
        self._purses = purses
        self.buckets = buckets
        # One task of a worker waits at a bucket, the others behind it, in the order they came.
        self._lines: dict[str, asyncio.Lock] = {}
        self.line = WaitingLine(pace or Pace())
        self.alerts = Alerts(purse)
        self._under_way = 0

    @asynccontextmanager
    async def turn(
        self, bucket: str, tokens: int, *, lands: bool, asked: Asked | None = None
    ) -> AsyncGenerator[tuple[Grant, bool]]:
        """Wait for the bucket, and keep the place in flight for the block where those are limited (``lands``).

        Args:
            asked: what is to be held as soon as the bucket lets it through, in the same transaction.

        Yields:
            The turn, and whether all is held; see :meth:`reserve`.
        """
        async with self._lines.setdefault(bucket, asyncio.Lock()):
            while True:
                changes = self.line.changes
                turn, reservation = await self._admitted(bucket, tokens, asked)
                if turn.wait_us <= 0:
                    break
                await asyncio.sleep(min(turn.wait_us, LOOK_US) / 1_000_000)
        try:
            yield turn, asked is None or await self._reserved(asked, reservation, changes)
        except BaseException:
            if lands:
                await self._land(bucket)
            raise
        if lands:
            # Nobody waits for it: the call goes on meanwhile.
            self._land(bucket).add_done_callback(lambda done: done.cancelled() or done.exception())

    def _land(self, bucket: str) -> asyncio.Future[None]:
        return self._queue.put(lambda: self.buckets.land(bucket), BUCKETS, bucket, repeatable=False)

    async def _admitted(self, bucket: str, tokens: int, asked: Asked | None) -> tuple[Grant, Reservation | None]:
        """Take a turn, and hold what is asked for if it is granted, in one transaction."""
        turns: list[Grant] = []

        def take() -> Grant:
            turns[:] = [self.buckets.take(bucket, tokens)]
            return turns[0]

        taking = self._queue.put(take, BUCKETS, bucket)
        if asked is None:
            return await taking, None
        holding = self._holding(asked, lambda: bool(turns) and turns[0].wait_us <= 0)
        return await asyncio.gather(taking, holding)

    def _holding(
        self, asked: Asked, granted: Callable[[], bool] = lambda: True
    ) -> asyncio.Future[Reservation | None]:
        """Hold what is asked for; ``None`` where that is not granted, or an earlier job's call waits for money."""
        claim = CURRENT.get()
        beside = NOTHING if self.caps == Caps() else self.line.beside(asked.place, asked.hold)

        def hold() -> Reservation | None:
            if not granted() or self.line.is_behind(asked.place) or self.line.is_over(asked.place):
                return None
            return self._purses.reserve(self._purse, asked.hold, claim, beside)

        return self._queue.put(hold, PURSES, self._purse)

    async def reserve(self, asked: Asked) -> bool:
        """Hold what a call may take, where no bucket is to be asked first; see :meth:`turn`.

        What does not fit only beside this worker's own calls under way has to ask again once one of them is settled
        (:meth:`~assay.batch.line.WaitingLine.turn`): they were held at their worst, and will take less.

        Returns:
            Whether it is held.

        Raises:
            BatchBudgetExceeded: it does not fit. Nothing was sent.
            JobLost: the job is another worker's by now.
        """
        changes = self.line.changes
        return await self._reserved(asked, await self._holding(asked), changes)

    async def _reserved(self, asked: Asked, reservation: Reservation | None, changes: int) -> bool:
        if reservation == "held":
            self._under_way += 1
            self.line.moved(CURRENT.get(), asked.hold)
            self.line.leave(asked.place)
            return True
        if reservation == "lost":
            raise JobLost(f"{asked.where}: the job has gone to another worker; nothing was sent")
        # Where something was settled while the purse was asked, it may fit by now.
        changed = reservation is None or changes != self.line.changes
        if self.line.is_over(asked.place) or not (changed or self._under_way or self.line.may_change(asked.place)):
            self.line.end(asked.place)
            purse = await self._queue.do(lambda: self._purses.read(self._purse), PURSES, self._purse)
            self.alerts.tell(purse.refused())
            raise BatchBudgetExceeded(f"{_exceeded(asked.where, asked.hold, purse)}; {self._remedy}")
        self.line.join(asked.place, ready=changed and not self.line.is_behind(asked.place))
        return False

    async def settle(self, hold: Spend, settlement: Settlement) -> None:
        """Replace a hold by what became of it."""
        try:
            settle = partial(self._purses.settle, self._purse, hold, settlement)
            # Where a lost connection leaves open whether it was done, nobody knows what was crossed.
            self.alerts.tell(await self._queue.do(settle, PURSES, self._purse, repeatable=False) or ())
        finally:
            self._under_way -= 1
            self.line.moved(CURRENT.get(), settlement.spent, hold)
            self.line.moved(CURRENT.get(), settlement.unknown)
            self.line.call()

    async def tell(self, note: Callable[[str], None], bucket: str) -> None:
        """Have a bucket note, for all workers, what the provider answered; ``note`` is a method of the rows."""
        await self._queue.do(lambda: note(bucket), BUCKETS, bucket)


def _exceeded(where: object, hold: Spend, purse: BatchPurse) -> str:
    return (
        f"budget: {where} may take {amounts(hold)}; spent are {amounts(purse.spent)}, held "
        f"{amounts(purse.held)}" + (f", unknown up to {amounts(purse.unknown)}" if purse.unknown != NOTHING else "")
    )


def amounts(spend: Spend) -> str:
    """Return a sum in words."""
    return ", ".join(amount(value, name) for name, value in asdict(spend).items())


class MeteredGateway(Gateway):
    """A :class:`~llm_runtime.gateway.Gateway` with a :class:`Meter` where its own limiter and budget stand.

    Calls in flight that ``config.toml`` names are limited over all workers; the default, of which nobody has said
    that it is the provider's, in each worker by itself.

    Args:
        settings: keys, addresses, models, limits.
        meter: the shared rows.
        backoff: the patience of retries.
        named: the models that the user put into the seats.
        person: who answers for ``terminal:``.
        followed: whether each run's followers answer for ``terminal:`` instead, and hear the words.
        needs: what a wire must hold.
    """

    def __init__(
        self,
        settings: Settings,
        meter: Meter,
        backoff: Backoff | None = None,
        named: Collection[str] = (),
        person: Generate | None = None,
        followed: bool = False,
        needs: frozenset[Held] = frozenset(),
    ) -> None:
        heard = _heard if followed else unwatched
        person = _answered if followed else person
        super().__init__(
            settings, caps=meter.caps, backoff=backoff, named=named, person=person, on_delta=heard, needs=needs
        )
        self._meter = meter
        self._places: dict[str, asyncio.Semaphore] = {}

    async def least_cost(self, asked: str) -> int:
        """Return what the cheapest call to ``asked`` has to be able to take, in micro-dollars, under a cap in USD.

        Raises:
            NoModelError: it cannot be reached.
            UnknownPrice: there is a cap in USD, and no price is known.
        """
        target = await self.ready(asked)
        label = CallLabel("batch", "check")
        request = Request(target.model, (), label, max_tokens=self.settings.config.max_tokens)
        return worst_case(request, self.price(target.provider)(target.model), self.budget.caps).cost

    def under(self, budget: Budget, followers: Followers = NOBODY) -> Generate:
        """Return the model function of one run: each attempt goes through ``budget`` and the shared rows;
        ``followers`` answer for ``terminal:`` and hear the words."""

        async def call(request: Request) -> Reply:
            outer, before = _BUDGET.set(budget), _FOLLOWERS.set(followers)
            try:
                return await self.generate(request)
            finally:
                _BUDGET.reset(outer)
                _FOLLOWERS.reset(before)

        return call

    async def admitted(self, generate: Generate, target: Target) -> Generate:
        """Put ``generate`` behind the shared rows."""
        shared: dict[str, Limits] = {}
        places: list[asyncio.Semaphore] = []
        if target.provider not in HUMAN_PROVIDERS:
            for bucket, limits in (await self.limits(target)).items():
                entry = self.settings.config.limits.get(bucket)
                named = entry is not None and "in_flight" in entry.model_fields_set
                if limits.in_flight and not named:
                    places.append(self._places.setdefault(bucket, asyncio.Semaphore(limits.in_flight)))
                shared[bucket] = limits if named else limits.model_copy(update={"in_flight": None})
                await self._meter.tell(partial(self._meter.buckets.open, limits=shared[bucket]), bucket)
        return _metered(generate, self._meter, shared, places, self.price(target.provider))

    def paused(self, generate: Generate, provider: str) -> Generate:
        """Leave outages to the shared rows: what one worker meets holds all of them back."""
        return generate


async def _answered(request: Request) -> Reply:
    return await (_FOLLOWERS.get().person or terminal())(request)


def _heard(request: Request, delta: Delta) -> None:
    if (words := _FOLLOWERS.get().words) is not None:
        words.hear(request, delta)


def _metered(
    generate: Generate,
    meter: Meter,
    buckets: Mapping[str, Limits],
    places: list[asyncio.Semaphore],
    price: Callable[[str], Price | None],
) -> Generate:
    """Send only what the rows and the run's own budget allow, and tell them what came of it."""

    async def call(request: Request) -> Reply:
        budget = _BUDGET.get() or Budget(Caps())
        dear = meter.caps if meter.caps.cost is not None else budget.caps
        hold = worst_case(request, price(request.model), dear)
        tokens = estimate_input(request) + (request.max_tokens or 0)
        with meter.line.place(CURRENT.get()) as place:
            asked = Asked(hold, request.label, place)
            while True:
                async with AsyncExitStack() as stack:
                    with queued():
                        # Before it has a place in flight: an earlier call may need that.
                        await meter.line.turn(place)
                        turns = await granted(stack, tokens, asked)
                    if turns is not None:
                        return await sent(request, hold, budget, turns)

    async def granted(stack: AsyncExitStack, tokens: int, asked: Asked) -> dict[str, Grant] | None:
        """Take places in flight, turns and money; ``None`` where there is no room for it now."""
        for semaphore in places:
            await stack.enter_async_context(semaphore)
        turns: dict[str, Grant] = {}
        held = False
        for bucket, limits in buckets.items():
            # Last, so that nothing is sent for a job that was lost while it waited for its turn.
            final = asked if len(turns) == len(buckets) - 1 else None
            turns[bucket], held = await stack.enter_async_context(
                meter.turn(bucket, tokens, lands=limits.in_flight is not None, asked=final)
            )
        return turns if (held if buckets else await meter.reserve(asked)) else None

    async def sent(request: Request, hold: Spend, budget: Budget, turns: Mapping[str, Grant]) -> Reply:
        settlement, answered = Settlement(NOTHING), False
        try:
            # The run's own budget is this process's and cannot be overtaken, so it comes last.
            written = budget.reserve(hold, request.label.words)
            if written is not None:
                await not_sent_before(written, hold, budget)
            try:
                reply = await generate(request)
                settlement, answered = settled(hold, reply), True
            except BaseException as fault:
                settlement = settled_by_fault(hold, fault)
                raise
            finally:
                budget.settle(hold, settlement, answered=answered)
        except RateLimited as error:
            for bucket in turns:
                await meter.tell(partial(meter.buckets.refused, retry_after=error.retry_after), bucket)
            raise
        except ServerFault:
            for bucket in turns:
                await meter.tell(meter.buckets.faulted, bucket)
            raise
        finally:
            await meter.settle(hold, settlement)
        for bucket, turn in turns.items():
            if turn.faulty:
                await meter.tell(meter.buckets.answered, bucket)
            if turn.pace < FULL_PACE:
                await meter.tell(meter.buckets.succeeded, bucket)
        return reply

    with_bounds = answers_bounded(call, needed=True)

    async def bounded_where_needed(request: Request) -> Reply:
        budget = _BUDGET.get()
        needed = meter.caps.bounded or (budget is not None and budget.caps.bounded)
        return await (with_bounds if needed else call)(request)

    return bounded_where_needed
