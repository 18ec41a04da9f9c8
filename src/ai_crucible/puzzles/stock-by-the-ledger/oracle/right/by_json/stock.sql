DROP TABLE IF EXISTS stock;
CREATE TABLE stock(article TEXT, count INTEGER, last_day TEXT, corrected INTEGER);
INSERT INTO stock
SELECT article, held, last, corrected FROM (
  WITH RECURSIVE m AS (SELECT id, a AS article, k AS kind, CAST(c AS INTEGER) AS count, d AS day FROM (
  SELECT id, upper(replace(replace(replace(replace(coalesce(article, ''), '/', ''), '.', ''), '-', ''), ' ', '')) AS a,
    lower(trim(coalesce(kind, ''), ' ')) AS k, trim(coalesce(count, ''), ' ') AS c,
    CASE WHEN length(day) = 10 AND day LIKE '__.__.____' AND substr(day,1,2)||substr(day,4,2)||substr(day,7) NOT GLOB '*[^0-9]*'
      THEN substr(day, 7, 4) || '-' || substr(day, 4, 2) || '-' || substr(day, 1, 2)
      WHEN length(day) = 10 AND day LIKE '____-__-__' AND replace(day, '-', '') NOT GLOB '*[^0-9]*' AND length(replace(day, '-', '')) = 8 THEN day END AS d
  FROM moves)
WHERE length(a) > 0 AND k IN ('in', 'out', 'count') AND length(c) > 0 AND c NOT GLOB '*[^0-9]*' AND d = strftime('%Y-%m-%d', julianday(d))
),
  lists AS (SELECT article, count(*) AS n, json_group_array(json_array(kind, count, day)) AS steps
    FROM (SELECT * FROM m ORDER BY article, day, id) GROUP BY article),
  walk(article, n, steps, at, held, last, corrected) AS (
    SELECT article, n, steps, 0, 0, NULL, 0 FROM lists
    UNION ALL
    SELECT article, n, steps, at + 1,
      iif(json_extract(steps, '$[' || at || '][0]') = 'count', 0, held)
        + iif(json_extract(steps, '$[' || at || '][0]') = 'out', -1, 1) * json_extract(steps, '$[' || at || '][1]'),
      json_extract(steps, '$[' || at || '][2]'),
      corrected + (json_extract(steps, '$[' || at || '][0]') = 'count' AND json_extract(steps, '$[' || at || '][1]') <> held)
    FROM walk WHERE at < n)
  SELECT * FROM walk WHERE at = n);
