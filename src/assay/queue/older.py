"""What versions of before kept in the tables of a library, procrastinate: it is moved into our own."""

from __future__ import annotations

from llm_runtime.errors import StoreBusy
from llm_runtime.store.database import Database

_STATE = (
    "CASE status::text WHEN 'todo' THEN 'waiting' WHEN 'doing' THEN 'waiting' WHEN 'succeeded' THEN 'done' "
    "ELSE status::text END"
)
_ALIVE = (
    "SELECT 1 FROM procrastinate_jobs j JOIN procrastinate_workers w ON w.id = j.worker_id "
    "WHERE j.status = 'doing' AND w.last_heartbeat > now() - interval '30 seconds'"
)


def take_entries(database: Database) -> None:
    """Move entries that a version of before put there, where it did.

    Raises:
        StoreBusy: a worker of such a version carries one out.
    """
    if database.execute("SELECT to_regclass('procrastinate_jobs')")[0][0] is None:
        return
    with database.transaction():
        database.execute(database.hold_schema)
        if database.execute(_ALIVE):
            raise StoreBusy("a worker of an older version carries out entries; wait for it, or stop it first")
        moved = database.execute(
            "INSERT INTO queue_entries (queue, entry, state, priority, attempts, due, error) SELECT queue_name, "
            f"coalesce(args -> 'entry', '{{}}'), {_STATE}, priority, attempts, scheduled_at, "
            "coalesce(args ->> 'error', '') FROM procrastinate_jobs ORDER BY id RETURNING 1"
        )
        if moved:
            database.execute("DELETE FROM procrastinate_periodic_defers")
            database.execute("DELETE FROM procrastinate_jobs")
            # What an older version put there for a moment is not known any more: none of before now counts.
            database.execute("UPDATE queue_schedules SET since = assay_now()")
