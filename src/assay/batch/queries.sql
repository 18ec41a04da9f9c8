-- The queries of this package, each under its name (llm_runtime.store.database.queries_in).

-- name: put_back
UPDATE jobs SET state = 'waiting', due_at = 0, owner = ''
WHERE batch_id = ? AND owner = ? AND state = 'running' AND job_id = ? AND fence = ?

-- name: create
INSERT INTO batches ({columns}, created_at)
VALUES ({marks}, assay_now()) ON CONFLICT (batch_id) DO NOTHING

-- name: load
INSERT INTO jobs (batch_id, job_id, row_number, configuration, repetition, task, state,
due_at, error, message, owner, fence, fresh_from, failures, run_id, cost)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0, 0, '', 0)
ON CONFLICT (batch_id, job_id) DO NOTHING

-- name: take_over
UPDATE jobs SET state = 'done', due_at = NULL, result = other.result, run_id = other.run_id,
ended_at = other.ended_at FROM jobs AS other WHERE jobs.batch_id = ? AND jobs.state = 'waiting'
AND other.job_id = jobs.job_id AND other.state = 'done'

-- name: state
SELECT state, (SELECT min(due_at) - assay_now() FROM jobs
WHERE batch_id = ? AND due_at IS NOT NULL) FROM batches WHERE batch_id = ?

-- name: claim
WITH due AS MATERIALIZED (SELECT job_id FROM jobs WHERE batch_id = ? AND due_at <= assay_now()
AND state = 'waiting' AND (SELECT state FROM batches WHERE batches.batch_id = ?) = 'open'
ORDER BY due_at, row_number, configuration, repetition LIMIT ? {skip_locked})
UPDATE jobs SET state = 'running', due_at = ?, owner = ?, fence = fence + 1
WHERE batch_id = ? AND job_id IN (SELECT job_id FROM due)
RETURNING job_id, fence, fresh_from, failures, configuration, repetition, task, row_number,
(SELECT opened FROM batches WHERE batches.batch_id = ?)

-- name: rescue
UPDATE jobs SET failures = failures + 1, owner = '', error = 'WorkerLost',
message = 'its worker fell silent',
state = CASE WHEN failures + 1 >= ? THEN 'dead' ELSE 'waiting' END,
due_at = CASE WHEN failures + 1 >= ? THEN NULL ELSE 0 END WHERE batch_id = ? AND state = 'running'
AND (due_at = ? OR due_at <= assay_now()) AND owner NOT IN (SELECT name FROM owners)

-- name: fail
failures = failures + 1, state = CASE WHEN failures + 1 >= ? THEN 'dead' ELSE 'waiting' END,
due_at = CASE WHEN failures + 1 >= ? THEN NULL ELSE assay_now() + ? END, error = ?, message = ?,
fresh_from = CASE WHEN ? = 1 THEN fence ELSE fresh_from END

-- name: end
UPDATE jobs SET owner = '', ended_at = assay_now(), {change}
WHERE batch_id = ? AND job_id = ? AND fence = ? AND state = 'running' RETURNING 1

-- name: retry_failed
UPDATE jobs SET state = 'waiting', due_at = 0, failures = 0, ended_at = NULL
WHERE batch_id = ? AND state = 'dead' AND error <> 'BrokenInput' RETURNING 1

-- name: status
SELECT state, kind, count(*), count(age), max(age) FROM (SELECT state,
CASE state WHEN 'dead' THEN error ELSE '' END AS kind,
CASE WHEN due_at IS NULL AND ended_at > assay_now() - ? THEN assay_now() - ended_at END AS age
FROM jobs WHERE batch_id = ?) AS status GROUP BY state, kind

-- name: results
SELECT job_id, row_number, configuration, repetition, state, task, result, error, message,
failures, run_id, cost FROM jobs WHERE batch_id = ?
AND (row_number, configuration, repetition) > (?, ?, ?)
ORDER BY row_number, configuration, repetition LIMIT ?

-- name: open
INSERT INTO buckets (bucket, requests_per_minute, tokens_per_minute, in_flight, request_tat,
token_tat, pace, closed_until, wait) VALUES (?, ?, ?, ?, 0, 0, ?, 0, 0)
ON CONFLICT (bucket) DO UPDATE SET requests_per_minute = excluded.requests_per_minute,
tokens_per_minute = excluded.tokens_per_minute, in_flight = excluded.in_flight

