"""The tables of runs in PostgreSQL, as ordered, named migrations."""

from __future__ import annotations

COLUMNS = "run, seq, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body"

# As in SQLite, what a summary shows stands in each record's row as the sum so far. The key of a record is its run
# and its place: two writers of one run cannot both append.
MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "runs and their records",
        """
        CREATE TABLE runs (
            run BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            protocol TEXT NOT NULL,
            title TEXT NOT NULL,
            origin TEXT NOT NULL,
            parent TEXT NOT NULL,
            started_at BIGINT NOT NULL
        );
        CREATE INDEX runs_by_time ON runs (started_at, run);
        CREATE TABLE records (
            run BIGINT NOT NULL REFERENCES runs ON DELETE CASCADE,
            seq BIGINT NOT NULL,
            at BIGINT NOT NULL,
            digest BYTEA NOT NULL,
            ending TEXT NOT NULL,
            calls BIGINT NOT NULL,
            input_tokens BIGINT NOT NULL,
            output_tokens BIGINT NOT NULL,
            cost BIGINT NOT NULL,
            cost_unknown BOOLEAN NOT NULL,
            body BYTEA NOT NULL,
            PRIMARY KEY (run, seq)
        );
        """,
    ),
    (
        "what attempts may have taken of which nobody knows the end",
        "ALTER TABLE records ADD COLUMN unknown BIGINT NOT NULL DEFAULT 0",
    ),
)
