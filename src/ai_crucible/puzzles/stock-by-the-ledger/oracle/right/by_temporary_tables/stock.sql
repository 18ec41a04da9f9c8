DROP TABLE IF EXISTS stock;
CREATE TABLE stock(article TEXT, count INTEGER, last_day TEXT, corrected INTEGER);
CREATE TEMP TABLE clean AS SELECT id, a AS article, k AS kind, CAST(c AS INTEGER) AS count, d AS day FROM (
  SELECT id, upper(replace(replace(replace(replace(coalesce(article, ''), '/', ''), '.', ''), '-', ''), ' ', '')) AS a,
    lower(trim(coalesce(kind, ''), ' ')) AS k, trim(coalesce(count, ''), ' ') AS c,
    CASE WHEN length(day) = 10 AND day LIKE '__.__.____' AND substr(day,1,2)||substr(day,4,2)||substr(day,7) NOT GLOB '*[^0-9]*'
      THEN substr(day, 7, 4) || '-' || substr(day, 4, 2) || '-' || substr(day, 1, 2)
      WHEN length(day) = 10 AND day LIKE '____-__-__' AND replace(day, '-', '') NOT GLOB '*[^0-9]*' AND length(replace(day, '-', '')) = 8 THEN day END AS d
  FROM moves)
WHERE length(a) > 0 AND k IN ('in', 'out', 'count') AND length(c) > 0 AND c NOT GLOB '*[^0-9]*' AND d = strftime('%Y-%m-%d', julianday(d))
;
CREATE TEMP TABLE ordered AS SELECT *, day || printf('%020d', id) AS sort FROM clean;
CREATE TEMP TABLE levels AS
SELECT article, day, sort, kind, count, (
  SELECT coalesce(sum(CASE i.kind WHEN 'out' THEN -i.count ELSE i.count END), 0) FROM ordered AS i
  WHERE i.article = o.article AND i.sort < o.sort AND i.sort >= coalesce((
    SELECT max(c.sort) FROM ordered AS c WHERE c.article = o.article AND c.kind = 'count' AND c.sort < o.sort), '')) AS before
FROM ordered AS o;
INSERT INTO stock
SELECT article,
  (SELECT CASE kind WHEN 'in' THEN before + count WHEN 'out' THEN before - count ELSE count END
   FROM levels AS l WHERE l.article = g.article ORDER BY sort DESC LIMIT 1),
  max(day), sum(kind = 'count' AND count <> before)
FROM levels AS g GROUP BY article;
DROP TABLE clean;
DROP TABLE ordered;
DROP TABLE levels;
