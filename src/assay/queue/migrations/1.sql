-- entries and schedules
-- An entry that runs names its holder, one of the owners. One moment of a schedule is one entry, however many look.
CREATE TABLE IF NOT EXISTS owners (
    name TEXT PRIMARY KEY,
    process TEXT NOT NULL,
    beat BIGINT NOT NULL
);
CREATE TABLE queue_entries (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue TEXT NOT NULL,
    entry JSONB NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    priority INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    due TIMESTAMPTZ,
    error TEXT NOT NULL DEFAULT '',
    holder TEXT NOT NULL DEFAULT '',
    stop BOOLEAN NOT NULL DEFAULT false,
    schedule TEXT,
    moment BIGINT,
    UNIQUE (schedule, moment)
);
CREATE INDEX queue_waiting ON queue_entries (priority DESC, number) WHERE state = 'waiting';
CREATE INDEX queue_running ON queue_entries (holder) WHERE state = 'running';
CREATE TABLE IF NOT EXISTS queue_schedules (
    name TEXT PRIMARY KEY,
    cron TEXT NOT NULL,
    priority INTEGER NOT NULL,
    since BIGINT NOT NULL,
    entry TEXT NOT NULL
);
