"""The tables of batches, as ordered, named migrations that SQLite and PostgreSQL both take."""

from __future__ import annotations

from assay.batch.database import Database
from llm_runtime.store.database import migrate as _migrate

# Times are microseconds since the epoch, money micro-dollars. A job's due_at says when it may be taken: while it
# waits, when its turn comes; while it runs, when its lease ends; NULL once it is over. So one index finds the next.
MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "batches, jobs, purses and buckets",
        """
        CREATE TABLE batches (
            batch_id TEXT PRIMARY KEY,
            tag TEXT NOT NULL,
            title TEXT NOT NULL,
            protocol TEXT NOT NULL,
            contents TEXT NOT NULL,
            configurations TEXT NOT NULL,
            work TEXT NOT NULL,
            state TEXT NOT NULL,
            reason TEXT NOT NULL,
            created_at BIGINT NOT NULL
        );
        CREATE TABLE jobs (
            batch_id TEXT NOT NULL,
            job_id TEXT NOT NULL,
            row_number BIGINT NOT NULL,
            configuration BIGINT NOT NULL,
            repetition BIGINT NOT NULL,
            task TEXT NOT NULL,
            state TEXT NOT NULL,
            due_at BIGINT,
            owner TEXT NOT NULL,
            fence BIGINT NOT NULL,
            fresh_from BIGINT NOT NULL,
            failures BIGINT NOT NULL,
            error TEXT NOT NULL,
            message TEXT NOT NULL,
            run_id TEXT NOT NULL,
            result TEXT,
            cost BIGINT NOT NULL,
            ended_at BIGINT,
            PRIMARY KEY (batch_id, job_id)
        );
        CREATE INDEX jobs_due ON jobs (batch_id, due_at, row_number) WHERE due_at IS NOT NULL;
        CREATE INDEX jobs_in_order ON jobs (batch_id, row_number, configuration, repetition);
        CREATE INDEX jobs_done ON jobs (job_id) WHERE state = 'done';
        CREATE TABLE purses (
            purse TEXT PRIMARY KEY,
            cap_cost BIGINT, cap_tokens BIGINT, cap_calls BIGINT,
            spent_cost BIGINT NOT NULL, spent_tokens BIGINT NOT NULL, spent_calls BIGINT NOT NULL,
            held_cost BIGINT NOT NULL, held_tokens BIGINT NOT NULL, held_calls BIGINT NOT NULL
        );
        CREATE TABLE buckets (
            bucket TEXT PRIMARY KEY,
            requests_per_minute BIGINT, tokens_per_minute BIGINT,
            request_tat BIGINT NOT NULL, token_tat BIGINT NOT NULL,
            pace BIGINT NOT NULL, closed_until BIGINT NOT NULL, wait BIGINT NOT NULL
        );
        """,
    ),
    (
        "tenants take turns; calls in flight across workers",
        """
        ALTER TABLE batches ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
        ALTER TABLE buckets ADD COLUMN in_flight BIGINT;
        ALTER TABLE buckets ADD COLUMN flying BIGINT NOT NULL DEFAULT 0;
        CREATE TABLE flights (
            bucket TEXT NOT NULL, owner TEXT NOT NULL, flying BIGINT NOT NULL, until BIGINT NOT NULL,
            PRIMARY KEY (bucket, owner)
        );
        CREATE TABLE turns (
            bucket TEXT NOT NULL, tenant TEXT NOT NULL, served BIGINT NOT NULL, waits_until BIGINT NOT NULL,
            PRIMARY KEY (bucket, tenant)
        );
        """,
    ),
    (
        "what attempts may have taken of which nobody knows the end",
        """
        ALTER TABLE purses ADD COLUMN unknown_cost BIGINT NOT NULL DEFAULT 0;
        ALTER TABLE purses ADD COLUMN unknown_tokens BIGINT NOT NULL DEFAULT 0;
        ALTER TABLE purses ADD COLUMN unknown_calls BIGINT NOT NULL DEFAULT 0
        """,
    ),
)


def migrate(database: Database) -> None:
    """Bring the tables of batches to the newest schema. Raises :class:`~llm_runtime.errors.StoreError`."""
    _migrate(database, "batch", "the batches were", MIGRATIONS)
