DROP TABLE IF EXISTS stock;
CREATE TABLE stock(article TEXT, count INTEGER, last_day TEXT, corrected INTEGER);
INSERT INTO stock
WITH m AS (SELECT id, a AS article, k AS kind, CAST(c AS INTEGER) AS count, d AS day FROM (
  SELECT id, upper(replace(replace(replace(replace(coalesce(article, ''), '/', ''), '.', ''), '-', ''), ' ', '')) AS a,
    lower(trim(coalesce(kind, ''), ' ')) AS k, trim(coalesce(count, ''), ' ') AS c,
    CASE WHEN length(day) = 10 AND day LIKE '__.__.____' AND substr(day,1,2)||substr(day,4,2)||substr(day,7) NOT GLOB '*[^0-9]*'
      THEN substr(day, 7, 4) || '-' || substr(day, 4, 2) || '-' || substr(day, 1, 2)
      WHEN length(day) = 10 AND day LIKE '____-__-__' AND replace(day, '-', '') NOT GLOB '*[^0-9]*' AND length(replace(day, '-', '')) = 8 THEN day END AS d
  FROM moves)
WHERE length(a) > 0 AND k IN ('in', 'out', 'count') AND length(c) > 0 AND c NOT GLOB '*[^0-9]*' AND d = strftime('%Y-%m-%d', julianday(d))
),
p AS (SELECT *, row_number() OVER (ORDER BY day, id) AS n FROM m),
q AS (SELECT *, CASE kind WHEN 'in' THEN count WHEN 'out' THEN -count ELSE 0 END AS change,
  sum(kind = 'count') OVER (PARTITION BY article ORDER BY n) AS block FROM p),
r AS (SELECT article, day, n, kind, block, count,
  sum(CASE kind WHEN 'count' THEN count ELSE change END) OVER (PARTITION BY article, block ORDER BY n) AS held FROM q),
s AS (SELECT *, lag(held, 1, 0) OVER (PARTITION BY article ORDER BY n) AS before FROM r)
SELECT article,
  (SELECT held FROM s AS l WHERE l.article = s.article ORDER BY n DESC LIMIT 1),
  max(day), sum(kind = 'count' AND count <> before)
FROM s GROUP BY article;
