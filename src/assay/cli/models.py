"""`assay models`: what can be reached, and how it was found."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from llm_runtime.routing import Reachable


@click.command()
@click.option("--prices", is_flag=True, help="Show the price table and where to extend it.")
@click.option("--search", metavar="TEXT", help="Only models whose id contains TEXT.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def models(prices: bool, search: str | None, as_json: bool) -> int:
    """Show which models can be reached, and how they were found."""
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
        from llm_runtime.routing import NO_MODEL

        click.echo(f"assay: {NO_MODEL}", err=True)
        return 78
    for entry in endpoints:
        names = [name for name in entry.models if (search or "").lower() in name.lower()]
        listed = names if search else names[:8]
        click.secho(f"{entry.provider}", bold=True, nl=False)
        click.echo(f"  {entry.how}" + (f"  ({entry.fault})" if entry.fault else f"  {len(names)} models"))
        for name in listed:
            click.echo(f"    {name}")
        if len(listed) < len(names):
            click.echo(f"    ... {len(names) - len(listed)} more; narrow them with --search")
    return 0


async def _look() -> list[Reachable]:
    from llm_runtime.gateway import Gateway
    from llm_runtime.settings import load_settings

    async with Gateway(load_settings()) as gateway:
        return await gateway.router.reachable()


def _show_prices(search: str) -> None:
    from llm_runtime.pricing import load_prices
    from llm_runtime.settings import config_dir

    own = config_dir() / "prices.toml"
    table = load_prices(own)
    click.echo(f"USD per million tokens, read on {table.dated}; a provider's own reported cost wins.")
    click.echo(f"Your corrections: {own}{'' if table.own else ' (not there yet)'}\n")
    click.echo(f"{'model id begins with':<32}{'input':>10}{'output':>10}")
    for model, price in sorted(table.prices.items()):
        if search.lower() in model.lower():
            click.echo(f"{model:<32}{price.input:>10.2f}{price.output:>10.2f}")
