-- runs and their records
-- As in SQLite, what a summary shows stands in each record's row as the sum so far. The key of a record is its run and
-- its place: two writers of one run cannot both append.
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
