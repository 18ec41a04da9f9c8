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
-- Versions of before kept entries in the tables of a library, procrastinate: they are moved. What a worker of such a
-- version had is put back, and no moment of a schedule before now counts.
CREATE TABLE IF NOT EXISTS procrastinate_jobs (
    id BIGINT,
    queue_name TEXT,
    args JSONB,
    status TEXT,
    priority INTEGER,
    attempts INTEGER,
    scheduled_at TIMESTAMPTZ
);
INSERT INTO queue_entries (queue, entry, state, priority, attempts, due, error)
SELECT queue_name, coalesce(args -> 'entry', '{}'),
    CASE status::text WHEN 'todo' THEN 'waiting' WHEN 'doing' THEN 'waiting' WHEN 'succeeded' THEN 'done'
    ELSE status::text END, priority, attempts, scheduled_at, coalesce(args ->> 'error', '')
FROM procrastinate_jobs ORDER BY id;
DROP TABLE procrastinate_jobs CASCADE;
DROP TABLE IF EXISTS queue_changes;
UPDATE queue_schedules SET since = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