-- name: fly
INSERT INTO flights VALUES (?, ?, 1, assay_now() + ?) ON CONFLICT (bucket, owner)
DO UPDATE SET flying = flights.flying + 1

-- name: refused
UPDATE buckets SET pace = CASE WHEN closed_until <= assay_now() THEN greatest(pace / 2, ?)
ELSE pace END,
closed_until = greatest(closed_until, assay_now() + ?) WHERE bucket = ?

-- name: faulted
UPDATE buckets SET faults = faults + 1, closed_until = CASE WHEN faults + 1 >= ?
THEN greatest(closed_until, assay_now() + ?) ELSE closed_until END WHERE bucket = ?

-- name: answered
UPDATE buckets SET faults = 0, closed_until = CASE WHEN faults >= ? THEN 0 ELSE closed_until END,
pace = least(pace * 11 / 10 + 1, ?) WHERE bucket = ?

-- name: closed
SELECT bucket, closed_until - assay_now(), faults FROM buckets WHERE closed_until > assay_now()
ORDER BY bucket

-- name: busy
SELECT bucket, in_flight, flying, requests_per_minute, request_tat - assay_now(),
tokens_per_minute, token_tat - assay_now() FROM buckets
WHERE wait > 0 AND closed_until <= assay_now() ORDER BY bucket

-- name: wait_in_line
INSERT INTO turns VALUES (?, ?, 0, assay_now() + ?) ON CONFLICT (bucket, tenant)
DO UPDATE SET waits_until = excluded.waits_until

-- name: served
INSERT INTO turns VALUES (?, ?, 1, 0) ON CONFLICT (bucket, tenant) DO UPDATE SET waits_until = 0,
served = greatest(1 + turns.served, coalesce((SELECT min(served) FROM turns AS other
WHERE other.bucket = turns.bucket AND other.tenant <> turns.tenant
AND other.waits_until > assay_now()), 0))

-- name: request
({minute} * CAST({full} AS BIGINT) / (requests_per_minute * pace))

-- name: token
-- More tokens than the burst holds wait for a full bucket, not for ever.
least(least(t.tokens * {minute} / tokens_per_minute, {burst}) * {full} / pace, {burst})

-- name: wait
greatest(0, closed_until - t.now,
CASE WHEN requests_per_minute IS NULL THEN 0
ELSE greatest(request_tat, t.now) + {request} - greatest(CAST({burst} AS BIGINT), {request}) - t.now END,
CASE WHEN tokens_per_minute IS NULL THEN 0
ELSE greatest(token_tat, t.now) + {token} - {burst} - t.now END,
CASE WHEN in_flight IS NOT NULL AND flying >= greatest(1, in_flight * pace / {full})
THEN {soon} ELSE 0 END,
CASE WHEN EXISTS (SELECT 1 FROM turns AS other WHERE other.bucket = buckets.bucket
AND other.tenant <> t.tenant AND other.waits_until > t.now AND other.served < coalesce((
SELECT served FROM turns WHERE turns.bucket = buckets.bucket AND turns.tenant = t.tenant), 0))
THEN {soon} ELSE 0 END)

-- name: take
UPDATE buckets SET wait = {wait},
request_tat = CASE WHEN requests_per_minute IS NULL OR {wait} > 0 THEN request_tat
ELSE greatest(request_tat, t.now) + {request} END,
token_tat = CASE WHEN tokens_per_minute IS NULL OR {wait} > 0 THEN token_tat
ELSE greatest(token_tat, t.now) + {token} END,
closed_until = CASE WHEN faults >= {faults} AND {wait} <= 0 THEN t.now + {pause}
ELSE closed_until END,
flying = CASE WHEN in_flight IS NULL OR {wait} > 0 THEN flying ELSE flying + 1 END
FROM (SELECT assay_now() AS now, CAST(? AS BIGINT) AS tokens, CAST(? AS TEXT) AS tenant) AS t
WHERE bucket = ? RETURNING wait, pace,
coalesce(requests_per_minute, tokens_per_minute, in_flight) IS NOT NULL, in_flight IS NOT NULL,
faults > 0, EXISTS (SELECT 1 FROM turns AS other WHERE other.bucket = buckets.bucket)

