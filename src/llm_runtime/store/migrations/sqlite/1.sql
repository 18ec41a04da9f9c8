-- runs and their records
-- A record's key is its run's number and its place in one integer, which SQLite clusters by and needs no second index
-- for: appending is what the store does most. What a summary shows stands in each record's row as the sum so far: one
-- insert appends, and the last row of a run is its summary.
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    protocol TEXT NOT NULL,
    title TEXT NOT NULL,
    origin TEXT NOT NULL,
    parent TEXT NOT NULL,
    started_at INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_time ON runs (started_at, run);
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL GENERATED ALWAYS AS (id >> 32) VIRTUAL,
    seq INTEGER NOT NULL GENERATED ALWAYS AS (id & 4294967295) VIRTUAL,
    at INTEGER NOT NULL,
    digest BLOB NOT NULL,
    ending TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    cost_unknown INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
