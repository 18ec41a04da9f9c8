"""The queue in PostgreSQL: its tables, what is put there and taken, what a person sees of it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Any

from assay.batch.batches import open_batches
from assay.queue.entry import Entry
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.store.database import Database, SqliteDatabase, migrate, migrations_in, queries_in
from llm_runtime.structs import Struct

SQL = queries_in("assay.queue")


class QueuedEntry(Struct):
    """An entry as a person sees it.

    Args:
        number: its place in the order of arrival.
        state: ``"waiting"``, ``"running"``, ``"done"``, ``"failed"``, ``"cancelled"`` or ``"aborted"``.
        kind: of run, or ``"batch"``.
        run_id: the run or batch.
        title: one line.
        version: of Assay that put it there.
        priority: higher goes first.
        attempts: how often it was taken before.
        due: when it may be taken at the earliest; ``None`` for at once.
        error: why it failed, in one line.
    """

    number: int
    state: str
    kind: str
    run_id: str
    title: str
    version: str
    priority: int
    attempts: int
    due: datetime | None
    error: str


def check_url(store: str) -> str:
    """Return the address of a store that can hold a queue.

    Raises:
        ConfigurationError: it is a file: workers of many machines, or even two of one, would not find it.
    """
    if store.startswith(("postgresql://", "postgres://")):
        return store
    raise ConfigurationError(
        "the queue needs a store that workers reach; give --store postgresql://HOST/DATABASE (or set ASSAY_STORE)"
    )


@contextmanager
def open_queue(store: str) -> Generator[Database]:
    """Open the database of a store's queue for the block, its tables brought to the newest form.

    Raises:
        ConfigurationError: the store is a file.
        StoreError: it cannot be reached, or a newer version wrote it.
    """
    with closing(open_batches(check_url(store))) as database:
        migrate(database, "queue", "the queue was", migrations_in("assay.queue", "migrations"))
        yield database


class Taken(Struct):
    """An entry in the hands of one worker: its number, what was put there, how often it was taken in vain."""

    number: int
    data: object
    attempts: int


def is_there(database: Database) -> bool:
    """Tell whether the database holds a queue."""
    query = "SELECT to_regclass('queue_entries')"
    return not isinstance(database, SqliteDatabase) and database.execute(query)[0][0] is not None


def put(database: Database, entry: Entry, priority: int = 0, due: datetime | None = None) -> int:
    """Put an entry into the queue; return its number.

    Args:
        priority: -1,000 to 1,000; higher goes first.
        due: when it may be taken at the earliest; aware of its time zone.
    """
    values = (entry.queue, entry.model_dump_json(exclude_defaults=True), priority, due)
    return int(database.execute(SQL["put"], values)[0][0])


def put_once(database: Database, entry: Entry, priority: int, schedule: str, moment: int) -> bool:
    """Put the entry of one moment of a schedule there; return false where somebody has."""
    values = (entry.queue, entry.model_dump_json(exclude_defaults=True), priority, schedule, moment)
    return bool(database.execute(SQL["put_once"], values))


def listed(database: Database, state: str = "", most: int = 200) -> list[QueuedEntry]:
    """Return entries, those first that are taken next; ``state`` as in :class:`Waiting`."""
    return [QueuedEntry(*row) for row in database.execute(SQL["listed"], (state, most))]


def counted(database: Database) -> dict[str, int]:
    """Return how many entries are in each state."""
    return dict(database.execute("SELECT state, count(*) FROM queue_entries GROUP BY 1"))


def queues(database: Database) -> list[str]:
    """Return the queues that entries wait in now."""
    rows = database.execute("SELECT DISTINCT queue FROM queue_entries WHERE state = 'waiting' ORDER BY 1")
    return [name for (name,) in rows]


def take(database: Database, holder: str, queues: Sequence[str], most: int) -> list[Taken]:
    """Take up to so many entries of these queues that are due, in order of their priority."""
    statement = SQL["take"].format(marks=", ".join("?" * len(queues)), skip_locked=database.skip_locked)
    rows = database.execute(statement, (holder, *queues, most))
    return [Taken(*row) for _, *row in sorted(rows, key=lambda row: (-row[0], row[1]))]


def held(database: Database, holder: str) -> dict[int, bool]:
    """Return the entries that ``holder`` has, each with whether a person wants it to stop."""
    rows = database.execute("SELECT number, stop FROM queue_entries WHERE state = 'running' AND holder = ?", (holder,))
    return dict(rows)


def end(database: Database, holder: str, number: int, state: str, error: str = "") -> bool:
    """Enter how an entry ended; return false where another has it by now, and nothing was done."""
    return _let_go(database, holder, number, "state = ?, error = ?", state, error[:1000])


def put_back(database: Database, holder: str, number: int, error: str = "", wait_s: float = 0, tried: int = 0) -> bool:
    """Let an entry wait for its next attempt, of which ``tried`` more were in vain; false as of :func:`end`."""
    return _let_go(database, holder, number, SQL["put_back"], error[:1000], tried, wait_s)


def _let_go(database: Database, holder: str, number: int, change: str, *values: object) -> bool:
    update = f"UPDATE queue_entries SET holder = '', {change} WHERE number = ? AND holder = ? RETURNING 1"
    return bool(database.execute(update, (*values, number, holder)))


def cancel(database: Database, number: int) -> str:
    """Cancel an entry: one that waits at once; one that is carried out is stopped, and its run can be resumed.

    Returns:
        What happened.

    Raises:
        RunNotFound: there is no such entry, or it is over.
    """
    state = _state(database, number)
    if not database.execute(SQL["cancel"], (number,)):
        raise RunNotFound(f"entry {number} is over ({state}); nothing to cancel")
    return "it is stopped where it runs, within seconds" if state == "running" else "cancelled"


def again(database: Database, number: int) -> None:
    """Put an entry that failed or was cancelled back; what its run was answered is not paid for again.

    Raises:
        RunNotFound: there is no such entry, or it waits or runs.
    """
    state = _state(database, number)
    if not database.execute(SQL["again"], (number,)):
        raise RunNotFound(f"entry {number} is {state}; only one that failed or was cancelled is put back")


def rescue(database: Database, attempts: int) -> tuple[list[int], list[int]]:
    """Put back what is held by workers that are gone; an entry that so many did not survive fails instead.

    Returns:
        The numbers of those put back, and of those that failed.
    """
    rows = database.execute(SQL["rescue"], (attempts, attempts))
    return [n for n, state in rows if state == "waiting"], [n for n, state in rows if state == "failed"]


def _state(database: Database, number: int) -> str:
    rows = database.execute("SELECT state FROM queue_entries WHERE number = ?", (number,))
    if not rows:
        raise RunNotFound(f"there is no entry {number} in the queue", advice="list them with: assay queue list")
    return str(rows[0][0])


def as_data(waiting: QueuedEntry) -> dict[str, Any]:
    """Return an entry as JSON-compatible data."""
    due = waiting.due and waiting.due.isoformat()
    return {**{name: getattr(waiting, name) for name in QueuedEntry.__slots__}, "due": due}
