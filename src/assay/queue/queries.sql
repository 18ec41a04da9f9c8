-- The queries of this package that are longer than a line, each under its name (llm_runtime.store.database.queries_in).

-- name: listed
SELECT number, state, coalesce(entry ->> 'kind', ''), coalesce(entry ->> 'run_id', ''),
coalesce(entry ->> 'title', ''), coalesce(entry ->> 'version', ''), priority, attempts, due, error FROM queue_entries
WHERE CAST(? AS TEXT) IN ('', state)
ORDER BY state <> 'running', state <> 'waiting', CASE WHEN state = 'waiting' THEN -priority END,
CASE WHEN state IN ('waiting', 'running') THEN number ELSE -number END LIMIT ?

-- name: take
UPDATE queue_entries SET state = 'running', holder = ?, stop = false WHERE number IN (SELECT number
FROM queue_entries WHERE state = 'waiting'
AND (due IS NULL OR due <= clock_timestamp()) AND queue IN ({marks})
ORDER BY priority DESC, number LIMIT ? {skip_locked})
RETURNING priority, number, entry, attempts

-- name: cancel
UPDATE queue_entries SET stop = true, state = CASE state WHEN 'waiting' THEN 'cancelled' ELSE state END
WHERE number = ? AND state IN ('waiting', 'running') RETURNING 1

-- name: again
UPDATE queue_entries SET state = 'waiting', attempts = 0, error = '',
due = CASE WHEN attempts = 0 AND due > clock_timestamp() THEN due END
WHERE number = ? AND state IN ('failed', 'cancelled', 'aborted') RETURNING 1

-- name: rescue
UPDATE queue_entries SET attempts = attempts + 1, holder = '', state = CASE WHEN stop THEN 'aborted'
WHEN attempts + 1 >= ? THEN 'failed' ELSE 'waiting' END, error = CASE WHEN attempts + 1 >= ?
THEN 'WorkerLost: so many workers fell silent over it: ' || (attempts + 1) ELSE error END
WHERE state = 'running' AND holder NOT IN (SELECT name FROM owners) RETURNING number, state

-- name: put
INSERT INTO queue_entries (queue, entry, priority, due) VALUES (?, CAST(? AS jsonb), ?, ?) RETURNING number

-- name: put_once
INSERT INTO queue_entries (queue, entry, priority, schedule, moment) VALUES (?, CAST(? AS jsonb), ?, ?, ?)
ON CONFLICT (schedule, moment) DO NOTHING RETURNING 1

-- name: put_back
state = 'waiting', error = ?, attempts = attempts + ?, due = clock_timestamp() + make_interval(secs => ?)

-- name: schedule
INSERT INTO queue_schedules (name, cron, priority, since, entry) VALUES (?, ?, ?, coalesce(CAST(? AS BIGINT), assay_now()), ?)
