CREATE TABLE moves(id INTEGER PRIMARY KEY, article TEXT, kind TEXT, count TEXT, day TEXT);
INSERT INTO moves VALUES
  (1, 'ab-12', 'in', '10', '2026-01-05'),
  (2, 'AB 12', 'out', '3', '06.01.2026'),
  (3, 'Ab.12', 'count', '8', '2026-01-07'),
  (4, 'K/7', 'in', '5', '2026-02-30'),
  (5, 'K7', 'In ', ' 4 ', '2026-02-28'),
  (6, 'k-7', 'borrowed', '1', '2026-03-01');
