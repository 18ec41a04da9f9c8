-- signed heads, holders and tags as rows
CREATE TABLE heads (
    run_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    length INTEGER NOT NULL,
    digest BLOB NOT NULL,
    trail BLOB NOT NULL,
    signature BLOB NOT NULL,
    public_key BLOB NOT NULL
) STRICT;
CREATE TABLE tags (
    run_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (run_id, tag)
) STRICT;
ALTER TABLE runs ADD COLUMN holder TEXT NOT NULL DEFAULT '';
