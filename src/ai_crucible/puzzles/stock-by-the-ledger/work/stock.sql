-- Makes the table stock out of the table moves.
CREATE TABLE stock AS
SELECT article, SUM(CASE kind WHEN 'out' THEN -count ELSE count END) AS count, MAX(day) AS last_day, 0 AS corrected
FROM moves
GROUP BY article;
