"""The run store: every run's log, kept so that a killed process loses nothing and a changed log is noticed."""

from __future__ import annotations

import os
from pathlib import Path

from llm_runtime.errors import ConfigurationError
from llm_runtime.settings import config_dir, read_config
from llm_runtime.store.ids import new_run_id, valid_run_id
from llm_runtime.store.ownership import SILENT_S
from llm_runtime.store.run_log import RunLog
from llm_runtime.store.run_store import RunStore
from llm_runtime.store.signing import configured_signer
from llm_runtime.store.sqlite import SqliteStore
from llm_runtime.store.summary import RunState, RunSummary

__all__ = [
    "RunLog", "RunState", "RunStore", "RunSummary", "SqliteStore", "new_run_id", "open_store", "valid_run_id",
]  # fmt: skip


def open_store(path_or_url: str | Path, *, silent_s: float = SILENT_S) -> RunStore:
    """Open the store at a path, ``sqlite:///PATH`` or ``postgresql://...``; it is made where there is none.

    What waits for the disk, and who signs, is what the user configured (``config.toml``, ``ASSAY_DURABILITY``,
    ``ASSAY_SIGNING_KEY``, ``ASSAY_SIGNING_COMMAND``).

    Args:
        path_or_url: of the store.
        silent_s: seconds without a sign of life after which another takes over what a process here holds.

    Raises:
        ConfigurationError: a URL of another kind, or a configuration that does not fit.
        MissingExtraError: PostgreSQL without its driver.
        StoreError: the store cannot be opened; the message says what to do.
    """
    text = str(path_or_url)
    scheme, separator, rest = text.partition("://")
    config = read_config(config_dir(), os.environ)
    signer = configured_signer(os.environ, config.signing_key, config.signing_command)
    if not separator or (scheme == "sqlite" and rest.startswith("/")):
        path = Path(rest[1:] if separator else text)
        return SqliteStore(path, signer=signer, durability=config.durability, silent_s=silent_s)
    if scheme in ("postgresql", "postgres"):
        from llm_runtime.store.postgres import PostgresStore

        return PostgresStore(text, signer=signer, durability=config.durability, silent_s=silent_s)
    raise ConfigurationError(
        f"{scheme}:// is no run store this version knows; use a path, sqlite:///PATH or postgresql://HOST/DATABASE"
    )
