"""One connection to PostgreSQL that survives a restart of the server, and says so to whoever must know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llm_runtime.errors import ConfigurationError, StoreBusy, StoreDamaged, StoreUnwritable
from llm_runtime.extras import needing
from llm_runtime.store.database import Rows

if TYPE_CHECKING:
    import psycopg

#: Seconds that a lost server is waited for before work stops.
PATIENCE_S = 30.0
_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
#: A statement that hangs longer is given up, in milliseconds: a stopped server must not stop us unnoticed.
#: One that stops in a transaction, or whose network is cut, holds others up for 20 seconds at the most.
_OPTIONS = "-c application_name=assay -c statement_timeout=60000 -c idle_in_transaction_session_timeout=20000"
# Holds for the one transaction that the statement is, without a round trip of its own.
_UNFLUSHED = "set_config('synchronous_commit', 'off', true)"
# "Assy": the class of all advisory locks; 0 is held by whoever changes tables. Older versions held runs by others.
LOCK_CLASS = 0x41737379


class StoreUnreachable(StoreUnwritable):
    """The connection was lost in mid-statement: nobody knows whether it was done."""


class GaveWay(StoreBusy):
    """The transaction was chosen to end a deadlock: nothing of it was done, and it may be tried again."""


class PostgresDatabase:
    """Statements with ``?`` for values over one connection, from any thread, one at a time.

    A statement whose connection is lost raises :class:`StoreUnreachable`, and the next one connects again; only
    what merely reads, and what says that it may be repeated, is done again here. ``assay_now()`` in a statement is
    the server's clock in microseconds.

    Args:
        url: ``postgresql://...``; may carry a password, which no message repeats.
        patience: seconds to wait for a server that is not there.

    Attributes:
        when_back: called with each new connection after the first, before any statement over it.
    """

    skip_locked = "FOR UPDATE SKIP LOCKED"
    keep_still = "FOR SHARE"
    hold_schema = f"SELECT pg_advisory_xact_lock({LOCK_CLASS}, 0)"

    def __init__(self, url: str, *, patience: float = PATIENCE_S) -> None:
        self._url = url
        self._patience = patience
        self._lock = threading.RLock()
        self._depth = 0
        self._connection: psycopg.Connection | None = None
        self.when_back: Callable[[], object] = int
        try:
            self._connect(patience=0)
        except StoreUnreachable as fault:
            raise StoreUnwritable(str(fault)) from None

    def execute(self, sql: str, values: Sequence[Any] = (), *, flush: bool = True, repeatable: bool = False) -> Rows:
        """Run one statement and return its rows. Raises :class:`~llm_runtime.errors.StoreError`."""
        if not flush:
            sql += f", {_UNFLUSHED}" if " RETURNING " in sql else f" RETURNING {_UNFLUSHED}"
        with self._lock:
            try:
                return self._execute(sql, values)
            except StoreUnreachable:
                if self._depth or not (repeatable or sql.lstrip().startswith("SELECT")):
                    raise
                return self._execute(sql, values)

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement with each of ``rows``, in few round trips."""
        with self._lock, self._explained() as connection, connection.cursor() as cursor:
            cursor.executemany(_dialect(sql), list(rows))  # pyright: ignore[reportArgumentType] - typed for literals

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Run all statements of the block, or none."""
        with self._lock, self._explained() as connection:
            self._depth += 1
            try:
                with connection.transaction():
                    yield
            finally:
                self._depth -= 1

    @property
    def in_transaction(self) -> bool:
        """Whether a statement now is part of a transaction of several."""
        return self._depth > 0

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def _execute(self, sql: str, values: Sequence[Any]) -> Rows:
        with self._explained() as connection, connection.cursor() as cursor:
            cursor.execute(_dialect(sql), values)  # pyright: ignore[reportArgumentType] - typed for literals
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _explained(self) -> Generator[psycopg.Connection]:
        import psycopg

        if self._depth == 0 and (self._connection is None or self._connection.closed):
            self._connect(self._patience)
            self.when_back()
        connection = self._connection
        assert connection is not None
        try:
            yield connection
        except (psycopg.OperationalError, psycopg.InterfaceError) as fault:
            if isinstance(fault, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure):
                raise GaveWay("PostgreSQL chose this transaction to give way to another; try again") from None
            if isinstance(fault, psycopg.errors.DiskFull):
                raise StoreUnwritable("no room left for PostgreSQL; free some space, then resume") from None
            # What hangs is as good as lost: the server may still do it, or not.
            connection.close()
            raise StoreUnreachable(f"the connection to PostgreSQL was lost ({_first(fault)})") from None
        except psycopg.errors.IntegrityError:
            raise
        except psycopg.Error as fault:
            raise StoreDamaged(f"PostgreSQL does not work as a run store ({_first(fault)})") from None

    def _connect(self, patience: float) -> None:
        with needing("a store in PostgreSQL", "scale"):
            import psycopg
        until = time.monotonic() + patience
        while True:
            try:
                self._connection = psycopg.connect(
                    self._url, autocommit=True, options=_OPTIONS, connect_timeout=5, tcp_user_timeout=20_000
                )
            except psycopg.ProgrammingError as fault:
                # What follows is the address itself, with its password.
                reason = _first(fault).partition(" in URI")[0]
                raise ConfigurationError(
                    f"the address of PostgreSQL is not one ({reason}); write postgresql://USER@HOST:PORT/DATABASE"
                ) from None
            except psycopg.OperationalError as fault:
                if time.monotonic() >= until:
                    raise StoreUnwritable(
                        f"PostgreSQL cannot be reached ({_first(fault)}); start it, then run this again"
                    ) from None
                time.sleep(0.2)
            else:
                return


def _dialect(sql: str) -> str:
    return sql.replace("?", "%s").replace("assay_now()", _NOW).replace("instr(", "strpos(")


def _first(fault: Exception) -> str:
    return ascii(str(fault).split("\n")[0])[1:-1][:200] or type(fault).__name__
