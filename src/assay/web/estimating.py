"""What a run will take, before it is started: calls, tokens, cost and time, and what that is read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from assay.protocol import Needs
from llm_runtime.messages import Usage
from llm_runtime.price import Price
from llm_runtime.store import RunSummary
from llm_runtime.tokens import estimate_tokens

_PACE = 40
"""Tokens a second that a model is taken to write, where no run of this kind was measured."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a usual run takes.

    Args:
        calls: to models.
        tokens: in and out.
        cost: micro-dollars; ``None`` where the model has no known price.
        milliseconds: from start to end.
        basis: what it is read from.
    """

    calls: int
    tokens: int
    cost: int | None
    milliseconds: int
    basis: str


def estimate(needs: Needs | None, past: Sequence[RunSummary], text: str, price: Price | None) -> Estimate | None:
    """Estimate a run from finished ones of its kind, else from its protocol's recording; ``None`` without either.

    Args:
        needs: of the protocol, where this is its usual kind of run.
        past: finished runs of this kind that models answered.
        text: what is asked; each call reads it.
        price: of the model.
    """
    if past:
        calls, asked, answered = (
            round(median(getattr(run, name) for run in past)) for name in ("calls", "input_tokens", "output_tokens")
        )
        milliseconds = round(median(run.updated_at - run.started_at for run in past))
        basis = f"as your last {len(past)} took" if len(past) > 1 else "as your last one took"
    elif needs is not None:
        calls, answered = needs.calls, needs.answered
        asked = needs.asked + calls * estimate_tokens(text)
        milliseconds = round(answered / _PACE * 1000)
        basis = "as its recording needed"
    else:
        return None
    # Call by call, since prices may depend on the length of a prompt.
    each = price.of(Usage(asked // max(calls, 1), answered // max(calls, 1))) if price else None
    return Estimate(calls, asked + answered, None if each is None else each * calls, milliseconds, basis)
