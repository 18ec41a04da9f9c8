DROP TABLE IF EXISTS stock;
CREATE TABLE stock(article TEXT, count INTEGER, last_day TEXT, corrected INTEGER);
INSERT INTO stock
WITH RECURSIVE
read AS (
  SELECT
    id,
    upper(replace(replace(replace(replace(article, ' ', ''), '-', ''), '.', ''), '/', '')) AS article,
    lower(trim(kind, ' ')) AS kind,
    trim(count, ' ') AS count,
    CASE
      WHEN day GLOB '????-??-??' THEN day
      WHEN day GLOB '??.??.????'
        THEN substr(day, 7) || '-' || substr(day, 4, 2) || '-' || substr(day, 1, 2)
    END AS day
  FROM moves
),
counted AS (
  SELECT
    article, kind, CAST(count AS INTEGER) AS count, day,
    row_number() OVER (PARTITION BY article ORDER BY id) AS place
  FROM read
  WHERE article <> ''
    AND kind IN ('in', 'out', 'count')
    AND count <> ''
    AND count NOT GLOB '*[^0-9]*'
    AND date(day, '+0 days') = day
),
step(article, place, count, day, corrected) AS (
  SELECT article, 0, 0, '', 0
  FROM counted
  WHERE place = 1
  UNION ALL
  SELECT
    counted.article,
    counted.place,
    CASE counted.kind
      WHEN 'in' THEN step.count + counted.count
      WHEN 'out' THEN step.count - counted.count
      ELSE counted.count
    END,
    counted.day,
    step.corrected + (counted.kind = 'count' AND counted.count <> step.count)
  FROM step
  JOIN counted ON counted.article = step.article AND counted.place = step.place + 1
)
SELECT article, count, day, corrected
FROM step
WHERE place = (SELECT max(place) FROM counted WHERE counted.article = step.article);
