-- signed heads and tags as rows
CREATE TABLE heads (
    run_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    length BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    trail BYTEA NOT NULL,
    signature BYTEA NOT NULL,
    public_key BYTEA NOT NULL
);
CREATE TABLE tags (
    run_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (run_id, tag)
);
