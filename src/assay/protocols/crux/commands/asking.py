"""What a run will cost, before it begins; above a dollar a person at a terminal is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from llm_runtime.price import Price
    from llm_runtime.settings import Settings

#: Micro-dollars above which a person at a terminal is asked first.
_WORTH_ASKING = 1_000_000

yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask, whatever it may cost.")


def in_money(cost: int | None) -> str:
    """Return an estimate in micro-dollars in words."""
    from assay.report.units import money

    return "at a price nobody has written down" if cost is None else f"about {money(cost)}"


def ask_to_go_on(cost: int | None, *, yes: bool) -> None:
    """Ask a person at a terminal where it may cost more than a dollar.

    Raises:
        click.Abort: the person refused.
    """
    dear = cost is None or cost > _WORTH_ASKING
    if dear and not yes and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm("Go on?", abort=True, err=True)


def price_of(settings: Settings) -> Callable[[str], Price | None]:
    """Return the price of a model as this run would reach it: what ``--model`` names answers for every one."""
    from llm_runtime.pricing import load_prices
    from llm_runtime.routing import parse_model

    prices = load_prices(settings.prices_path)
    named = settings.config.model

    def price(model: str) -> Price | None:
        target = parse_model(named or model, settings.config.endpoints)
        return prices.find(target.provider, target.model) if target else prices.find("", named or model)

    return price
