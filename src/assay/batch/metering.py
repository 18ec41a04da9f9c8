"""A gateway whose money and rates are rows that all workers share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial

from assay.batch.alerts import Alerts, crossed, refused
from assay.batch.buckets import FULL_PACE, LEASE_US, LOOK_US, Buckets, Grant
from assay.batch.database import Database
from assay.batch.ledger import Claim
from assay.batch.line import QueuePlace, WaitingLine
from assay.batch.pacing import Pace
from assay.batch.purses import Purses, Reservation
from assay.batch.write_queue import BUCKETS, PURSES, WriteQueue
from assay.launch import NOBODY, Followers
from llm_runtime.dialects import HUMAN_PROVIDERS
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import BudgetExceeded, RateLimited, ServerFault
from llm_runtime.gateway import Gateway
from llm_runtime.messages import CallLabel, Delta, Generate, Reply, Request, unwatched
from llm_runtime.price import Price
from llm_runtime.providers.batches import BATCH_APIS, BATCH_PRICE, BatchedHttp
from llm_runtime.providers.terminal import terminal
from llm_runtime.routing import Target
from llm_runtime.settings import Settings
from llm_runtime.shared import Shared
from llm_runtime.silence import queued
from llm_runtime.structs import Struct
from llm_runtime.tokens import estimate_input
from llm_runtime.wires import Held
from llm_runtime.wrappers.accounts import (
    NOTHING,
    Account,
    Bill,
    Budget,
    Caps,
    Settlement,
    Spend,
    amount,
    settled,
    settled_by_fault,
)
from llm_runtime.wrappers.answer_bounds import answers_bounded
from llm_runtime.wrappers.budgeted import budgeted, worst_case
from llm_runtime.wrappers.limiting import Limiter, Limits
from llm_runtime.wrappers.retrying import Backoff

#: The job on whose behalf the current task asks; the account of its own run, and who follows that.
CURRENT: ContextVar[Claim | None] = ContextVar("CURRENT", default=None)
_RUN: ContextVar[tuple[Budget, Followers]] = ContextVar("RUN", default=(Budget(Caps()), NOBODY))


class JobLost(BudgetExceeded):
    """The job has gone to another worker: nothing is paid for on its behalf any more."""


class BatchBudgetExceeded(BudgetExceeded):
    """The batch's own budget is spent: no other job has anything left either."""


class Asked(Struct):
    """What a call may take, where in its run it stands, and where among those that wait for money."""

    hold: Spend
    where: object
    place: QueuePlace


class SharedRows:
    """Money and rates in one database, as one worker speaks to them.

    Args:
        database: its tables are there.
        owner, tenant, lease_us: as :class:`~assay.batch.buckets.Buckets` takes them.
        queue: runs the statements, where others have their own done by it, too.
    """

    def __init__(
        self, database: Database, owner: str = "", tenant: str = "", lease_us: int = LEASE_US,
        queue: WriteQueue | None = None,
    ) -> None:  # fmt: skip
        self.queue = queue or WriteQueue(database)
        self.purses = Purses(database)
        self.buckets = Buckets(database, owner, tenant, lease_us)

    async def open(self, purse: str, caps: Caps | None = None) -> Account:
        """Do :meth:`~assay.batch.purses.Purses.open`."""
        return await self.queue.do(partial(self.purses.open, purse, caps), PURSES, purse)


