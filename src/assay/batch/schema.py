"""The tables of batches, as ordered, named migrations that SQLite and PostgreSQL both take."""

from __future__ import annotations

from assay.batch.database import Database
from llm_runtime.store.database import migrate as _migrate
from llm_runtime.store.database import migrations_in

MIGRATIONS = migrations_in("assay.batch", "migrations")


def migrate(database: Database) -> None:
    """Bring the tables of batches to the newest schema. Raises :class:`~llm_runtime.errors.StoreError`."""
    _migrate(database, "batch", "the batches were", MIGRATIONS)
