"""The run store in PostgreSQL: one store for the workers of many machines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

from llm_runtime.clock import now_ms
from llm_runtime.errors import StoreBusy, StoreError
from llm_runtime.store.anchor import Heads
from llm_runtime.store.committing import Row
from llm_runtime.store.database import migrate, migrations_in
from llm_runtime.store.postgres_connection import LOCK_CLASS, PostgresDatabase, StoreUnreachable
from llm_runtime.store.run_store import RunStore

_COLUMNS = "run, seq, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body"


class PostgresStore(RunStore):
    """A :class:`~llm_runtime.store.run_store.RunStore` in a PostgreSQL database.

    Who writes a run holds an advisory lock, which the server takes away with the connection of whoever dies. Signed
    heads stand in a folder of this machine: elsewhere the same run reads as not signed for.

    Args:
        url: ``postgresql://...``.
        clock: milliseconds since the Unix epoch, for the time of each record.
        heads: where heads are kept; a folder for each database, in Assay's data folder, if left out.

    Raises:
        StoreUnwritable: the server cannot be reached.
        StoreError: the tables were written by a newer version.
    """

    last_records = "LEFT JOIN LATERAL (SELECT * FROM records WHERE run = r.run ORDER BY seq DESC LIMIT 1) l ON true"
    behind = "run = ? AND seq > ?"
    in_order = "seq"
    this_one = "run = ? AND seq = ? AND at = ? AND digest = ?"

    def __init__(self, url: str, *, clock: Callable[[], int] = now_ms, heads: Heads | None = None) -> None:
        super().__init__("this database", clock, heads or _heads_of(url))
        self.url = url
        self._database = self.reader = self.writer = PostgresDatabase(url, on_connect=self._take_again)
        try:
            migrations = migrations_in("llm_runtime.store", "migrations/postgresql")
            migrate(self._database, "run", "the run store was", migrations)
        except BaseException:
            self._database.close()
            raise

    def _text(self, text: str) -> str:
        return text.replace("\0", "\ufffd")

    def _insert(self, rows: list[Row]) -> int:
        import psycopg

        try:
            try:
                self._put(rows)
            except StoreUnreachable:
                # It may have been committed.
                if not self._hold(rows):
                    self._put(rows)
        except psycopg.errors.IntegrityError:
            return 0
        return len(rows)

    def _put(self, rows: list[Row]) -> None:
        # One statement commits by itself: a transaction of its own would cost two round trips more.
        values = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
        self._database.execute(
            f"INSERT INTO records ({_COLUMNS}) VALUES {values}", [value for row in rows for value in row]
        )

    def _take(self, run_id: str) -> Callable[[], object]:
        # The server lets one connection take a lock twice, so what is open here is looked up first.
        if run_id in self._logs or not self._try_lock(run_id):
            raise StoreBusy(f"run {run_id} is being written by another process; wait for it, or stop it first")
        return partial(self._release, run_id)

    def _try_lock(self, run_id: str) -> bool:
        return bool(self._database.execute("SELECT pg_try_advisory_lock(?, ?)", (LOCK_CLASS, _key(run_id)))[0][0])

    def _release(self, run_id: str) -> None:
        if self._database.connected:
            # With the connection the locks went, too.
            self._database.execute("SELECT pg_advisory_unlock(?, ?)", (LOCK_CLASS, _key(run_id)))

    def _take_again(self) -> None:
        """Take the lock again: a lost connection ends it. The records' key still keeps a second writer out."""
        for run_id in tuple(self._logs):
            self._try_lock(run_id)

    def _held(self, run_id: str) -> bool:
        if run_id in self._logs:
            return True
        return bool(
            self._database.execute(
                "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND objid = ? "
                "AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
                (LOCK_CLASS, _key(run_id) & 0xFFFFFFFF),
            )[0][0]
        )


def _key(run_id: str) -> int:
    """Return a run's advisory lock: 32 signed bits of its digest. Runs that share them are not written at once."""
    return int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:4], "big", signed=True)


def _heads_of(url: str) -> Heads:
    from urllib.parse import urlsplit

    from llm_runtime.settings import data_dir

    try:
        parts = urlsplit(url)
        place = f"{parts.hostname}:{parts.port}{parts.path}?{parts.query}"
    except ValueError as fault:
        raise StoreError(
            f"the address of PostgreSQL is not one ({fault}); write postgresql://HOST/DATABASE"
        ) from None
    folder = data_dir() / "postgresql" / hashlib.sha256(place.encode()).hexdigest()[:16]
    return Heads(folder / "heads", folder / "signing.key")
