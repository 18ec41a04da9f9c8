-- Makes the table stock out of the table moves.
CREATE TABLE IF NOT EXISTS stock(
  article TEXT PRIMARY KEY, count INTEGER, last_day TEXT, corrected INTEGER
) WITHOUT ROWID;
WITH raw AS (
  SELECT
    id,
    upper(replace(replace(replace(replace(article, ' ', ''), '-', ''), '.', ''), '/', '')) AS art,
    lower(trim(kind)) AS what,
    trim(count) AS figures,
    CASE
      WHEN day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' THEN day
      WHEN day GLOB '[0-9][0-9].[0-9][0-9].[0-9][0-9][0-9][0-9]'
        THEN substr(day, 7, 4) || '-' || substr(day, 4, 2) || '-' || substr(day, 1, 2)
    END AS iso
  FROM moves
), good AS (
  SELECT id, art, what, CAST(figures AS INTEGER) AS n, iso
  FROM raw
  WHERE art <> ''
    AND what IN ('in', 'out', 'count')
    AND figures <> '' AND figures NOT GLOB '*[^0-9]*'
    AND date(iso, '+0 days') = iso
), marked AS (
  SELECT *, SUM(what = 'count') OVER (PARTITION BY art ORDER BY iso, id) AS block
  FROM good
), running AS (
  SELECT *,
    SUM(CASE what WHEN 'out' THEN -n ELSE n END)
      OVER (PARTITION BY art, block ORDER BY iso, id) AS level
  FROM marked
), seen AS (
  SELECT *,
    LAG(level, 1, 0) OVER (PARTITION BY art ORDER BY iso, id) AS prior,
    ROW_NUMBER() OVER (PARTITION BY art ORDER BY iso DESC, id DESC) AS back
  FROM running
)
INSERT OR REPLACE INTO stock
SELECT art, MAX(CASE WHEN back = 1 THEN level END), MAX(iso), SUM(what = 'count' AND n <> prior)
FROM seen
GROUP BY art;
