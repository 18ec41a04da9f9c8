"""Rows of the batches that vendors have, so that whoever goes on with a batch of ours takes their answers."""

from __future__ import annotations

from assay.batch.database import SQL, Database
from llm_runtime.providers.batches import BATCH_APIS, SentBatch


def vendor_batches(database: Database, batch_id: str) -> list[SentBatch]:
    """Return what vendors were sent for a batch of ours, first ones first, where somebody may wait for its answers."""
    rows = database.execute(SQL["vendor_batches"], (batch_id,))
    return [SentBatch(provider, name, tuple(calls.split()), state) for provider, name, calls, state in rows]


def keep(database: Database, batch_id: str, sent: SentBatch) -> None:
    """Keep a new one, or what one is now."""
    row = batch_id, sent.provider, sent.batch_id, " ".join(sent.calls), sent.state
    database.execute(SQL["keep_vendor_batch"], row)


def still_there(database: Database, batch_id: str) -> tuple[str, ...]:
    """Return what vendors still have of a batch of ours, each of theirs in a phrase."""
    return tuple(
        f"{sent.provider}'s batch {sent.batch_id} ({len(sent.calls):,} calls, {sent.state or 'sent'})"
        for sent in vendor_batches(database, batch_id)
        if sent.state not in BATCH_APIS[sent.provider].ended
    )
