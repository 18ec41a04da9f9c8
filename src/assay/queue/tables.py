"""The queue in PostgreSQL, which procrastinate keeps: its tables, what is put there, what a person sees of it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assay.batch.batches import open_batches
from assay.queue.entry import Entry
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.extras import needing
from llm_runtime.store.database import Database, SqliteDatabase

if TYPE_CHECKING:
    from procrastinate import App

#: The one task that procrastinate knows of us; what is to be done stands in the entry.
TASK = "assay.carry_out"
#: The library's states in our words, and what an entry says of itself, as columns.
_STATE = (
    "CASE status::text WHEN 'todo' THEN 'waiting' WHEN 'doing' THEN 'running' WHEN 'succeeded' THEN 'done' "
    "ELSE status::text END"
)
_SAYS = ", ".join(f"coalesce(args -> 'entry' ->> '{name}', '')" for name in ("kind", "run_id", "title", "version"))
#: Ours beside procrastinate's tables: which of its changes to them were made, what repeats, and when.
_OWN = """
CREATE TABLE IF NOT EXISTS queue_changes (name TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS queue_schedules (name TEXT PRIMARY KEY, cron TEXT NOT NULL, priority INTEGER NOT NULL,
    since BIGINT NOT NULL, entry TEXT NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Waiting:
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
        MissingExtraError: procrastinate is not installed.
        StoreError: it cannot be reached.
    """
    database = open_batches(check_url(store))
    try:
        _bring_up(database, store)
        yield database
    finally:
        database.close()


def is_there(database: Database) -> bool:
    """Tell whether the database holds a queue."""
    if not isinstance(database, SqliteDatabase):
        return database.execute("SELECT to_regclass('procrastinate_jobs')")[0][0] is not None
    return False


def put(database: Database, store: str, entry: Entry, priority: int = 0, due: datetime | None = None) -> int:
    """Put an entry into the queue; return its number.

    Args:
        priority: -1,000 to 1,000; higher goes first.
        due: when it may be taken at the earliest; aware of its time zone.
    """
    import procrastinate

    app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=store, min_size=1, max_size=1))
    with app.open():
        job = app.configure_task(TASK, queue=entry.queue, priority=priority, schedule_at=due)
        return job.defer(entry=entry.model_dump(mode="json", exclude_defaults=True))


def listed(database: Database, state: str = "", most: int = 200) -> list[Waiting]:
    """Return entries, those first that are taken next; ``state`` as in :class:`Waiting`."""
    rows = database.execute(
        f"SELECT id, {_STATE}, {_SAYS}, priority, attempts, scheduled_at, "
        "coalesce(args ->> 'error', '') FROM procrastinate_jobs "
        f"WHERE task_name = ? AND CAST(? AS TEXT) IN ('', {_STATE}) "
        "ORDER BY status <> 'doing', status <> 'todo', CASE WHEN status = 'todo' THEN -priority END, "
        "CASE WHEN status IN ('todo', 'doing') THEN id ELSE -id END LIMIT ?",
        (TASK, state, most),
    )
    return [Waiting(*row) for row in rows]


def counted(database: Database) -> dict[str, int]:
    """Return how many entries are in each state."""
    return {
        str(state): int(count)
        for state, count in database.execute(
            f"SELECT {_STATE}, count(*) FROM procrastinate_jobs WHERE task_name = ? GROUP BY 1", (TASK,)
        )
    }


def queues(database: Database) -> list[str]:
    """Return the queues that entries wait in now."""
    rows = database.execute(
        "SELECT DISTINCT queue_name FROM procrastinate_jobs WHERE status = 'todo' AND task_name = ? ORDER BY 1",
        (TASK,),
    )
    return [name for (name,) in rows]


def due(database: Database, served: Sequence[str]) -> int:
    """Return how many entries of these queues could be taken now."""
    places = ", ".join("?" * len(served))
    rows = database.execute(
        "SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo' AND task_name = ? "
        f"AND (scheduled_at IS NULL OR scheduled_at <= now()) AND queue_name IN ({places})",
        (TASK, *served),
    )
    return int(rows[0][0])


def cancel(database: Database, number: int) -> str:
    """Cancel an entry: one that waits at once; one that is carried out is stopped, and its run can be resumed.

    Returns:
        What happened.

    Raises:
        RunNotFound: there is no such entry, or it is over.
    """
    state = _state(database, number)
    if not database.execute("SELECT procrastinate_cancel_job_v1(?, true, false)", (number,))[0][0]:
        raise RunNotFound(f"entry {number} is over ({state}); nothing to cancel")
    return "it is stopped where it runs, within seconds" if state == "running" else "cancelled"


def again(database: Database, number: int) -> None:
    """Put an entry that failed or was cancelled back; what its run was answered is not paid for again.

    Raises:
        RunNotFound: there is no such entry, or it waits or runs.
    """
    state = _state(database, number)
    if not database.execute(
        "UPDATE procrastinate_jobs SET status = 'todo', attempts = 0, scheduled_at = NULL, "
        "abort_requested = false, args = args - 'error' "
        "WHERE id = ? AND status IN ('failed', 'cancelled', 'aborted') RETURNING 1",
        (number,),
    ):
        raise RunNotFound(f"entry {number} is {state}; only one that failed or was cancelled is put back")


def note(database: Database, number: int, error: str) -> None:
    """Keep with an entry why it failed."""
    database.execute(
        "UPDATE procrastinate_jobs SET args = args || jsonb_build_object('error', CAST(? AS TEXT)) WHERE id = ?",
        (error[:1000], number),
    )


def rescue(database: Database, silent_s: float, attempts: int) -> tuple[list[int], list[int]]:
    """Put back what workers hold that fell silent; an entry that so many workers did not survive fails instead.

    One statement, so that two workers who look at once do not both put it back.

    Returns:
        The numbers of those put back, and of those that failed.
    """
    rows = database.execute(
        "UPDATE procrastinate_jobs SET attempts = attempts + 1, worker_id = NULL, abort_requested = false, "
        "status = CASE WHEN attempts + 1 >= ? OR abort_requested THEN 'failed' "
        "ELSE 'todo' END::procrastinate_job_status, "
        "args = CASE WHEN attempts + 1 >= ? THEN args || jsonb_build_object('error', "
        "'WorkerLost: so many workers fell silent over it: ' || (attempts + 1)) ELSE args END "
        "WHERE status = 'doing' AND (worker_id IS NULL OR NOT EXISTS (SELECT 1 FROM procrastinate_workers w "
        "WHERE w.id = worker_id AND w.last_heartbeat > now() - make_interval(secs => ?))) "
        "RETURNING id, status::text",
        (attempts, attempts, silent_s),
    )
    return [n for n, state in rows if state == "todo"], [n for n, state in rows if state == "failed"]


def _state(database: Database, number: int) -> str:
    rows = database.execute(
        f"SELECT {_STATE} FROM procrastinate_jobs WHERE id = ? AND task_name = ?", (number, TASK)
    )
    if not rows:
        raise RunNotFound(f"there is no entry {number} in the queue", advice="list them with: assay queue list")
    return str(rows[0][0])


def open_app(store: str) -> App:
    """Return procrastinate over a store's database, for a worker.

    Raises:
        MissingExtraError: it is not installed.
    """
    import procrastinate

    return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=store, min_size=1, max_size=4))


def _bring_up(database: Database, store: str) -> None:
    """Make procrastinate's tables, or make the changes to them that its newer versions want, each once."""
    with needing("the queue", "scale"):
        from procrastinate.schema import SchemaManager
    from pathlib import Path

    shipped = sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))
    with database.transaction():
        database.execute(database.hold_schema)
        for statement in _OWN.split(";"):
            database.execute(statement)
        done = {name for (name,) in database.execute("SELECT name FROM queue_changes")}
        missing = [file for file in shipped if file.name not in done]
        if not missing:
            return
        if not done:
            _script(database, SchemaManager.get_schema())
        else:
            for file in missing:
                _script(database, file.read_text(encoding="utf-8"))
        _record(database, (file.name for file in missing))


def _script(database: Database, script: str) -> None:
    # Our seam takes a question mark for a value, and the driver a percent sign; these scripts have neither values.
    database.execute(script.replace("%", "%%"))


def _record(database: Database, names: Iterable[str]) -> None:
    database.many("INSERT INTO queue_changes VALUES (?)", [(name,) for name in names])


def as_data(waiting: Waiting) -> dict[str, Any]:
    """Return an entry as JSON-compatible data."""
    due = waiting.due and waiting.due.isoformat()
    return {**{name: getattr(waiting, name) for name in Waiting.__slots__}, "due": due}
