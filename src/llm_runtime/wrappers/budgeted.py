"""Budgets: what a call may cost is reserved before it is sent, and settled after."""

from __future__ import annotations

from collections.abc import Callable

from llm_runtime.errors import UnknownPrice
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.price import Price
from llm_runtime.tokens import token_bound
from llm_runtime.undoing import undone
from llm_runtime.wrappers.accounts import Budget, Caps, Spend, settled, settled_by_fault
from llm_runtime.wrappers.answer_bounds import ANSWER_TOKENS, answers_bounded


def budgeted(generate: Generate, budget: Budget, price: Callable[[str], Price | None]) -> Generate:
    """Send only what ``budget`` can pay for, and keep account of what became of it.

    Under a cap in USD or tokens, a request that names no ``max_tokens`` gets a bound
    (:mod:`llm_runtime.wrappers.answer_bounds`): without one a reservation would bound nothing.

    Raises, from the returned function:
        BudgetExceeded: the call does not fit. Nothing was sent.
        UnknownPrice: there is a cap in USD and ``price(model)`` knows none. Nothing was sent.
    """
    bounded = budget.caps.bounded

    async def call(request: Request) -> Reply:
        hold = worst_case(request, price(request.model), budget.caps) if bounded else Spend(calls=1)
        written = budget.reserve(hold, request.label.words)
        if written is not None:
            # Where it fails, nothing was sent.
            with undone(budget.release, hold):
                await written
        try:
            reply = await generate(request)
        except BaseException as fault:
            # Without a cap the worst case was not counted before the call; of a call whose end is unknown it is.
            most = hold if bounded else worst_case(request, price(request.model), budget.caps)
            budget.settle(hold, settled_by_fault(most, fault))
            raise
        budget.settle(hold, settled(hold, reply), answered=True)
        return reply

    return answers_bounded(call, lambda: bounded)


def worst_case(request: Request, price: Price | None, caps: Caps) -> Spend:
    """Return what a request may take at the most: input by :func:`token_bound`, output by its ``max_tokens``."""
    if caps.cost is not None and price is None:
        raise UnknownPrice(
            f"no price is known for {request.model}, so a budget in USD cannot hold; add it to prices.toml, or cap "
            "calls instead",
            advice="see: assay models --prices",
        )
    asked = token_bound(request)
    answer = request.max_tokens or ANSWER_TOKENS
    return Spend(price.bound(asked, answer) if price else 0, asked + answer, 1)
