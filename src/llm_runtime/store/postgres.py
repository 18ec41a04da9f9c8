"""The run store in PostgreSQL: one store for the workers of many machines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from llm_runtime.clock import now_ms
from llm_runtime.errors import StoreBusy, StoreError
from llm_runtime.events import RunStarted
from llm_runtime.store.committing import Row
from llm_runtime.store.database import SQL, migrate, migrations_in
from llm_runtime.store.durability import Durability
from llm_runtime.store.heads import Heads, forget_files, take_heads
from llm_runtime.store.ownership import SILENT_S, Owner
from llm_runtime.store.postgres_connection import LOCK_CLASS, PostgresDatabase, StoreUnreachable
from llm_runtime.store.run_log import RunLog
from llm_runtime.store.run_store import RunStore
from llm_runtime.store.schema import WRITTEN_NOW
from llm_runtime.store.signing import KeySigner, Signer
from llm_runtime.undoing import undone

_ROW = f"({', '.join('?' * 12)})"
#: Rows that one process leaves to the server to flush when it likes.
_MOST_UNFLUSHED = 200


class PostgresStore(RunStore):
    """A :class:`~llm_runtime.store.run_store.RunStore` in a PostgreSQL database.

    Args:
        url: ``postgresql://...``.
        clock: milliseconds since the Unix epoch, for the time of each record.
        signer: signs heads, in place of a key in Assay's data folder, one for each database.
        durability: what waits for the server's disk.
        silent_s: seconds without a sign of life after which another takes over what a process here holds.

    Raises:
        StoreUnwritable: the server cannot be reached.
        StoreBusy: an older version writes in it now.
        StoreError: the tables were written by a newer version.
    """

    last_records = "LEFT JOIN LATERAL (SELECT * FROM records WHERE run = r.run ORDER BY seq DESC LIMIT 1) l ON true"
    behind = "run = ? AND seq > ?"
    in_order = "seq"
    with_words = "SELECT run FROM words WHERE body @@ to_tsquery('simple', ?)"
    this_one = "run = ? AND seq = ? AND at = ? AND digest = ?"

    def __init__(
        self, url: str, *, clock: Callable[[], int] = now_ms, signer: Signer | None = None,
        durability: Durability = "paid", silent_s: float = SILENT_S,
    ) -> None:  # fmt: skip
        super().__init__("this database", clock, durability)
        self.url = url
        self._database = self.reader = self.writer = PostgresDatabase(url)
        self._unflushed: list[Row] = []
        self._database.when_back = self._put_again
        with undone(self._database.close):
            if self._database.execute(SQL["written_by_older"], (LOCK_CLASS,)):
                raise StoreBusy(WRITTEN_NOW)
            migrations = migrations_in("llm_runtime.store", "migrations/postgresql")
            migrate(self._database, "run", "the run store was", migrations)
            folder = _folder_of(url)
            with self._database.transaction():
                taken = take_heads(self._database, folder / "heads")
            forget_files(taken)
            self.heads = Heads(self._database, self._database, KeySigner(folder / "signing.key"), signer)
        self.owner = Owner(self._database, silent_s=silent_s, woken=self._tell_the_late)

    def start(self, started: RunStarted) -> RunLog:
        try:
            return super().start(started)
        except StoreUnreachable:
            # It may have been made; then it is this owner's.
            return self.reopen(started.run_id) if self._is_mine(started.run_id) else super().start(started)

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

    def _insert(self, rows: list[Row], holder: str, *, flush: bool) -> int:
        import psycopg

        with suppress(psycopg.errors.IntegrityError):
            try:
                return self._put(rows, holder, flush=flush)
            except (StoreUnreachable, psycopg.errors.IntegrityError):
                if self._database.in_transaction:
                    raise
                # Some may have been committed, now or when they were tried before.
                missing = [row for row in rows if not self._hold([row])]
                return len(rows) - len(missing) + (self._put(missing, holder, flush=flush) if missing else 0)
        return 0

    def _put(self, rows: list[Row], holder: str, *, flush: bool) -> int:
        # One statement commits by itself: a transaction of its own would cost two round trips more. Who takes a run
        # over waits for it, and what begins after that finds another holder.
        runs, alone = {row[0] for row in rows}, not self._database.in_transaction
        flush = flush or (alone and len(self._unflushed) > _MOST_UNFLUSHED)
        marks, values = ", ".join("?" * len(runs)), ", ".join([_ROW] * len(rows))
        statement = SQL["put"].format(marks=marks, keep_still=self._database.keep_still, rows=values)
        made = len(self._database.execute(statement, [*runs, holder, *chain.from_iterable(rows)], flush=flush))
        if alone and flush:
            # With a commit all before it are flushed.
            self._unflushed.clear()
        elif alone:
            self._unflushed += rows
        return made

    def _put_again(self) -> None:
        """Put what a server that fell had committed and not flushed, so that what follows leaves no gap before it."""
        lost = [row for row in self._unflushed if not self._hold([row])]
        if lost:
            self._put(lost, self.owner.name, flush=True)


def _folder_of(url: str) -> Path:
    from urllib.parse import urlsplit

    from llm_runtime.settings import data_dir

    try:
        parts = urlsplit(url)
        place = f"{parts.hostname}:{parts.port}{parts.path}?{parts.query}"
    except ValueError as fault:
        raise StoreError(f"the address of PostgreSQL is not one ({fault}); write postgresql://HOST/DATABASE") from None
    return data_dir() / "postgresql" / hashlib.sha256(place.encode()).hexdigest()[:16]
