"""`assay queue`: what waits for a worker."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from assay.console.declared import commands
from assay.console.lazy import ToldGroup

if TYPE_CHECKING:
    from assay.queue.tables import QueuedEntry


@click.group(cls=ToldGroup)
def queue() -> None:
    """See and steer what waits for a worker (assay work). ENTRY is a number, as `assay queue list` shows it."""


_command = commands(queue.command, __package__ or "", "queue.toml")


@_command("list")
def list_entries(state: str, as_json: bool, store_path: str | None) -> None:
    """List entries, those first that are taken next, and what repeats."""
    from assay.queue.schedules import last_moment, schedules
    from assay.queue.tables import as_data, counted, listed, open_queue

    with open_queue(store_path or "") as database:
        entries, counts, repeating = listed(database, state), counted(database), schedules(database)
    if as_json:
        repeats = [{"name": each.name, "cron": each.cron, "kind": each.entry.kind} for each in repeating]
        data = {"counts": counts, "entries": [as_data(each) for each in entries], "schedules": repeats}
        click.echo(json.dumps(data, indent=1))
        return
    for each in entries:
        _show(each)
    for one in repeating:
        read = last_moment(one.cron, time.time())
        left = "" if read else "  (cannot be read any more: unschedule it, and give it anew)"
        click.echo(f"{one.name}  repeats {one.cron}  {one.entry.kind}  {one.entry.title[:60]}{left}")
    if not entries and not repeating:
        click.echo("nothing is in the queue; put a run there with: assay ask QUESTION --queue", err=True)


def _show(entry: QueuedEntry) -> None:
    due = f", not before {entry.due.isoformat(timespec='seconds')}" if entry.due and entry.state == "waiting" else ""
    click.echo(f"{entry.number}  {entry.state}{due}  {entry.kind}  {entry.run_id}  {entry.title[:60]}")
    if entry.error:
        click.echo(f"    {entry.error}")


@_command("cancel")
def cancel_entry(entry: int, store_path: str | None) -> None:
    """Cancel an entry; a run under way is stopped and can be resumed."""
    from assay.queue.tables import cancel, open_queue

    with open_queue(store_path or "") as database:
        click.echo(f"entry {entry}: {cancel(database, entry)}", err=True)


@_command("retry")
def retry_entry(entry: int, store_path: str | None) -> None:
    """Put an entry that failed or was cancelled back; what its run was answered is not paid for again."""
    from assay.queue.tables import again, open_queue

    with open_queue(store_path or "") as database:
        again(database, entry)
    click.echo(f"entry {entry} waits again", err=True)


@_command("unschedule")
def end_schedule(name: str, store_path: str | None) -> None:
    """End what repeats; what is in the queue already stays there."""
    from assay.queue.schedules import unschedule
    from assay.queue.tables import open_queue

    with open_queue(store_path or "") as database:
        unschedule(database, name)
    click.echo(f"{name} repeats no more", err=True)


@_command("purse")
def purse(name: str, usd: float | None, calls: int | None, tokens: int | None, store_path: str | None) -> None:
    """Show a purse, or set what the runs of `--queue --purse NAME` may spend together, whoever carries them out."""
    from assay.batch.progress import amounts
    from assay.batch.purses import Purses
    from assay.queue.carrying import PURSE
    from assay.queue.tables import open_queue
    from llm_runtime.wrappers.accounts import Caps

    with open_queue(store_path or "") as database:
        given = (usd, calls, tokens) != (None, None, None)
        caps = Caps(None if usd is None else round(usd * 1e6), tokens, calls) if given else None
        click.echo(f"purse {name}: {amounts(Purses(database).open(f'{PURSE}{name}', caps))}")
