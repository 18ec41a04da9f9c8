"""Where batches are kept: beside the runs of their store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llm_runtime.errors import ConfigurationError
from llm_runtime.store.database import Database, SqliteDatabase, queries_in

__all__ = ["SQL", "Database", "NamedQueries", "batches_path", "open_database"]

SQL = queries_in("assay.batch")


class NamedQueries:
    """What speaks to tables of batches by the queries of ``queries.sql``.

    Args:
        database: where the tables are (:func:`assay.batch.schema.migrate`).
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def _do(self, query: str, *values: Any, **parts: str) -> list[tuple[Any, ...]]:
        """Run a query by its name, with ``parts`` put into its text; return its rows, if it has any."""
        sql = SQL[query]
        return self.database.execute(sql.format(**parts) if parts else sql, values)


def open_database(url: str) -> Database:
    """Open the database of batches that belongs to a run store.

    Args:
        url: of the run store: a path, ``sqlite:///PATH`` or ``postgresql://...``. Beside ``runs.db`` batches are
            in ``runs-batches.db``, so that the two do not wait for each other.

    Raises:
        ConfigurationError: a URL of another kind.
        StoreError: it cannot be opened.
    """
    if url.startswith(("postgresql://", "postgres://")):
        from llm_runtime.store.postgres_connection import PostgresDatabase

        return PostgresDatabase(url)
    scheme, separator, _ = url.partition("://")
    if separator and scheme != "sqlite":
        raise ConfigurationError(
            f"{scheme}:// is no store of batches; use a path, sqlite:///PATH or postgresql://HOST/DATABASE"
        )
    return SqliteDatabase(batches_path(Path(url.removeprefix("sqlite:///"))))


def batches_path(runs: Path) -> Path:
    """Return where the batches of a store in a file are."""
    return runs.with_name(f"{runs.stem}-batches.db")
