-- The queries of this package that are longer than a line, each under its name (llm_runtime.store.database.queries_in).

-- name: keep
INSERT INTO heads (run_id, name, length, digest, trail, signature, public_key)
SELECT ?, ?, ?, ?, ?, ?, ? FROM runs WHERE run_id = ? AND holder = ?
{keep_still} ON CONFLICT (run_id) DO UPDATE SET
name = excluded.name, length = excluded.length, digest = excluded.digest, trail = excluded.trail,
signature = excluded.signature, public_key = excluded.public_key

-- name: take_heads
INSERT INTO heads (run_id, name, length, digest, trail, signature, public_key)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: write_note
INSERT INTO notes (run_id, place, who, note, label, rating, at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id, place, who) DO UPDATE SET note = excluded.note, rating = excluded.rating,
label = excluded.label, at = excluded.at

-- name: notes_of
SELECT run_id, who, note, rating, label, at, place FROM notes
WHERE run_id IN ({marks}) ORDER BY at, who

-- name: beat
INSERT INTO owners (name, process, beat) VALUES (?, ?, assay_now())
ON CONFLICT (name) DO UPDATE SET beat = excluded.beat

-- name: written_by_older
SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND objid <> 0 AND objsubid = 2
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: put
WITH held AS MATERIALIZED (SELECT run FROM runs WHERE run IN ({marks})
AND holder = ? {keep_still}) INSERT INTO records
(run, seq, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body)
SELECT * FROM (VALUES {rows}) AS made
(run, seq, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body)
WHERE run IN (SELECT run FROM held) RETURNING 1

-- name: find
SELECT run_id FROM (SELECT run_id FROM runs UNION SELECT run_id FROM heads) AS known
WHERE substr(run_id, 1, ?) = ? ORDER BY CASE WHEN run_id = ? THEN 0 ELSE 1 END, run_id LIMIT 3

-- name: totals
SELECT r.protocol, coalesce(l.ending, 'open'), count(*), coalesce(sum(l.calls), 0),
coalesce(sum(l.input_tokens), 0), coalesce(sum(l.output_tokens), 0), coalesce(sum(l.cost), 0),
coalesce(sum(l.unknown), 0) FROM runs r {last_records} GROUP BY 1, 2 ORDER BY 1, 2

-- name: summaries
SELECT r.run_id, r.protocol, r.title, coalesce(l.ending, 'open'), r.origin, r.started_at,
coalesce(l.at, r.started_at), r.parent, coalesce(l.seq, 0), coalesce(l.calls, 0),
coalesce(l.input_tokens, 0), coalesce(l.output_tokens, 0), coalesce(l.cost, 0), l.cost_unknown,
coalesce(l.unknown, 0) FROM runs r {last_records} {which}

-- name: silences
-- Of a minute or more, by what ended them: no answer, which adds a call.
SELECT seq, silent FROM (SELECT seq, at - lag(at) OVER behind AS silent, calls - lag(calls) OVER behind AS answered
FROM records WHERE {behind} WINDOW behind AS (ORDER BY {in_order})) AS records WHERE silent >= 60000 AND answered = 0

-- name: insert_run
INSERT INTO runs (run_id, protocol, title, origin, parent, started_at, holder)
VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id) DO NOTHING RETURNING run

-- name: insertion
-- Who does not hold the run any more writes nothing. It also stands for a foreign key, whose check would read all
-- records when a run is deleted.
INSERT INTO records (id, at, digest, ending, calls, input_tokens, output_tokens, cost, cost_unknown, unknown, body)
SELECT column1 << 32 | column2, column3, column4, column5, column6,
column7, column8, column9, column10, column11, column12 FROM (VALUES {rows})
WHERE EXISTS (SELECT 1 FROM runs WHERE run = column1 AND holder = ?) RETURNING 1

-- name: index_runs
SELECT r.run, r.run_id, s.ended FROM runs r LEFT JOIN searched s ON s.run = r.run
WHERE s.run IS NULL OR s.ended = 0 ORDER BY r.run DESC

-- What a file that cannot be written lacks, by the schema that brought it.

-- name: as_newest_2
CREATE TEMP VIEW records AS SELECT *, 0 AS unknown FROM main.records

-- name: as_newest_3
CREATE TEMP VIEW runs AS SELECT *, '' AS holder FROM main.runs;
CREATE TEMP TABLE heads (run_id PRIMARY KEY, name, length, digest, trail, signature, public_key);
CREATE TEMP TABLE tags (run_id, tag)

-- name: as_newest_4
CREATE VIRTUAL TABLE temp.words USING fts5(body);
CREATE TEMP TABLE searched (run PRIMARY KEY, ended);
CREATE TEMP TABLE notes (run_id, place, who, note, rating, label, at)

-- name: as_newest_5
CREATE TEMP TABLE owners (name, process, beat)

-- name: as_newest_6
SELECT 1
