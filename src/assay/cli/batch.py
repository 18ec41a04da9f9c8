"""`assay batch`: many runs from one job file, on this machine or on a cluster."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.console.declared import commands
from assay.console.lazy import ToldGroup
from assay.report.units import count_noun
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying

if TYPE_CHECKING:
    from assay.batch.ledger import Batch, Ledger
    from assay.batch.progress import BatchProgress
    from assay.batch.purses import Purses


_PROGRESS_S = 1.0
#: Exit codes of a batch that somebody or something ended before all its jobs were over.
_ENDED = {"stopped": 3, "cancelled": 130}


@click.group(cls=ToldGroup)
def batch() -> None:
    """Work off many runs from one job file; what is done already is not done again.

    BATCH is a batch's id. The store is a path or a URL: sqlite:///PATH or postgresql://...
    """


_command = commands(batch.command, __package__ or "", "batch.toml")


@_command("run")
def run(job_file: Path, store_path: str | None, queue: bool, provider_batch: bool, **engine: Any) -> int:
    """Check JOB_FILE, enter its jobs and work them off. Running it again does only what is missing.

    \b
    assay batch run study.toml
    assay batch run study.toml --engine ray --store postgresql://user@host/assay
    """
    import asyncio

    from assay.batch.batches import prepare

    store = _store_url(store_path)
    if queue:
        from assay.queue.tables import check_url

        check_url(store)
    _, entered = asyncio.run(prepare(job_file, store, provider_batch=provider_batch))
    click.echo(f"batch {entered.batch_id}", err=True)
    if queue:
        return _leave_to_workers(store, entered, **engine)
    return _work(store, entered.batch_id, **engine)


@_command("resume")
def resume(batch_id: str, store_path: str | None, **engine: Any) -> int:
    """Go on with a batch that was stopped, cancelled or cut off. What was answered is not paid for again."""
    store = _store_url(store_path)
    with _ledger(store) as (ledger, _):
        if ledger.batch(batch_id).state == "loading":
            raise ConfigurationError(f"the jobs of batch {batch_id} are not all entered; run its job file again")
        ledger.set_state(batch_id, "open")
    return _work(store, batch_id, **engine)


@_command("retry-failed")
def retry_failed(batch_id: str, store_path: str | None, **engine: Any) -> int:
    """Take the dead letters of a batch up again. Broken input stays where it is: mend it and run the job file."""
    store = _store_url(store_path)
    with _ledger(store) as (ledger, _):
        count = ledger.retry_failed(ledger.batch(batch_id).batch_id)
        ledger.set_state(batch_id, "open")
    click.echo(f"{count_noun(count, 'job')} taken up again", err=True)
    return _work(store, batch_id, **engine)


@_command("cancel")
def cancel(batch_id: str, store_path: str | None) -> None:
    """Stop a batch wherever it is worked on. What is done is kept; `assay batch resume` goes on."""
    with _ledger(_store_url(store_path)) as (ledger, _):
        ledger.set_state(ledger.batch(batch_id).batch_id, "cancelled", "cancelled at the command line")
    click.echo(f"batch {batch_id} is cancelled; its workers stop within seconds", err=True)


@_command("status")
def status(batch_id: str | None, as_json: bool, store_path: str | None) -> None:
    """Show how a batch stands, or all of them: jobs done, running and failed by kind, money spent and reserved."""
    import json

    from assay.batch.progress import look

    with _ledger(_store_url(store_path)) as (ledger, purses):
        batches = [ledger.batch(batch_id)] if batch_id else ledger.batches()
        listed = [look(ledger, purses, each.batch_id) for each in batches]
    if as_json:
        click.echo(json.dumps({"batches": [progress.to_dict() for progress in listed]}, indent=1))
        return
    for progress in listed:
        reason = f" ({progress.batch.reason})" if progress.batch.reason else ""
        click.echo(f"{progress.batch.batch_id}  {progress.state}{reason}\n  {progress.line()}")
    if not listed:
        click.echo("no batches yet; make one with: assay batch run JOB.toml", err=True)


@_command("report")
def report(batch_id: str, out: str | None, store_path: str | None) -> None:
    """Show what a batch came to: by configuration, with intervals, and what failed."""
    from assay.batch.progress import look
    from assay.batch.report import batch_story
    from assay.report.places import check_report, story_text, write_whole
    from assay.report.terminal import print_story

    if out is not None:
        check_report(out, (".html", ".md"))
    with _ledger(_store_url(store_path)) as (ledger, purses):
        story = batch_story(look(ledger, purses, batch_id), ledger.results(batch_id))
    if out is None:
        print_story(story, sys.stdout, whole=True)
        return
    write_whole(Path(out), story_text(story, Path(out).suffix))
    click.echo(f"report: {out}", err=True)


@_command("results")
def results(batch_id: str, out: str | None, table_format: str, store_path: str | None) -> None:
    """Write the results, one line a job, in the order of the input."""
    from assay.batch.export import WRITERS, lines
    from llm_runtime.files import atomic_file

    ending = f".{table_format}" if out is None else Path(out).suffix
    if ending not in WRITERS:
        raise ConfigurationError(f"--out {out}: the ending says the format; it is .jsonl, .csv or .parquet")
    with _ledger(_store_url(store_path)) as (ledger, _):
        table = lines(ledger.batch(batch_id), ledger.results(batch_id))
        if out is None:
            WRITERS[ending](table, sys.stdout.buffer)
            return
        with saying(f"{out} cannot be written"), atomic_file(Path(out)) as file:
            WRITERS[ending](table, file)


def _leave_to_workers(store: str, entered: Batch, workers: int | None, **_: Any) -> int:
    """Put a batch into the queue, once for each worker that may take part."""
    from assay.queue.entry import batch_entry
    from assay.queue.tables import open_queue, put

    with open_queue(store) as database:
        for _each in range(workers or int(entered.work["workers"])):
            number = put(database, batch_entry(entered.batch_id, entered.title))
            click.echo(f"queued as entry {number}: batch {entered.batch_id}")
    return 0


def _store_url(store_path: str | None) -> str:
    from llm_runtime.settings import data_dir

    return store_path or str(data_dir() / "runs.db")


@contextmanager
def _ledger(store: str) -> Generator[tuple[Ledger, Purses]]:
    from assay.batch.batches import open_batches
    from assay.batch.ledger import Ledger
    from assay.batch.purses import Purses

    with closing(open_batches(store)) as database:
        yield Ledger(database), Purses(database)


def _work(store: str, batch_id: str, *, engine: str, address: str | None, workers: int | None, quiet: bool) -> int:
    """Work a batch off while its progress is shown; the exit code says how it ended."""
    import asyncio

    with _ledger(store) as (ledger, _):
        count = workers or int(ledger.batch(batch_id).work["workers"])
    if engine == "ray":
        from assay.batch.ray_engine import run_ray

        working = partial(run_ray, store, batch_id, count, address=address)
    else:
        from assay.batch.local import run_local

        if address is not None:
            raise ConfigurationError("--address belongs to --engine ray")
        working = partial(run_local, store, batch_id, count)
    try:
        progress = asyncio.run(_watched(working, store, batch_id, quiet=quiet))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise KeyboardInterrupt(f"assay: stopped; go on with: assay batch resume {batch_id}") from None
    click.echo(f"batch {batch_id}: {progress.state}: {progress.line()}", err=True)
    if progress.batch.reason:
        click.echo(f"assay: {progress.batch.reason}", err=True)
    if progress.state == "finished":
        return 1 if progress.status.failed else 0
    click.echo(f"assay: not all jobs are over; go on with: assay batch resume {batch_id}", err=True)
    return _ENDED.get(progress.state, 1)


async def _watched(working: Callable[[], Awaitable[None]], store: str, batch_id: str, *, quiet: bool) -> BatchProgress:
    import asyncio
    import signal

    from assay.batch.progress import look

    whole = asyncio.current_task()
    assert whole is not None
    # What a cluster sends before it takes a machine away ends the work as Ctrl-C does: jobs are put back at once.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, whole.cancel)
    with _ledger(store) as (ledger, purses):
        shown = None if quiet else asyncio.create_task(_show(lambda: look(ledger, purses, batch_id)))
        try:
            await working()
        finally:
            if shown is not None:
                shown.cancel()
                if sys.stderr.isatty():
                    click.echo("\r\x1b[2K", err=True, nl=False)
        return look(ledger, purses, batch_id)


async def _show(look: Callable[[], BatchProgress]) -> None:
    """Progress on standard error: at a terminal one line that stays up to date, elsewhere a line now and then."""
    import asyncio
    import shutil

    terminal = sys.stderr.isatty()
    while True:
        line = (await asyncio.to_thread(look)).line()
        if terminal:
            width = shutil.get_terminal_size().columns - 1
            line = f"\r\x1b[2K{line if len(line) <= width else line[: width - 1] + '…'}"
        click.echo(line, err=True, nl=not terminal)
        await asyncio.sleep(_PROGRESS_S if terminal else 10 * _PROGRESS_S)
