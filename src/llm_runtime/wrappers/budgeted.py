"""Budgets: what a call may cost is reserved before it is sent, and settled after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from llm_runtime.errors import BudgetExceeded, CallError, UnknownPrice
from llm_runtime.events import BudgetMoved, CallFinished, Emit, Event, silent
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.pricing import Price
from llm_runtime.tokens import token_bound
from llm_runtime.wrappers.answer_bounds import ANSWER_TOKENS, answers_bounded


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


class Budget:
    """One purse for any number of concurrent calls.

    A call that does not fit beside what is spent and what is held is refused before it is sent. A hold whose
    call ended in a way that may have been charged stays in :attr:`spent`. Reserving never awaits, so on one
    event loop it cannot be overtaken.
    """

    def __init__(self, caps: Caps, spent: Spend | None = None, *, emit: Emit = silent) -> None:
        self.caps = caps
        self.spent = spent or Spend()
        self.held = Spend()
        self._emit = emit if caps != Caps() else silent

    def reserve(self, hold: Spend, where: object) -> Awaitable[None] | None:
        """Hold what a call may take at the most; ``where`` is named when it does not fit.

        What comes back, awaited, has the hold on disk: send nothing before.

        Raises:
            BudgetExceeded: it does not fit; nothing is held.
        """
        caps, spent, held = self.caps, self.spent, self.held
        if caps.cost is not None and spent.cost + held.cost + hold.cost > caps.cost:
            raise _exceeded("cost", where, map(_usd, (hold.cost, caps.cost, spent.cost, held.cost)))
        if caps.tokens is not None and spent.tokens + held.tokens + hold.tokens > caps.tokens:
            raise _exceeded("tokens", where, (f"{hold.tokens} tokens", caps.tokens, spent.tokens, held.tokens))
        if caps.calls is not None and spent.calls + held.calls + hold.calls > caps.calls:
            raise _exceeded("calls", where, (f"{hold.calls} call", caps.calls, spent.calls, held.calls))
        held.add(hold)
        return self._moved()

    def settle(self, hold: Spend, actual: Spend) -> None:
        """Replace a hold by what the call really took."""
        held = self.held
        held.cost -= hold.cost
        held.tokens -= hold.tokens
        held.calls -= hold.calls
        self.spent.add(actual)
        self._moved()

    def _moved(self) -> Awaitable[None] | None:
        if self._emit is silent:
            return None
        spent, held = self.spent, self.held
        return self._emit(
            BudgetMoved(
                spent_cost=spent.cost,
                spent_tokens=spent.tokens,
                spent_calls=spent.calls,
                held_cost=held.cost,
                held_tokens=held.tokens,
                held_calls=held.calls,
            )
        )


def _exceeded(kind: str, where: object, figures: Iterable[object]) -> BudgetExceeded:
    """Return the error for what is wanted, the cap, and what is spent and held of it, in this order."""
    wanted, cap, spent, held = figures
    error = BudgetExceeded(f"budget: {where} may take {wanted}, and of {cap} {spent} are spent and {held} are held")
    error.cap = kind
    return error


def _usd(micros: int) -> str:
    return f"${micros / 1_000_000:.4f}"


def budgeted(generate: Generate, budget: Budget, price: Callable[[str], Price | None]) -> Generate:
    """Send only what ``budget`` can pay for.

    Under a cap in USD or tokens, a request that names no ``max_tokens`` gets a bound
    (:mod:`llm_runtime.wrappers.answer_bounds`): without one a reservation would bound nothing.

    Raises, from the returned function:
        BudgetExceeded: the call does not fit. Nothing was sent.
        UnknownPrice: there is a cap in USD and ``price(model)`` knows none. Nothing was sent.
    """

    async def call(request: Request) -> Reply:
        hold = worst_case(request, price(request.model), budget.caps)
        written = budget.reserve(hold, request.label.words)
        actual = Spend()
        try:
            if written is not None:
                await written
            actual = hold
            reply = await generate(request)
            usage = reply.usage
            cost = hold.cost if reply.cost is None else reply.cost
            actual = Spend(cost, usage.input_tokens + usage.output_tokens, 1)
            return reply
        except CallError as error:
            if not error.maybe_charged:
                actual = Spend(calls=1)
            raise
        finally:
            # On cancellation nobody knows what was charged: the hold counts as spent.
            budget.settle(hold, actual)

    return answers_bounded(call, budget.caps.bounded)


def worst_case(request: Request, price: Price | None, caps: Caps) -> Spend:
    """Return what a request may take at the most: input by :func:`token_bound`, output by its ``max_tokens``."""
    if caps.cost is not None and price is None:
        raise UnknownPrice(
            f"no price is known for {request.model}, so a budget in USD cannot hold; add it to prices.toml "
            "(see: assay models --prices), or cap calls instead"
        )
    asked = token_bound(request)
    answer = request.max_tokens or ANSWER_TOKENS
    return Spend(price.cost(asked, answer) if price else 0, asked + answer, 1)


def spent_before(events: Iterable[Event]) -> Spend:
    """Return what a recorded run has spent, by its log: a run that is resumed starts its budget here.

    A capped run has said so itself, holds that nobody settled included. Without a cap nobody kept account, and
    the answers that a model gave are added up, attempts and all.
    """
    answers, account = Spend(), None
    for event in events:
        if isinstance(event, BudgetMoved):
            account = Spend(
                event.spent_cost + event.held_cost,
                event.spent_tokens + event.held_tokens,
                event.spent_calls + event.held_calls,
            )
        elif isinstance(event, CallFinished) and not event.replayed:
            reply = Reply.from_dict(event.reply)
            tokens = reply.usage.input_tokens + reply.usage.output_tokens
            answers.add(Spend(reply.cost or 0, tokens, reply.attempts))
    return account or answers
