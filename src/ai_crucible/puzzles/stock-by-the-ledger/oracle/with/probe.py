"""Calls that the checks make of a solution."""

import sqlite3


def stock(rows, times=1):
    """The table that the script makes of rows of moves, what it left of them, and what else there is."""
    with open("stock.sql", encoding="utf-8") as file:
        script = file.read()
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("CREATE TABLE moves(id INTEGER PRIMARY KEY, article TEXT, kind TEXT, count TEXT, day TEXT)")
    base.executemany("INSERT INTO moves VALUES (?, ?, ?, ?, ?)", rows)
    for _ in range(times):
        base.executescript(script)
    made = base.execute("SELECT article, count, last_day, corrected FROM stock ORDER BY article").fetchall()
    kept = base.execute("SELECT * FROM moves ORDER BY id").fetchall()
    others = base.execute("SELECT name FROM sqlite_master UNION ALL SELECT name FROM sqlite_temp_master ORDER BY 1").fetchall()
    columns = [(name, kind) for _, name, kind, *_ in base.execute("PRAGMA table_info(stock)")]
    return [made, sorted(map(list, rows)) == [list(row) for row in kept], [name for (name,) in others], columns]


def runs():
    """Whether the script can be read at all, on a table without rows."""
    with open("stock.sql", encoding="utf-8") as file:
        return "stock" in file.read()


def changed(before, tables):
    """The tables that the script makes, run again and again as the moves change; before: rows of a table that stands there at first."""
    with open("stock.sql", encoding="utf-8") as file:
        script = file.read()
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("CREATE TABLE moves(id INTEGER PRIMARY KEY, article TEXT, kind TEXT, count TEXT, day TEXT)")
    if before:
        base.execute("CREATE TABLE stock(article TEXT, count INTEGER, last_day TEXT, corrected INTEGER)")
        base.executemany("INSERT INTO stock VALUES (?, ?, ?, ?)", before)
    made = []
    for rows in tables:
        base.execute("DELETE FROM moves")
        base.executemany("INSERT INTO moves VALUES (?, ?, ?, ?, ?)", rows)
        base.executescript(script)
        made.append(base.execute("SELECT article, count, last_day, corrected FROM stock ORDER BY article").fetchall())
    others = base.execute("SELECT name FROM sqlite_master UNION ALL SELECT name FROM sqlite_temp_master ORDER BY 1").fetchall()
    return [made, [name for (name,) in others]]
