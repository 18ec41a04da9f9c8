"""`assay work`: a worker of the queue."""

from __future__ import annotations

import click

from assay.console.options import store_option


@click.command()
@click.option(
    "--at-once", type=click.IntRange(1, 1000), default=4, show_default=True, help="Runs at the same time."
)
@click.option(
    "--drain",
    type=click.FloatRange(0, 86_400),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="What is under way has to finish after SIGTERM; the rest is put back.",
)
@click.option("--until-empty", is_flag=True, help="End where nothing is left to do.")
@click.option(
    "--log", "form", type=click.Choice(["lines", "json"]), default="lines", show_default=True, help="Of the log."
)
@store_option
def work(at_once: int, drain: float, until_empty: bool, form: str, store_path: str | None) -> None:
    """Carry out runs from the queue in PostgreSQL, until SIGTERM or Ctrl-C.

    Any number of workers, on one machine or many, share one queue, its rates and its purses. Keys and models are
    the worker's own. One that dies or hangs loses nothing: within 45 s another goes on with its runs, and no answer
    is paid for again.

    \b
    assay work --store postgresql://user@host/assay
    assay ask "Should we?" --queue --store postgresql://user@host/assay
    """
    import asyncio

    from assay.queue.log import log_lines
    from assay.queue.service import Service, serve

    say = log_lines(as_json=form == "json")
    asyncio.run(serve(Service(store_path or "", say, at_once, drain, until_empty)))
