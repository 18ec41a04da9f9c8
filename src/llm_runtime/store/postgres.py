"""The run store in PostgreSQL: one store for the workers of many machines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from llm_runtime.clock import now_ms
from llm_runtime.errors import StoreBusy, StoreError
from llm_runtime.store.committing import Row
from llm_runtime.store.database import migrate, migrations_in
from llm_runtime.store.durability import Durability
from llm_runtime.store.heads import Heads
from llm_runtime.store.older import forget, take_heads
from llm_runtime.store.postgres_connection import LOCK_CLASS, PostgresDatabase, StoreUnreachable
from llm_runtime.store.run_store import RunStore
from llm_runtime.store.signing import KeySigner, Signer

_COLUMNS = "run, seq, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body"

# Holds for the one transaction that the statement is, without a round trip of its own.
_UNFLUSHED = " RETURNING set_config('synchronous_commit', 'off', true)"


class PostgresStore(RunStore):
    """A :class:`~llm_runtime.store.run_store.RunStore` in a PostgreSQL database.

    Who writes a run holds an advisory lock, which the server takes away with the connection of whoever dies.

    Args:
        url: ``postgresql://...``.
        clock: milliseconds since the Unix epoch, for the time of each record.
        signer: signs heads, in place of a key in Assay's data folder, one for each database.
        durability: what waits for the server's disk.

    Raises:
        StoreUnwritable: the server cannot be reached.
        StoreError: the tables were written by a newer version.
    """

    last_records = "LEFT JOIN LATERAL (SELECT * FROM records WHERE run = r.run ORDER BY seq DESC LIMIT 1) l ON true"
    behind = "run = ? AND seq > ?"
    in_order = "seq"
    with_words = "SELECT run FROM words WHERE body @@ to_tsquery('simple', ?)"
    this_one = "run = ? AND seq = ? AND at = ? AND digest = ?"

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], int] = now_ms,
        signer: Signer | None = None,
        durability: Durability = "paid",
    ) -> None:
        super().__init__("this database", clock, durability)
        self.url = url
        self._database = self.reader = self.writer = PostgresDatabase(url, on_connect=self._take_again)
        try:
            migrations = migrations_in("llm_runtime.store", "migrations/postgresql")
            migrate(self._database, "run", "the run store was", migrations)
            folder = _folder_of(url)
            with self._database.transaction():
                taken = take_heads(self._database, folder / "heads")
            forget(taken)
            self.heads = Heads(self._database, self._database, KeySigner(folder / "signing.key"), signer)
        except BaseException:
            self._database.close()
            raise

    def size(self) -> int:
        tables = "'runs', 'records', 'heads', 'tags', 'words', 'searched', 'notes'"
        query = f"SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(ARRAY[{tables}]) AS name"
        return int(self._database.execute(query)[0][0])

    def put_words(self, run: int, text: str) -> None:
        self.writer.execute("DELETE FROM words WHERE run = ?", (run,))
        if text:
            query = "INSERT INTO words (run, body) VALUES (?, to_tsvector('simple', ?))"
            self.writer.execute(query, (run, self._text(text)))

    def _pattern(self, words: Sequence[str]) -> str:
        return " & ".join(f"{word}:*" for word in words)

    def faults(self) -> list[str]:
        return []

    def give_back(self) -> None:
        self._database.execute("VACUUM (ANALYZE) runs, records, heads, tags, words, searched, notes")

    def _text(self, text: str) -> str:
        return text.replace("\0", "\ufffd")

    def _insert(self, rows: list[Row], *, flush: bool) -> int:
        import psycopg

        try:
            try:
                self._put(rows, flush=flush)
            except StoreUnreachable:
                # It may have been committed.
                if not self._hold(rows):
                    self._put(rows, flush=flush)
        except psycopg.errors.IntegrityError:
            return 0
        return len(rows)

    def _put(self, rows: list[Row], *, flush: bool) -> None:
        # One statement commits by itself: a transaction of its own would cost two round trips more.
        values = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
        self._database.execute(
            f"INSERT INTO records ({_COLUMNS}) VALUES {values}{'' if flush else _UNFLUSHED}",
            [value for row in rows for value in row],
        )

    def _take(self, run_id: str) -> Callable[[], object]:
        # The server lets one connection take a lock twice, so what is open here is looked up first.
        if run_id in self._logs or not self._try_lock(run_id):
            raise StoreBusy(f"run {run_id} is being written by another process; wait for it, or stop it first")
        return partial(self._release, run_id)

    def _name_holder(self, run: int) -> None:
        """Do nothing: the server knows who holds a lock."""

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


def _folder_of(url: str) -> Path:
    from urllib.parse import urlsplit

    from llm_runtime.settings import data_dir

    try:
        parts = urlsplit(url)
        place = f"{parts.hostname}:{parts.port}{parts.path}?{parts.query}"
    except ValueError as fault:
        raise StoreError(
            f"the address of PostgreSQL is not one ({fault}); write postgresql://HOST/DATABASE"
        ) from None
    return data_dir() / "postgresql" / hashlib.sha256(place.encode()).hexdigest()[:16]
