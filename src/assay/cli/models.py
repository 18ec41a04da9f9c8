"""`assay models`: what can be reached, how it was found, and what a model can carry."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from assay.console.declared import commands, declares
from assay.console.lazy import ToldGroup
from assay.report.units import count_noun

if TYPE_CHECKING:
    from llm_runtime.routing import Reachable


@click.group(cls=ToldGroup, invoke_without_command=True)
@declares(__package__ or "", "models.toml")("models")
@click.pass_context
def models(context: click.Context, prices: bool, search: str | None, as_json: bool) -> int:
    """Show which models can be reached, and how they were found."""
    if context.invoked_subcommand is not None:
        return 0
    if prices:
        _show_prices(search or "")
        return 0
    endpoints = asyncio.run(_look())
    if as_json:
        import json
        from dataclasses import asdict

        click.echo(json.dumps({"endpoints": [asdict(entry) for entry in endpoints]}, indent=1))
        return 0 if endpoints else 78
    if not endpoints:
        from llm_runtime.routing import NO_MODEL, no_model_advice
        from llm_runtime.settings import load_settings

        click.echo(f"assay: {NO_MODEL}; {no_model_advice(load_settings())}", err=True)
        return 78
    for entry in endpoints:
        names = [name for name in entry.models if (search or "").lower() in name.lower()]
        listed = names if search else names[:8]
        click.secho(f"{entry.provider}", bold=True, nl=False)
        count = f"  {count_noun(len(names), 'model')}" if entry.models else ""
        click.echo(f"  {entry.how}" + (f"  ({entry.fault})" if entry.fault else count))
        for name in listed:
            click.echo(f"    {name}")
        if len(listed) < len(names):
            click.echo(f"    ... {len(names) - len(listed)} more; narrow them with --search")
    return 0


_command = commands(models.command, __package__ or "", "models.toml")


@_command("check")
def check(model: str | None, long: bool, as_json: bool) -> int:
    """Measure MODEL by a few small calls: can it carry each protocol?

    At most 8 calls and 3,000 tokens; --long takes one window more, of 16,000 tokens at the most. Exit code 0 where
    it is ready for every protocol, 1 where something limits it, 4 where it does not answer.

    \b
    assay models check ollama:qwen3
    assay models check http://127.0.0.1:8080/v1#model.gguf --long
    """
    from assay.cli.model_check import as_data, show
    from assay.launch.model_check import measure_model, verdicts
    from assay.registry import protocols
    from llm_runtime.settings import load_settings

    capabilities = asyncio.run(measure_model(load_settings(), model or "", long=long))
    judged = verdicts(capabilities, protocols().values())
    if as_json:
        import json

        click.echo(json.dumps(as_data(capabilities, judged), indent=1))
    else:
        show(capabilities, judged)
    return 0 if all(verdict.carries == "ready" for verdict in judged) else 1


async def _look() -> list[Reachable]:
    from llm_runtime.gateway import Gateway
    from llm_runtime.settings import load_settings

    async with Gateway(load_settings()) as gateway:
        return await gateway.router.reachable()


@_command("prices")
def prices(search: str, update: bool) -> int:
    """Show what models cost, and where to correct it.

    \b
    assay models prices --search claude
    assay models prices --update
    """
    _show_prices(search, update=update)
    return 0


def _show_prices(search: str, *, update: bool = False) -> None:
    from llm_runtime.http import Http
    from llm_runtime.price import Price
    from llm_runtime.pricelist import price_list, update_prices
    from llm_runtime.pricing import load_prices
    from llm_runtime.settings import config_dir

    own, fetched = config_dir() / "prices.toml", config_dir() / "prices.json"
    table = load_prices(own)
    known = asyncio.run(update_prices(fetched, Http())) if update else price_list(fetched)

    def line(vendor: str, model: str, price: Price) -> str:
        cached = "" if price.cached is None else f"{price.cached:.3f}"
        above = "".join(f"  above {most:,} tokens {more.input:g} and {more.output:g}" for most, more in price.above)
        return f"{vendor:<26}{model:<48}{price.input:>10.3f}{price.output:>10.3f}{cached:>10}{above}"

    rows = [line("yours", model, price) for model, price in sorted(table.prices.items())]
    rows += [line(*row) for row in known.rows()]
    chosen = [row for row in rows if search.lower() in row[:74].lower()] if search else rows[: len(table.prices)]
    source = f"fetched on {known.dated}" if known.dated else "package genai-prices"
    click.echo("USD per million tokens. What a provider reports of a call wins, then your file, then OpenRouter's")
    click.echo(f"own list, then these {len(rows) - len(table.prices):,} prices ({source}).")
    click.echo(f"Your file: {own}{'' if table.own else ' (not there yet)'}\n")
    if chosen:
        click.echo(f"{'vendor':<26}{'model':<48}{'input':>10}{'output':>10}{'cached':>10}")
    for row in chosen:
        click.echo(row)
    if not search:
        click.echo("Look for a model: assay models prices --search TEXT")
