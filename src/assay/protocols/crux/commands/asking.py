"""What a run will cost, before it begins; above a dollar a person at a terminal is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import click

if TYPE_CHECKING:
    from assay.console.running import RunCommand
    from llm_runtime.price import Price
    from llm_runtime.settings import Settings

#: Micro-dollars above which a person at a terminal is asked first.
_WORTH_ASKING = 1_000_000

#: Tokens of a call, in and out: of reading and linking, and of comparing and judging.
READING, _COMPARING = (6_000, 1_600), (5_000, 1_200)

AskedFor: TypeAlias = tuple[str, int, tuple[int, int]]


def in_money(cost: int | None) -> str:
    """Return an estimate in micro-dollars in words."""
    from assay.report.units import money

    return "at a price nobody has written down" if cost is None else f"about {money(cost)}"


def ask_to_go_on(cost: int | None, *, yes: bool) -> None:
    """Ask a person at a terminal where it may cost more than a dollar.

    Raises:
        click.Abort: the person refused.
    """
    if (cost is None or cost > _WORTH_ASKING) and not yes and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm("Go on?", abort=True, err=True)


def announce(command: RunCommand, asked: Sequence[AskedFor], rest: str, *, yes: bool) -> None:
    """Say how many calls there will be and what they will cost, and ask where that is dear.

    Args:
        asked: how often each model is asked, and about how many tokens go in and come back each time.
        rest: what else there is to say of the calls.
    """
    from assay.report.units import count_noun

    price = price_of(command.settings)
    known = [(price(model), calls, tokens) for model, calls, tokens in asked]
    costs = [one.cost(calls * put, calls * got) if one else None for one, calls, (put, got) in known]
    cost = None if None in costs else sum(one or 0 for one in costs)
    if not command.output.quiet:
        calls = count_noun(sum(calls for _, calls, _ in asked), "call")
        click.echo(f"about {calls}, {in_money(cost)}: {rest}", err=True)
    ask_to_go_on(cost, yes=yes)


def announce_comparison(command: RunCommand, model: str, reading: int, rest: int, *, yes: bool) -> None:
    """Announce a comparison of what many texts say.

    Args:
        model: whom readers and judges ask.
        reading: calls for what is not read yet.
        rest: calls besides.
    """
    from assay.report.units import count_noun

    read = f"{count_noun(reading, 'call')} to read what was not read before" if reading else "all was read before"
    announce(command, ((model, reading, READING), (model, rest, _COMPARING)), read, yes=yes)


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
