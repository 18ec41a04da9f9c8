-- Patterns that circles agreed on, and an index of their words.
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    category TEXT NOT NULL,
    subcategory TEXT NOT NULL,
    attack_id TEXT NOT NULL,
    agreement REAL NOT NULL,
    content TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS entries_by_type ON entries (subcategory, agreement);
CREATE INDEX IF NOT EXISTS entries_by_attack ON entries (attack_id);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5 (description, examples, tokenize = 'unicode61');
PRAGMA user_version = 1;
