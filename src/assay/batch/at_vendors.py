"""Rows of the batches that vendors have, so that whoever goes on with a batch of ours takes their answers."""

from __future__ import annotations

import json
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
        """Return all that were sent, first ones first."""
        return await self._queue.do(lambda: sent_batches(self._database, self._batch_id), JOBS)

    async def keep(self, sent: SentBatch) -> None:
        """Keep a new one, or the new state of one."""
        row = self._batch_id, sent.provider, sent.batch_id, json.dumps(sent.calls), sent.state
        await self._queue.do(lambda: self._database.execute(SQL["keep_vendor_batch"], row), JOBS)


def sent_batches(database: Database, batch_id: str) -> list[SentBatch]:
    """Return the batches that vendors were sent on behalf of one of ours, first ones first."""
    rows = database.execute(SQL["vendor_batches"], (batch_id,))
    return [SentBatch(provider, name, tuple(json.loads(calls)), state) for provider, name, calls, state in rows]


def still_there(database: Database, batch_id: str) -> list[str]:
    """Return what vendors still have, each batch in a phrase."""
    return [
        f"{sent.provider}'s batch {sent.batch_id} ({len(sent.calls):,} calls, {sent.state or 'sent'})"
        for sent in sent_batches(database, batch_id)
        if sent.state not in BATCH_APIS[sent.provider].ended
    ]
