-- words of runs, and what people wrote beside them
-- Neither is part of a log: the words can be taken from it anew, and the notes are nobody's answer.
CREATE VIRTUAL TABLE words USING fts5(body, tokenize = "unicode61 remove_diacritics 2");
CREATE TABLE searched (
    run INTEGER PRIMARY KEY,
    ended INTEGER NOT NULL
) STRICT;
CREATE TABLE notes (
    run_id TEXT NOT NULL,
    place TEXT NOT NULL,
    who TEXT NOT NULL,
    note TEXT NOT NULL,
    rating INTEGER,
    label TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (run_id, place, who)
) STRICT;
CREATE INDEX tags_by_name ON tags (tag, run_id);
