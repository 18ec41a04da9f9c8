-- owners of jobs
-- A job that runs names one of the owners, and is due when nobody lives any more: its due_at is the end of time. One that
-- an older version took keeps the end of its lease.
CREATE TABLE IF NOT EXISTS owners (
    name TEXT PRIMARY KEY,
    process TEXT NOT NULL,
    beat BIGINT NOT NULL
);
