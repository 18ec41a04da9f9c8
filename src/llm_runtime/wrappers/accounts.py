"""Accounts of money: what an attempt may take is reserved, and after it the amount is settled or unknown."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import NamedTuple, Self

from llm_runtime.errors import BudgetExceeded, CallError, LlmRuntimeError
from llm_runtime.events import BudgetMoved, CallFailed, CallFinished, CallStarted, Emit, Event, Standing, silent
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.structs import Struct
from llm_runtime.tasks import AnswerAwaited


class Caps(Struct):
    """What a run may spend; ``None`` is no cap.

    Args:
        cost: integer micro-dollars, 0 or more.
        tokens: input and output together, 0 or more.
        calls: attempts sent, 0 or more.
        seconds: of wall time, above 0; kept by a :class:`~llm_runtime.wrappers.timed.Deadline`.
    """

    cost: int | None = None
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None

    @property
    def amounts(self) -> tuple[int | None, int | None, int | None]:
        """Those on what an account counts, in the order of :class:`Spend`; a deadline is none of them."""
        return self.cost, self.tokens, self.calls

    @property
    def bounded(self) -> bool:
        """Whether an answer's length must be known before it is asked for."""
        return self.cost is not None or self.tokens is not None


class Spend(NamedTuple):
    """Micro-dollars, tokens and calls."""

    cost: int = 0
    tokens: int = 0
    calls: int = 0

    def plus(self, other: Spend) -> Spend:
        return Spend(self[0] + other[0], self[1] + other[1], self[2] + other[2])

    def less(self, other: Spend) -> Spend:
        return Spend(self[0] - other[0], self[1] - other[1], self[2] - other[2])

    def or_more(self, other: Spend) -> Spend:
        """Return of each the greater."""
        return Spend(*map(max, self, other))


NOTHING = Spend()


@dataclass(slots=True)
class Account:
    """An account of money: a run's in memory and in its log (:class:`Budget`), many runs' in a row of a database.

    Args:
        caps: what may be spent.
        spent: what was.
        held: what calls under way may take at the most.
        unknown: what may have been spent besides, by attempts whose end is unknown.
    """

    caps: Caps = Caps()
    spent: Spend = NOTHING
    held: Spend = NOTHING
    unknown: Spend = NOTHING

    @property
    def left(self) -> dict[str, int]:
        """Return what each cap leaves beside what is spent, held and unknown, by the amount's name."""
        each = zip(Spend._fields, self.caps.amounts, self.spent.plus(self.held).plus(self.unknown), strict=True)
        return {name: cap - took for name, cap, took in each if cap is not None}

    def short_of(self, hold: Spend) -> str:
        """Return the amount of which not enough is left; empty where a hold fits."""
        return next((name for name, left in self.left.items() if getattr(hold, name) > left), "")

    @property
    def tightest(self) -> str:
        """Return the capped amount of which the smallest share is left; ``"cost"`` where nothing is capped."""
        left = self.left
        return min(left, key=lambda name: left[name] / (getattr(self.caps, name) or 1), default="cost")

    def words(self, name: str) -> str:
        """Say of one amount how much there is and what became of it."""
        cap, spent, held, unknown = (
            amount(getattr(of, name) or 0, name) for of in (self.caps, self.spent, self.held, self.unknown)
        )
        perhaps = f", and up to {unknown} unknown" if getattr(self.unknown, name) else ""
        return f"of {cap}: {spent} spent, {held} held{perhaps}"

    def standing(self) -> Standing:
        """Return where the account stands, as events of calls tell it."""
        unknown = {"unknown": self.unknown} if self.unknown != NOTHING else {}
        return {"held": self.held, "spent": self.spent, **unknown}


class Settlement(NamedTuple):
    """What became of a hold.

    Args:
        spent: what the attempt took.
        unknown: what it may have taken, where nobody knows; at the most what was held.
        priced: false where it took tokens whose price nobody knows.
    """

    spent: Spend
    unknown: Spend = NOTHING
    priced: bool = True


def settled(hold: Spend, reply: Reply) -> Settlement:
    """Return what an answer took; where it does not say its cost, what was held for it is unknown."""
    unknown = Spend(hold.cost) if reply.cost is None else NOTHING
    return Settlement(Spend(reply.cost or 0, _tokens(reply), 1), unknown, reply.cost is not None)


