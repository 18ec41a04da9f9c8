"""Accounts of money: what an attempt may take is reserved, and after it the amount is settled or unknown."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Iterable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from llm_runtime.errors import BudgetExceeded, CallError, LlmRuntimeError
from llm_runtime.events import BudgetMoved, CallFailed, CallFinished, Emit, Event, silent
from llm_runtime.messages import Generate, Reply, Request


@dataclass(frozen=True, slots=True)
class Caps:
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
    def bounded(self) -> bool:
        """Whether an answer's length must be known before it is asked for."""
        return self.cost is not None or self.tokens is not None


@dataclass(slots=True)
class Spend:
    """Micro-dollars, tokens and calls."""

    cost: int = 0
    tokens: int = 0
    calls: int = 0

    def add(self, other: Spend) -> None:
        self.cost += other.cost
        self.tokens += other.tokens
        self.calls += other.calls

    def take(self, other: Spend) -> None:
        self.cost -= other.cost
        self.tokens -= other.tokens
        self.calls -= other.calls

    def or_more(self, other: Spend) -> Spend:
        """Return of each the greater."""
        return Spend(*map(max, dataclasses.astuple(self), dataclasses.astuple(other)))


NOTHING = Spend()
_NAMES = ("cost", "tokens", "calls")


@dataclass(slots=True)
class Account:
    """What was spent, and what may have been spent besides: by attempts whose end is unknown."""

    spent: Spend = field(default_factory=Spend)
    unknown: Spend = field(default_factory=Spend)


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
    usage = reply.usage
    spent = Spend(reply.cost or 0, usage.input_tokens + usage.output_tokens, 1)
    unknown = Spend(hold.cost) if reply.cost is None else Spend()
    return Settlement(spent, unknown, reply.cost is not None)


def settled_by_fault(hold: Spend, fault: BaseException) -> Settlement:
    """Return what a failed attempt took: nothing where it was refused, what the provider reported where it was, and
    otherwise, cancelled ones included, nobody knows."""
    if isinstance(fault, CallError):
        if fault.partial is not None and _reported(fault.partial):
            return settled(hold, fault.partial)
        if fault.partial is None and not fault.maybe_charged:
            return Settlement(Spend(calls=1))
    return Settlement(Spend(), hold)


def _reported(partial: Reply) -> bool:
    """Tell whether the provider reported what came to an end too early, or it is our estimate."""
    return partial.cost_source == "provider" or not partial.usage.estimated


class Budget:
    """One purse for any number of concurrent calls.

    A call that does not fit beside what is spent, held and unknown is refused before it is sent. Reserving never
    awaits, so on one event loop it cannot be overtaken.

    Args:
        caps: what may be spent.
        account: what was before, for a run that goes on.
        emit: told of every movement of a capped budget, and of a free one where something is unknown.
    """

    def __init__(self, caps: Caps, account: Account | None = None, *, emit: Emit = silent) -> None:
        account = account or Account()
        self.caps = caps
        self.spent = account.spent
        self.unknown = account.unknown
        self.held = Spend()
        self._emit = emit
        # A deadline is none of its movements.
        self._capped = dataclasses.replace(caps, seconds=None) != Caps()

    def reserve(self, hold: Spend, where: object) -> Awaitable[None] | None:
        """Hold what a call may take at the most; ``where`` is named when it does not fit.

        What comes back, awaited, has the hold on disk: send nothing before.

        Raises:
            BudgetExceeded: it does not fit; nothing is held.
        """
        if self._capped:
            self._need_room(hold, where)
        self.held.add(hold)
        return self._moved() if self._capped else None

    def settle(self, hold: Spend, settlement: Settlement) -> None:
        """Replace a hold by what became of it."""
        self.held.take(hold)
        self.spent.add(settlement.spent)
        self.unknown.add(settlement.unknown)
        Bill.charge(settlement)
        if self._capped or settlement.unknown != NOTHING:
            self._moved()

    def _need_room(self, hold: Spend, where: object) -> None:
        for name in _NAMES:
            cap: int | None = getattr(self.caps, name)
            if cap is None:
                continue
            wanted, spent, held, unknown = (
                getattr(one, name) for one in (hold, self.spent, self.held, self.unknown)
            )
            if spent + held + unknown + wanted > cap:
                error = BudgetExceeded(
                    f"budget: {where} may take {amount(wanted, name)}, and of {amount(cap, name)} "
                    f"{amount(spent, name)} are spent and {amount(held, name)} are held"
                    + (f", and up to {amount(unknown, name)} unknown" if unknown else "")
                )
                error.cap = name
                raise error

    def _moved(self) -> Awaitable[None] | None:
        if self._emit is silent:
            return None
        # Without a cap no event says when a hold ends, so none says that it began.
        held = self.held if self._capped else NOTHING
        return self._emit(moved(Account(self.spent, self.unknown), held))


def moved(account: Account, held: Spend = NOTHING) -> BudgetMoved:
    """Return the event that says where an account stands, and what is held besides."""
    sums = {"spent": account.spent, "held": held, "unknown": account.unknown}
    return BudgetMoved(**{f"{kind}_{name}": getattr(one, name) for kind, one in sums.items() for name in _NAMES})


def amount(value: int, kind: str) -> str:
    """Write micro-dollars, tokens or calls.

    >>> amount(1_500, "cost"), amount(1_500, "tokens"), amount(1, "calls")
    ('$0.0015', '1500 tokens', '1 call')
    """
    if kind == "cost":
        return f"${value / 1_000_000:.4f}"
    return f"{value} {kind[:-1] if value == 1 else kind}"


class Bill:
    """What the attempts of one call are known to have cost, whichever of them answered; use it as ``with``.

    Attributes:
        cost: micro-dollars.
        priced: false where an attempt took tokens whose price nobody knows.
        attempts: those that were settled, in whatever way.
    """

    __slots__ = ("_outer", "attempts", "cost", "priced")

    def __init__(self) -> None:
        self.cost = 0
        self.priced = True
        self.attempts = 0
        self._outer: Token[Bill | None] | None = None

    def __enter__(self) -> Self:
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
    calls, account = Spend(), Account()
    for event in events:
        if isinstance(event, BudgetMoved):
            account = Account(_sums(event, "spent"), _sums(event, "unknown"))
            account.unknown.add(_sums(event, "held"))
        elif isinstance(event, CallFinished) and not event.replayed:
            reply = Reply.from_dict(event.reply)
            calls.add(Spend(reply.cost or 0, reply.usage.input_tokens + reply.usage.output_tokens, reply.attempts))
        elif isinstance(event, CallFailed) and not event.replayed:
            partial = Reply.from_dict(event.partial) if event.partial else None
            cost = event.cost if event.cost is not None else partial.cost if partial else 0
            tokens = partial.usage.input_tokens + partial.usage.output_tokens if partial else 0
            calls.add(Spend(cost or 0, tokens, int(partial is not None)))
    return Account(account.spent.or_more(calls), account.unknown)


def _sums(event: BudgetMoved, kind: str) -> Spend:
    return Spend(*(getattr(event, f"{kind}_{name}") for name in _NAMES))
