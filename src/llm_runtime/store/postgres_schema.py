"""The tables of runs in PostgreSQL, as ordered, named migrations."""

from __future__ import annotations

from llm_runtime.errors import StoreError
from llm_runtime.store.postgres_connection import PostgresDatabase

# As in SQLite, what a summary shows stands in each record's row as the sum so far. The key of a record is its run
# and its place: two writers of one run cannot both append.
MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "runs and their records",
        """
        CREATE TABLE runs (
            run BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            protocol TEXT NOT NULL,
            title TEXT NOT NULL,
            origin TEXT NOT NULL,
            parent TEXT NOT NULL,
            started_at BIGINT NOT NULL
        );
        CREATE INDEX runs_by_time ON runs (started_at, run);
        CREATE TABLE records (
            run BIGINT NOT NULL REFERENCES runs ON DELETE CASCADE,
            seq BIGINT NOT NULL,
            at BIGINT NOT NULL,
            digest BYTEA NOT NULL,
            ending TEXT NOT NULL,
            calls BIGINT NOT NULL,
            input_tokens BIGINT NOT NULL,
            output_tokens BIGINT NOT NULL,
            cost BIGINT NOT NULL,
            cost_unknown BOOLEAN NOT NULL,
            body BYTEA NOT NULL,
            PRIMARY KEY (run, seq)
        );
        """,
    ),
    (
        "what attempts may have taken of which nobody knows the end",
        "ALTER TABLE records ADD COLUMN unknown BIGINT NOT NULL DEFAULT 0",
    ),
)


def migrate(database: PostgresDatabase) -> None:
    """Bring the tables to the newest form, all of it or nothing.

    Raises:
        StoreError: they were written by a newer version.
    """
    with database.transaction():
        database.execute(database.hold_schema)
        database.execute(
            "CREATE TABLE IF NOT EXISTS run_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL)"
        )
        done = int(database.execute("SELECT coalesce(max(number), 0) FROM run_migrations")[0][0])
        if done > len(MIGRATIONS):
            raise StoreError(
                f"the run store was written by a newer version (schema {done}, this one knows {len(MIGRATIONS)}); "
                "update, or name another database"
            )
        for number, (name, script) in enumerate(MIGRATIONS[done:], start=done + 1):
            for statement in filter(str.strip, script.split(";")):
                database.execute(statement)
            database.execute("INSERT INTO run_migrations VALUES (?, ?)", (number, name))
