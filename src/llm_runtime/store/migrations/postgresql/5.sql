-- owners of runs
-- A run's holder is one of the owners, for as long as that one lives; the server's own locks hold nothing any more.
CREATE TABLE IF NOT EXISTS owners (
    name TEXT PRIMARY KEY,
    process TEXT NOT NULL,
    beat BIGINT NOT NULL
);
ALTER TABLE runs ADD COLUMN holder TEXT NOT NULL DEFAULT '';