def settled_by_fault(hold: Spend, fault: BaseException) -> Settlement:
    """Return what a failed attempt took: nothing where it was refused or its answer is paid for by whoever takes it,
    what the provider reported where it was, and otherwise, cancelled ones included, nobody knows."""
    if isinstance(fault, AnswerAwaited):
        return Settlement(NOTHING)
    if isinstance(fault, CallError):
        # What came to an end too early counts where the provider reported it, and not where it is our estimate.
        if fault.partial is not None and (fault.partial.cost_source == "provider" or not fault.partial.usage.estimated):
            return settled(hold, fault.partial)
        if fault.partial is None and not fault.maybe_charged:
            return Settlement(Spend(calls=1))
    return Settlement(NOTHING, hold)


class Budget(Account):
    """An account in memory, for any number of concurrent calls.

    A call that does not fit beside what is spent, held and unknown is refused before it is sent. Reserving never
    awaits, so on one event loop it cannot be overtaken.

    Args:
        caps: what may be spent.
        before: the account so far, for a run that goes on; what was held is unknown.
        emit: told of every movement of a capped budget, and of a free one where something is unknown.
    """

    __slots__ = ("_emit", "capped")

    def __init__(self, caps: Caps, before: Account | None = None, *, emit: Emit = silent) -> None:
        before = before or Account()
        super().__init__(caps, before.spent, NOTHING, before.unknown.plus(before.held))
        self._emit = emit
        self.capped = caps.amounts != (None, None, None)

    def reserve(self, hold: Spend, where: object) -> Awaitable[None] | None:
        """Hold what a call may take at the most; ``where`` is named when it does not fit.

        What comes back, awaited, has the hold on disk: send nothing before.

        Raises:
            BudgetExceeded: it does not fit; nothing is held.
        """
        if self.capped and (name := self.short_of(hold)):
            error = BudgetExceeded(f"budget: {where} may take {amount(getattr(hold, name), name)}; {self.words(name)}")
            error.cap = name
            raise error
        self.held = self.held.plus(hold)
        if not self.capped:
            return None
        book = self._book()
        return self._moved() if book is None or book.begun else book.begin(self.standing())

    def release(self, hold: Spend) -> None:
        """Hold something no more, for which nothing was sent."""
        self.held = self.held.less(hold)
        if self.capped:
            self._moved()

    def settle(self, hold: Spend, settlement: Settlement, *, answered: bool = False) -> None:
        """Replace a hold by what became of it; of a call that was ``answered``, the event of its end tells it."""
        self.held = self.held.less(hold)
        self.spent = self.spent.plus(settlement.spent)
        self.unknown = self.unknown.plus(settlement.unknown)
        Bill.charge(settlement)
        if answered and (book := self._book()) is not None:
            book.owed = True
        elif self.capped or settlement.unknown != NOTHING:
            self._moved()

    def _book(self) -> CallBook | None:
        book = bill.book if (bill := _OPEN.get()) is not None else None
        return book if book is not None and book.tells and book.budget is self else None

    def _moved(self) -> Awaitable[None] | None:
        if self._emit is silent:
            return None
        # Without a cap no event says when a hold ends, so none says that it began.
        return self._emit(moved(Account(self.caps, self.spent, self.held if self.capped else NOTHING, self.unknown)))


@dataclass(slots=True)
class CallBook:
    """A call whose own events tell of the account that it is made in the name of.

    Args:
        budget: the account, if there is one.
        say: says that the call begins, with where the account stands once its hold is in it.

    Attributes:
        begun: whether that is said.
        owed: whether something was settled that no event tells yet.
    """

    budget: Budget | None
    say: Callable[[Standing | None], Awaitable[None] | None]
    begun: bool = False
    owed: bool = False

    @property
    def tells(self) -> bool:
        """Whether its events tell the account's movements: it has caps."""
        return self.budget is not None and self.budget.capped

    def begin(self, account: Standing | None = None) -> Awaitable[None] | None:
        """Say that the call begins, if nobody did."""
        if self.begun:
            return None
        self.begun = True
        return self.say(account)

    def pay(self) -> Standing | None:
        """Return what the event of the call's end has to tell."""
        owed, self.owed = self.owed, False
        return self.budget.standing() if self.budget is not None and owed else None


