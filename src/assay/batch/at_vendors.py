"""Rows of the batches that vendors have, so that whoever goes on with a batch of ours takes their answers."""

from __future__ import annotations

from collections.abc import Sequence

from assay.batch.database import SQL, Database
from assay.batch.write_queue import JOBS, WriteQueue
from llm_runtime.providers.batches import BATCH_APIS, SentBatch


class VendorRows:
    """What the workers of one batch sent off, over their write queue.

    Args:
        queue: runs the statements.
        database: where they are.
        batch_id: of the batch of ours.
    """

    def __init__(self, queue: WriteQueue, database: Database, batch_id: str) -> None:
        self._queue, self._database, self._batch_id = queue, database, batch_id

    async def all(self) -> Sequence[SentBatch]:
        """Return all whose answers somebody may wait for, first ones first."""
        rows = await self._queue.do(lambda: self._database.execute(SQL["vendor_batches"], (self._batch_id,)), JOBS)
        return [SentBatch(provider, name, tuple(calls.split()), state) for provider, name, calls, state in rows]

    async def keep(self, sent: SentBatch) -> None:
        """Keep a new one, or what one is now."""
        row = self._batch_id, sent.provider, sent.batch_id, " ".join(sent.calls), len(sent.calls), sent.state
        await self._queue.do(lambda: self._database.execute(SQL["keep_vendor_batch"], row), JOBS)


def still_there(database: Database, batch_id: str) -> tuple[str, ...]:
    """Return what vendors still have of a batch of ours, each of theirs in a phrase."""
    return tuple(
        f"{provider}'s batch {name} ({many:,} calls, {state or 'sent'})"
        for provider, name, many, state in database.execute(SQL["still_there"], (batch_id,))
        if state not in BATCH_APIS[provider].ended
    )
