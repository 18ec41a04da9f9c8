"""`--queue`: a command's run is put into the queue of its store, and a worker carries it out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

import click

from assay.console.declared import declared
from llm_runtime.errors import ConfigurationError
from llm_runtime.rewording import instead
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from assay.registry import Prepared
    from assay.terms import Terms

F = TypeVar("F", bound=Callable[..., Any])
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class QueueOptions(Struct):
    """Whether a run goes into the queue, and how.

    Args:
        queue: whether it does.
        priority: -1,000 to 1,000; higher goes first.
        after: a moment in ISO 8601, or a span as ``90m``; empty for at once.
        every: a cron expression; the run is then put there each time it fits.
        purse: whose money it is.
    """

    queue: bool = False
    priority: int = 0
    after: str = ""
    every: str = ""
    purse: str = ""


def queue_options() -> list[click.Parameter]:
    """Return the options that put a run into the queue."""
    return declared("assay.console", "options.toml", "queue")


def queue_option(command: F) -> F:
    """Add the options to a command that is made by hand; they arrive together as ``queueing``."""

    def gathered(*args: Any, **values: Any) -> Any:
        # First, for it takes its own out of the others.
        queueing = queue_values(values)
        return command(*args, **values, queueing=queueing)

    gathered.__doc__, gathered.__name__ = command.__doc__, command.__name__
    own: list[click.Parameter] = getattr(command, "__click_params__", [])
    gathered.__click_params__ = [*reversed(queue_options()), *own]  # pyright: ignore[reportFunctionMemberAccess]
    return cast("F", gathered)


def put_into_queue(
    run: Prepared, terms: Terms, store: str | None, options: QueueOptions, seed: int | None = None, run_id: str = ""
) -> NoReturn:
    """Put a prepared run into the queue, say where it is, and end the command.

    Args:
        run_id: of a run that is gone on with; drawn where left out.

    Raises:
        ConfigurationError: no worker could carry it out; or the store is a file.
        StoreError: the queue cannot be reached.
        click.exceptions.Exit: it is there.
    """
    from random import SystemRandom

    from assay.queue.entry import entry_of
    from assay.queue.schedules import last_moment, schedule
    from assay.queue.tables import check_url, open_queue, put
    from llm_runtime.store import new_run_id

    url, due = check_url(store or ""), moment(options.after)
    now = round(datetime.now(UTC).timestamp() * 1000)
    if options.every and last_moment(options.every, now / 1000) is None:
        raise ConfigurationError(
            f'--every {options.every}: give five fields as cron has them, in UTC: "0 6 * * 1" is Mondays at 6'
        )
    entry = entry_of(run, terms, run_id or new_run_id(now, SystemRandom()), seed, options.purse)
    with open_queue(url) as database:
        if options.every:
            name = schedule(database, options.every, entry, options.priority, due)
            click.echo(f"scheduled as {name}: {options.every}; end it with: assay queue unschedule {name}")
        else:
            click.echo(f"queued as entry {put(database, entry, options.priority, due)}: run {entry.run_id}")
            click.echo(f"assay: a worker carries it out (assay work); then: assay runs show {entry.run_id}", err=True)
    raise click.exceptions.Exit(0)


def moment(text: str) -> datetime | None:
    """Return the moment that a text names: ISO 8601, local where it says nothing else, or a span from now.

    Raises:
        ConfigurationError: it names none.
    """
    if not text:
        return None
    number, unit = text[:-1], text[-1:]
    refused = ConfigurationError(f"--after {text}: give a span as 30s, 90m, 2h or 1d, or a moment as 2026-12-24T08:00")
    with instead(refused, ValueError, OverflowError, OSError):
        if unit in _UNITS and number.isdecimal():
            return datetime.now(UTC) + timedelta(**{_UNITS[unit]: int(number)})
        return datetime.fromisoformat(text).astimezone(UTC)


def queue_values(values: dict[str, Any]) -> QueueOptions:
    """Take the values of :func:`queue_options` out of a command's.

    Raises:
        ConfigurationError: one of them is of no use without ``--queue``.
    """
    taken = {key: values.pop(key) for key in list(values) if key.startswith("queue__")}
    options = QueueOptions(**{key.removeprefix("queue__"): value for key, value in taken.items()})
    if not options.queue and options != QueueOptions():
        raise ConfigurationError("--priority, --after, --every and --purse belong to --queue")
    return options
