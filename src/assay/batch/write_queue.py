"""The write queue: what many tasks of a worker want of the database, done together in one transaction.

A commit costs more than a statement. While one transaction is under way the next one's work gathers; nobody hears
that something is done before it is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from assay.batch.database import Database
from llm_runtime.store.postgres_connection import GaveWay, StoreUnreachable
from llm_runtime.structs import Struct

T = TypeVar("T")

_MOST_TOGETHER = 256
#: Seconds that the first statement waits for company: a model takes a hundred times as long, and a transaction with
#: its change of threads costs more than all that it holds.
_GATHER_S = 0.004
#: How often a transaction that had to give way is tried again.
_MOST_YIELDS = 5


class Statement(Struct):
    place: tuple[int, str]
    run: Callable[[], Any]
    repeatable: bool
    done: asyncio.Future[Any]


#: Rows are locked in this order, so that two workers' transactions never wait for each other in a ring.
JOBS, BUCKETS, PURSES = 0, 1, 2


class WriteQueue:
    """Takes statements from the tasks of one event loop and runs them in a thread of its own.

    Args:
        database: what the statements speak to.

    Attributes:
        broken: whether a transaction failed for good; what it held is then left to run out.
    """

    def __init__(self, database: Database) -> None:
        self.broken = False
        self._database = database
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batch-queue")
        self._waiting: list[Statement] = []
        self._serving: asyncio.Task[None] | None = None

    def do(self, run: Callable[[], T], table: int, key: str = "", *, repeatable: bool = True) -> asyncio.Future[T]:
        """Have ``run`` done within a transaction; statements put at once are done in one, in order of their tables.

        Args:
            run: statements; called again where the transaction has to be repeated.
            table: the last table it locks rows of.
            key: orders statements on one table.
            repeatable: whether doing it twice does no harm. What is not is left undone where a lost connection
                leaves open whether it was committed.

        Raises:
            StoreError: from the future: the transaction failed, and nothing of it was done.
        """
        loop = asyncio.get_running_loop()
        statement = Statement((table, key), run, repeatable, loop.create_future())
        self._waiting.append(statement)
        if self._serving is None:
            self._serving = loop.create_task(self._serve())
        return statement.done

    async def aclose(self) -> None:
        """Finish what was begun."""
        if self._serving is not None:
            await self._serving
        self._thread.shutdown()

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                await asyncio.sleep(_GATHER_S)
                together = sorted(self._waiting[:_MOST_TOGETHER], key=lambda statement: statement.place)
                del self._waiting[:_MOST_TOGETHER]
                try:
                    answers = await loop.run_in_executor(self._thread, self._commit, together)
                except Exception as error:
                    self.broken = True
                    for statement in together:
                        if not statement.done.cancelled():
                            statement.done.set_exception(error)
                    continue
                for statement, answer in zip(together, answers, strict=True):
                    if not statement.done.cancelled():
                        statement.done.set_result(answer)
        finally:
            self._serving = None

    def _commit(self, together: list[Statement]) -> list[Any]:
        repeated = False
        for _ in range(_MOST_YIELDS):
            try:
                return self._transaction(together, repeated=repeated)
            except GaveWay:
                continue
            except StoreUnreachable:
                # The next connection waits for the server to come back, or raises: nothing goes on without it.
                repeated = True
        return self._transaction(together, repeated=repeated)

    def _transaction(self, together: list[Statement], *, repeated: bool) -> list[Any]:
        with self._database.transaction():
            return [statement.run() if statement.repeatable or not repeated else None for statement in together]
