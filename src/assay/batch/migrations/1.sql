-- batches, jobs, purses and buckets
-- Times are microseconds since the epoch, money micro-dollars. A job's due_at says when it may be taken: while it waits,
-- when its turn comes; while it runs, when its lease ends; NULL once it is over. So one index finds the next.
CREATE TABLE batches (
    batch_id TEXT PRIMARY KEY,
    tag TEXT NOT NULL,
    title TEXT NOT NULL,
    protocol TEXT NOT NULL,
    contents TEXT NOT NULL,
    configurations TEXT NOT NULL,
    work TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE TABLE jobs (
    batch_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    row_number BIGINT NOT NULL,
    configuration BIGINT NOT NULL,
    repetition BIGINT NOT NULL,
    task TEXT NOT NULL,
    state TEXT NOT NULL,
    due_at BIGINT,
    owner TEXT NOT NULL,
    fence BIGINT NOT NULL,
    fresh_from BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    error TEXT NOT NULL,
    message TEXT NOT NULL,
    run_id TEXT NOT NULL,
    result TEXT,
    cost BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX jobs_due ON jobs (batch_id, due_at, row_number) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_in_order ON jobs (batch_id, row_number, configuration, repetition);
CREATE INDEX jobs_done ON jobs (job_id) WHERE state = 'done';
CREATE TABLE purses (
    purse TEXT PRIMARY KEY,
    cap_cost BIGINT, cap_tokens BIGINT, cap_calls BIGINT,
    spent_cost BIGINT NOT NULL, spent_tokens BIGINT NOT NULL, spent_calls BIGINT NOT NULL,
    held_cost BIGINT NOT NULL, held_tokens BIGINT NOT NULL, held_calls BIGINT NOT NULL
);
CREATE TABLE buckets (
    bucket TEXT PRIMARY KEY,
    requests_per_minute BIGINT, tokens_per_minute BIGINT,
    request_tat BIGINT NOT NULL, token_tat BIGINT NOT NULL,
    pace BIGINT NOT NULL, closed_until BIGINT NOT NULL, wait BIGINT NOT NULL
);