def moved(account: Account) -> BudgetMoved:
    """Return the event that says where an account stands."""
    sums = {f"{kind}_{name}": getattr(getattr(account, kind), name) for kind in _KINDS for name in Spend._fields}
    return BudgetMoved(**sums)


def amount(value: int, kind: str) -> str:
    """Write micro-dollars, tokens or calls.

    >>> amount(1_500, "cost"), amount(1_500, "tokens"), amount(1, "calls")
    ('$0.0015', '1500 tokens', '1 call')
    """
    return f"${value / 1_000_000:.4f}" if kind == "cost" else f"{value} {kind[:-1] if value == 1 else kind}"


class Bill:
    """What the attempts of one call are known to have cost, whichever of them answered; use it as ``with``.

    Attributes:
        cost: micro-dollars.
        priced: false where an attempt took tokens whose price nobody knows.
        attempts: those that were settled, in whatever way.
        book: of the recorded call that it is, or is part of.
    """

    __slots__ = ("_outer", "attempts", "book", "cost", "priced")

    def __init__(self, book: CallBook | None = None) -> None:
        self.book = book
        self.cost = 0
        self.priced = True
        self.attempts = 0
        self._outer: Token[Bill | None] | None = None

    def __enter__(self) -> Self:
        outer = _OPEN.get()
        if self.book is None and outer is not None:
            self.book = outer.book
        self._outer = _OPEN.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._outer is not None:
            _OPEN.reset(self._outer)
        outer = _OPEN.get()
        if outer is not None:
            outer.cost += self.cost
            outer.priced = outer.priced and self.priced
            outer.attempts += self.attempts

    def sign(self, error: LlmRuntimeError) -> None:
        """Put on an error what the attempts are known to have cost, where any was made."""
        if self.attempts and self.priced:
            error.cost = self.cost

    @staticmethod
    def charge(settlement: Settlement) -> None:
        """Put what became of an attempt on the bill of the call that is open, if one is."""
        bill = _OPEN.get()
        if bill is not None:
            bill.cost += settlement.spent.cost
            bill.priced = bill.priced and settlement.priced
            bill.attempts += 1


_OPEN: ContextVar[Bill | None] = ContextVar("bill", default=None)


def billed(generate: Generate) -> Generate:
    """Put on each reply, or on the error in its place, what all its attempts together have cost."""

    async def call(request: Request) -> Reply:
        with Bill() as bill:
            try:
                reply = await generate(request)
            except LlmRuntimeError as error:
                bill.sign(error)
                raise
        if reply.cost is None or reply.cost >= bill.cost:
            return reply
        return dataclasses.replace(reply, cost=bill.cost)

    return call


def spent_before(events: Iterable[Event]) -> Account:
    """Return what a recorded run has spent, by its log: a run that is resumed starts its budget here.

    A capped run wrote its account into the log; what it held at the end counts as unknown. A run without a cap kept
    no whole account: what its calls say that they took is added up, failed attempts too.
    """
    calls, account = NOTHING, Account()
    for event in events:
        account = account_in(event) or account
        calls = calls.plus(_taken(event))
    return Account(Caps(), account.spent.or_more(calls), NOTHING, account.unknown.plus(account.held))


def _taken(event: Event) -> Spend:
    """Return what the event of a call's end says that it took."""
    if not isinstance(event, CallFinished | CallFailed) or event.replayed:
        return NOTHING
    if isinstance(event, CallFinished):
        reply = Reply.from_dict(event.reply)
        return Spend(reply.cost or 0, _tokens(reply), reply.attempts)
    if event.partial is None:
        return Spend(event.cost or 0)
    partial = Reply.from_dict(event.partial)
    return Spend((partial.cost if event.cost is None else event.cost) or 0, _tokens(partial), 1)


def _tokens(reply: Reply) -> int:
    return reply.usage.input_tokens + reply.usage.output_tokens


def account_in(event: Event) -> Account | None:
    """Return where an event says that the run's account stands; ``None`` where it does not say that."""
    if isinstance(event, BudgetMoved):
        names = Spend._fields
        return Account(Caps(), *(Spend(*(getattr(event, f"{kind}_{name}") for name in names)) for kind in _KINDS))
    stands = event.account if isinstance(event, CallStarted | CallFinished | CallFailed) else None
    return None if stands is None else Account(Caps(), *(Spend(*stands.get(kind, NOTHING)) for kind in _KINDS))


_KINDS = ("spent", "held", "unknown")