@dataclass(eq=False, repr=False)
class Meter:
    """An account in rows, and the rates beside it, as the calls of one worker see them.

    Args:
        rows: where they are.
        purse: the account's name.
        caps: of that purse.
        remedy: what to do where the purse is empty.
        pace: what a job takes.

    Attributes:
        line: who asks the purse next where it has not room for all.
        alerts: hears what of the purse is used.
    """

    rows: SharedRows
    purse: str
    caps: Caps
    remedy: str = "raise [budget] in the job file and run it again"
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self._queue, self._purses, self._buckets = self.rows.queue, self.rows.purses, self.rows.buckets
        # One task of a worker waits at a bucket, the others behind it, in the order they came.
        self._lines: dict[str, asyncio.Lock] = {}
        self.line = WaitingLine(self.pace)
        self.alerts = Alerts(self.purse)
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
        return self._queue.do(lambda: self._buckets.land(bucket), BUCKETS, bucket, repeatable=False)

    async def _admitted(self, bucket: str, tokens: int, asked: Asked | None) -> tuple[Grant, Reservation | None]:
        """Take a turn, and hold what is asked for if it is granted, in one transaction."""
        turns: list[Grant] = []

        def take() -> Grant:
            turns[:] = [self._buckets.take(bucket, tokens)]
            return turns[0]

        taking = self._queue.do(take, BUCKETS, bucket)
        if asked is None:
            return await taking, None
        return await asyncio.gather(taking, self._holding(asked, lambda: bool(turns) and turns[0].wait_us <= 0))

    def _holding(self, asked: Asked, granted: Callable[[], bool] = lambda: True) -> asyncio.Future[Reservation | None]:
        """Hold what is asked for; ``None`` where that is not granted, or an earlier job's call waits for money."""
        claim = CURRENT.get()
        beside = NOTHING if self.caps == Caps() else self.line.beside(asked.place, asked.hold)

        def hold() -> Reservation | None:
            if not granted() or self.line.is_behind(asked.place) or self.line.is_over(asked.place):
                return None
            return self._purses.reserve(self.purse, asked.hold, claim, beside)

        return self._queue.do(hold, PURSES, self.purse)

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
            purse = await self._queue.do(lambda: self._purses.read(self.purse), PURSES, self.purse)
            self.alerts.tell(refused(purse))
            name = purse.short_of(asked.hold) or purse.tightest
            takes = amount(getattr(asked.hold, name), name)
            raise BatchBudgetExceeded(f"budget: {asked.where} may take {takes}, and {purse.words(name)}; {self.remedy}")
        self.line.join(asked.place, ready=changed and not self.line.is_behind(asked.place))
        return False

    async def settle(self, hold: Spend, settlement: Settlement) -> None:
        """Replace a hold by what became of it."""
        took = settlement.spent.plus(settlement.unknown)
        try:
            settle = partial(self._purses.settle, self.purse, hold, settlement)
            purse = await self._queue.do(settle, PURSES, self.purse, repeatable=False)
            # Where a lost connection leaves open whether it was done, nobody knows what was crossed.
            self.alerts.tell(crossed(purse, took) if purse else ())
        finally:
            self._under_way -= 1
            self.line.moved(CURRENT.get(), took.less(hold))
            self.line.call()

    async def opened(self, bucket: str, limits: Limits) -> None:
        """Have a bucket of such limits."""
        await self._queue.do(lambda: self._buckets.open(bucket, limits), BUCKETS, bucket)

    async def heard(self, turns: Mapping[str, Grant], fault: BaseException | None) -> None:
        """Have buckets note, for all workers, what the provider answered; ``None`` is an answer."""
        for bucket, turn in turns.items():
            if isinstance(fault, RateLimited):
                note = partial(self._buckets.refused, bucket, fault.retry_after)
            elif isinstance(fault, ServerFault):
                note = partial(self._buckets.faulted, bucket)
            elif fault is None and (turn.faulty or turn.pace < FULL_PACE):
                note = partial(self._buckets.answered, bucket)
            else:
                continue
            await self._queue.do(note, BUCKETS, bucket)


