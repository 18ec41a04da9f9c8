-- words of runs, and what people wrote beside them
CREATE TABLE words (
    run BIGINT PRIMARY KEY,
    body TSVECTOR NOT NULL
);
CREATE INDEX words_by_word ON words USING gin (body);
CREATE TABLE searched (
    run BIGINT PRIMARY KEY,
    ended INTEGER NOT NULL
);
CREATE TABLE notes (
    run_id TEXT NOT NULL,
    place TEXT NOT NULL,
    who TEXT NOT NULL,
    note TEXT NOT NULL,
    rating INTEGER,
    label TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (run_id, place, who)
);
CREATE INDEX tags_by_name ON tags (tag, run_id);
