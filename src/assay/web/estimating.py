"""What a run will take, before it is started: calls, tokens, cost and time, and what that is read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from assay.hooks import hooks_of
from assay.launch import price_of
from assay.launch.naming import models_of
from assay.protocol import Needs, RunType
from assay.registry import Prepared, protocol_of
from assay.report.units import count, count_noun, duration, money, short_count
from assay.terms import Terms
from assay.web.app_state import AppState
from assay.web.permissions import seen
from llm_runtime.messages import Usage
from llm_runtime.price import Price
from llm_runtime.store import RunStore, RunSummary
from llm_runtime.tokens import estimate_tokens

_PACE = 40
"""Tokens a second that a model is taken to write, where no run of this kind was measured."""

_MEASURED = 9
"""Finished runs of a kind that an estimate is read from."""


@dataclass(frozen=True, slots=True)
class UsualRun:
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

    def times(self, units: int) -> UsualRun:
        """Return what so many of them take."""
        cost = None if self.cost is None else self.cost * units
        calls, tokens, milliseconds = (each * units for each in (self.calls, self.tokens, self.milliseconds))
        return UsualRun(calls, tokens, cost, milliseconds, self.basis)


def estimate_of(run: RunType, store: RunStore, text: str, price: Price | None, units: int = 1) -> UsualRun | None:
    """Estimate a run of a kind before it is started.

    Args:
        store: whose finished runs are looked at.
        text: what is asked.
        price: of the model.
        units: how often it does what the protocol's usual run does once.
    """
    owner = protocol_of(run.name)
    usual = owner.runs[0] if hooks_of(run).several else run
    # A run of many tasks says nothing of one of another number.
    finished = store.runs(protocol=usual.names, state="finished", limit=_MEASURED, among=seen())
    past = [one for one in finished if one.origin == "live" and one.calls and not hooks_of(usual).several]
    one = estimate(owner.needs if usual is owner.runs[0] else None, past, text, price)
    return one and one.times(units)


def words_of(estimate: UsualRun | None, units: int = 1) -> str:
    """Write an estimate as a sentence."""
    if estimate is None:
        return "Nothing is known yet of what this takes; set a budget."
    many = f"{count(units)} times what one took: a" if units > 1 else "A"
    cost = "unknown cost" if estimate.cost is None else f"about {money(estimate.cost)}"
    return (
        f"{many}bout {count_noun(estimate.calls, 'call')}, {short_count(estimate.tokens)} tokens, {cost}, "
        f"{duration(estimate.milliseconds)} if done one after the other; {estimate.basis}. "
        "An estimate is no bound: a budget is."
    )


def estimate(needs: Needs | None, past: Sequence[RunSummary], text: str, price: Price | None) -> UsualRun | None:
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
    return UsualRun(
        calls, asked + answered, None if each is None else each * calls, max(round(milliseconds, -4), 10_000), basis
    )


def run_price(site: AppState, run: Prepared, terms: Terms) -> Price | None:
    """Return the price of the dearest model that answers a run; ``None`` where nobody says one of them."""
    panel = [] if terms.model else models_of(run) if run.hooks.panel(run.options) else []
    prices = [model_price(site, name) for name in panel or [terms.model]]
    known = [price for price in prices if price is not None]
    return max(known, key=lambda price: price.output) if len(known) == len(prices) else None


def model_price(site: AppState, model: str | None) -> Price | None:
    """Return the price of the model that answers; ``None`` where it is not known.

    The first price of all is read from a large table: that may take a moment, and only a named model costs it.
    """
    named = model or site.settings().config.model
    chip = site.models.known.of(named) if named else None
    return chip.price if chip else price_of(site.settings(), named) if named else None