-- name: keep_vendor_batch
INSERT INTO vendor_batches VALUES (?, ?, ?, ?, ?, assay_now())
ON CONFLICT (batch_id, provider, vendor_id) DO UPDATE SET state = excluded.state, calls = excluded.calls

-- name: vendor_batches
SELECT provider, vendor_id, calls, state FROM vendor_batches
WHERE batch_id = ? AND calls <> '' ORDER BY sent_at, vendor_id

-- name: renew
UPDATE batches SET tenant = ?, configurations = ?, work = ? WHERE batch_id = ?

-- name: discard
DELETE FROM batches WHERE batch_id = ? AND state = 'loading' RETURNING 1

-- name: set_state
UPDATE batches SET state = ?, reason = ?, opened = opened + ? WHERE batch_id = ?

-- name: stop
UPDATE batches SET state = 'stopped', reason = ? WHERE batch_id = ? AND state = 'open' AND opened = ?

-- name: begun
SELECT job_id, fence FROM jobs WHERE batch_id = ? AND configuration = ? AND fence > 0
ORDER BY state, row_number LIMIT 20

-- name: running
SELECT count(*) FROM jobs WHERE batch_id = ? AND due_at > assay_now() AND state = 'running'

-- name: line_up
UPDATE jobs SET due_at = 0 WHERE batch_id = ? AND due_at > 0 AND due_at <= assay_now()

-- name: held
SELECT job_id, fence FROM jobs WHERE batch_id = ? AND due_at = ? AND owner = ? AND state = 'running'

-- name: finish
state = 'done', due_at = NULL, error = '', message = '', result = ?, run_id = ?, cost = ?

-- name: postpone
state = 'waiting', due_at = assay_now() + ?, error = ?, message = ?

-- name: put_off
state = 'waiting', due_at = 0

-- name: land
UPDATE flights SET flying = flying - 1 WHERE bucket = ? AND owner = ? AND flying > 0 RETURNING 1

-- name: landed
UPDATE buckets SET flying = flying - ? WHERE bucket = ?

-- name: keep_flying
UPDATE flights SET until = assay_now() + ? WHERE owner = ?

-- name: free
DELETE FROM flights WHERE {whose} RETURNING bucket, flying

-- name: purse_columns
cap_cost, cap_tokens, cap_calls, spent_cost, spent_tokens, spent_calls, held_cost, held_tokens, held_calls,
unknown_cost, unknown_tokens, unknown_calls

-- name: open_purse
INSERT INTO purses (purse, {columns}) VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0)
ON CONFLICT (purse) DO {change}

-- name: new_caps
UPDATE SET cap_cost = excluded.cap_cost, cap_tokens = excluded.cap_tokens, cap_calls = excluded.cap_calls

-- name: purses
SELECT purse, {columns} FROM purses {named} ORDER BY purse

-- name: mine
SELECT 1 FROM jobs WHERE batch_id = ? AND job_id = ? AND fence = ? AND state = 'running'

-- name: hold
UPDATE purses SET held_cost = held_cost + ?, held_tokens = held_tokens + ?, held_calls = held_calls + ?
WHERE purse = ? AND (cap_cost IS NULL OR spent_cost + held_cost + unknown_cost + ? <= cap_cost)
AND (cap_tokens IS NULL OR spent_tokens + held_tokens + unknown_tokens + ? <= cap_tokens)
AND (cap_calls IS NULL OR spent_calls + held_calls + unknown_calls + ? <= cap_calls) {mine} RETURNING 1

-- name: settle
UPDATE purses SET held_cost = held_cost - ?, held_tokens = held_tokens - ?, held_calls = held_calls - ?,
spent_cost = spent_cost + ?, spent_tokens = spent_tokens + ?, spent_calls = spent_calls + ?,
unknown_cost = unknown_cost + ?, unknown_tokens = unknown_tokens + ?, unknown_calls = unknown_calls + ?
WHERE purse = ? RETURNING {columns}
