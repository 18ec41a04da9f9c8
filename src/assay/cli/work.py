"""`assay work`: a worker of the queue."""

from __future__ import annotations

import click

from assay.console.declared import commands

_command = commands(click.command, __package__ or "", "work.toml")


@_command("work")
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

    asyncio.run(serve(Service(store_path or "", log_lines(as_json=form == "json"), at_once, drain, until_empty)))
