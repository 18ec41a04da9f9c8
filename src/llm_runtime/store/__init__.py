"""The run store: every run's log, kept so that a killed process loses nothing and a changed log is noticed."""

from __future__ import annotations

from pathlib import Path

from llm_runtime.errors import ConfigurationError
from llm_runtime.store.ids import new_run_id, valid_run_id
from llm_runtime.store.run_log import RunLog
from llm_runtime.store.run_store import RunStore
from llm_runtime.store.sqlite import SqliteStore
from llm_runtime.store.summary import RunState, RunSummary

__all__ = [
    "RunLog",
    "RunState",
    "RunStore",
    "RunSummary",
    "SqliteStore",
    "new_run_id",
    "open_store",
    "valid_run_id",
]


def open_store(path_or_url: str | Path) -> RunStore:
    """Open the store at a path, ``sqlite:///PATH`` or ``postgresql://...``; it is made where there is none.

    Raises:
        ConfigurationError: a URL of another kind.
        MissingExtraError: PostgreSQL without its driver.
        StoreError: the store cannot be opened; the message says what to do.
    """
    text = str(path_or_url)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return SqliteStore(Path(text))
    if scheme == "sqlite" and rest.startswith("/"):
        return SqliteStore(Path(rest[1:]))
    if scheme in ("postgresql", "postgres"):
        from llm_runtime.store.postgres import PostgresStore

        return PostgresStore(text)
    raise ConfigurationError(
        f"{scheme}:// is no run store this version knows; use a path, sqlite:///PATH or postgresql://HOST/DATABASE"
    )