class MeteredGateway(Gateway):
    """A :class:`~llm_runtime.gateway.Gateway` with a :class:`Meter` where its own limiter and budget stand.

    Calls in flight that ``config.toml`` names are limited over all workers; the default, of which nobody has said
    that it is the provider's, in each worker by itself.

    Args:
        settings: keys, addresses, models, limits.
        meter: the shared rows.
        backoff: the patience of retries.
        named: the models that the user put into the seats.
        followed: whether each run's followers hear the words of its answers.
        needs: what a wire must hold.
        shared: what other gateways use, too. With :class:`BatchedHttp` calls wait for the batches of vendors, at their
            price.
    """

    def __init__(
        self, settings: Settings, meter: Meter, backoff: Backoff | None = None, named: Collection[str] = (),
        followed: bool = False, needs: frozenset[Held] = frozenset(), shared: Shared | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            settings,
            caps=meter.caps,
            backoff=backoff,
            named=named,
            person=_answered,
            shared=shared,
            on_delta=_heard if followed else unwatched,
            needs=needs,
        )
        # Who waits for hours waits for no place in flight and no turn a minute: vendors count batches by themselves.
        self._waiting = frozenset(BATCH_APIS if isinstance(self.http, BatchedHttp) else ())
        self._meter = meter

    def price(self, provider: str) -> Callable[[str], Price | None]:
        """Return what each model of ``provider`` costs; what is charged where calls wait for a batch."""
        find = super().price(provider)
        if provider not in self._waiting:
            return find
        return lambda model: (price := find(model)) and price.times(BATCH_PRICE)

    async def least_cost(self, asked: str) -> int:
        """Return what the cheapest call to ``asked`` has to be able to take, in micro-dollars, under a cap in USD.

        Raises:
            NoModelError: it cannot be reached.
            UnknownPrice: there is a cap in USD, and no price is known.
        """
        target = await self.ready(asked)
        request = Request(target.model, (), CallLabel("batch", "check"), max_tokens=self.settings.config.max_tokens)
        return worst_case(request, self.price(target.provider)(target.model), self.budget.caps).cost

    def under(self, budget: Budget, followers: Followers = NOBODY) -> Generate:
        """Return the model function of one run: each attempt goes through ``budget`` and the shared rows;
        ``followers`` answer for ``terminal:`` and hear the words."""

        async def call(request: Request) -> Reply:
            outer = _RUN.set((budget, followers))
            try:
                return await self.generate(request)
            finally:
                _RUN.reset(outer)

        return call

    async def admitted(self, generate: Generate, target: Target) -> Generate:
        """Put ``generate`` behind the shared rows."""
        shared: dict[str, Limits] = {}
        places: list[Limiter] = []
        if target.provider not in HUMAN_PROVIDERS | self._waiting:
            for bucket, limits in (await self.limits(target)).items():
                entry = self.settings.config.limits.get(bucket)
                named = entry is not None and "in_flight" in entry.model_fields_set
                if limits.in_flight and not named:
                    places.append(self.limiter(bucket, await self.router.endpoint(target.provider), limits))
                shared[bucket] = limits if named else limits.model_copy(update={"in_flight": None})
                await self._meter.opened(bucket, shared[bucket])
        return _metered(generate, self._meter, shared, places, self.price(target.provider))

    def paused(self, generate: Generate, endpoint: Endpoint) -> Generate:
        """Leave outages to the shared rows: what one worker meets holds all of them back."""
        return generate


async def _answered(request: Request) -> Reply:
    return await (_RUN.get()[1].person or terminal())(request)


def _heard(request: Request, delta: Delta) -> None:
    if (words := _RUN.get()[1].words) is not None:
        words.hear(request, delta)


def _metered(
    generate: Generate, meter: Meter, buckets: Mapping[str, Limits], places: list[Limiter],
    price: Callable[[str], Price | None],
) -> Generate:  # fmt: skip
    """Send only what the rows and the run's own budget allow, and tell them what came of it."""

    async def call(request: Request) -> Reply:
        hold = worst_case(request, price(request.model), meter.caps)
        tokens = estimate_input(request) + (request.max_tokens or 0)
        with meter.line.place(CURRENT.get()) as place:
            asked = Asked(hold, request.label.words, place)
            while True:
                async with AsyncExitStack() as stack:
                    with queued():
                        # Before it has a place in flight: an earlier call may need that.
                        await meter.line.turn(place)
                        turns = await granted(stack, tokens, asked)
                    if turns is not None:
                        return await sent(request, hold, turns)

    async def granted(stack: AsyncExitStack, tokens: int, asked: Asked) -> dict[str, Grant] | None:
        """Take places in flight, turns and money; ``None`` where there is no room for it now."""
        for limiter in places:
            if not limiter.take(0):
                await limiter.wait(0)
            stack.callback(limiter.end, None)
        turns: dict[str, Grant] = {}
        held = False
        for bucket, limits in buckets.items():
            # Last, so that nothing is sent for a job that was lost while it waited for its turn.
            final = asked if len(turns) == len(buckets) - 1 else None
            turns[bucket], held = await stack.enter_async_context(
                meter.turn(bucket, tokens, lands=limits.in_flight is not None, asked=final)
            )
        return turns if (held if buckets else await meter.reserve(asked)) else None

    async def sent(request: Request, hold: Spend, turns: Mapping[str, Grant]) -> Reply:
        settlement, fault = Settlement(NOTHING), None
        # The run's own account is this process's and cannot be overtaken, so it comes last.
        within = budgeted(generate, _RUN.get()[0], price)
        with Bill() as bill:
            try:
                reply = await within(request)
                settlement = settled(hold, reply)
                return reply
            except BaseException as error:
                fault = error
                if bill.attempts:
                    settlement = settled_by_fault(hold, error)
                raise
            finally:
                try:
                    await meter.heard(turns, fault)
                finally:
                    await meter.settle(hold, settlement)

    return answers_bounded(call, lambda: meter.caps.bounded or _RUN.get()[0].caps.bounded)
