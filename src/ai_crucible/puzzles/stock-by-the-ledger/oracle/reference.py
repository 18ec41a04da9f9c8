"""Right answers by a way of their own: one move after another."""

from datetime import date

COLUMNS = [("article", "TEXT"), ("count", "INTEGER"), ("last_day", "TEXT"), ("corrected", "INTEGER")]
FIGURES = set("0123456789")


def day_of(text):
    if text is None or len(text) != 10:
        return None
    for mark, places in (("-", (0, 5, 8)), (".", (6, 3, 0))):
        parts = text.split(mark)
        if [len(part) for part in parts] == ([4, 2, 2] if mark == "-" else [2, 2, 4]) and all(set(part) <= FIGURES for part in parts):
            year, month, day = map(int, parts if mark == "-" else parts[::-1])
            try:
                return date(year, month, day).isoformat() if year else None
            except ValueError:
                return None
    return None


def stock(rows):
    moves = []
    for number, article, kind, count, day in rows:
        article = "".join(c for c in article or "" if c not in " -./").upper()
        kind, count, day = (kind or "").strip(" ").lower(), (count or "").strip(" "), day_of(day)
        if article and kind in ("in", "out", "count") and count and set(count) <= FIGURES and day:
            moves.append((day, number, article, kind, int(count)))
    table = {}
    for day, _, article, kind, count in sorted(moves):
        held, _, corrected = table.get(article, (0, "", 0))
        if kind == "count":
            corrected += count != held
            held = count
        else:
            held += count if kind == "in" else -count
        table[article] = (held, day, corrected)
    return [(article, *values) for article, values in sorted(table.items())]


def case(rows, times=1):
    rows = [list(row) for row in rows]
    return {"args": [rows, times], "expect": [stock(rows), True, ["moves", "stock"], COLUMNS]}


def by_hand(random):
    d = "2026-01-0"
    yield case([(1, "ab-12", "in", "10", d + "5"), (2, "AB 12", "out", "3", "06.01.2026"), (3, "Ab.12", "count", "8", d + "7"), (4, "K/7", "in", "5", "2026-02-30"), (5, "K7", "In ", " 4 ", "2026-02-28"), (6, "k-7", "borrowed", "1", "2026-03-01")])
    yield case([(1, "a", "in", "5", d + "2"), (2, "a", "count", "3", d + "1"), (3, "a", "out", "9", d + "3")], 3)
    yield case([(1, "a", "count", "0", d + "1"), (2, "b", "count", "1", d + "1"), (3, "b", "count", "1", d + "1")])
    yield case([(n + 2, "a" + str(n), "in", bad, d + "1") for n, bad in enumerate(["-1", "+1", "1.0", "1e3", "0x1", "1 2", "", " ", None, "\t1", "007", "12345678901", "\u0661", "9007199254740993", "0" * 30 + "7", "1\n", "\n1", "\u00a01", "\u00b2", "1_0", "\ufeff1", "4611686018427387904"])])
    yield case([(n, "a" + str(n), "in", "1", bad) for n, bad in enumerate(["2026-1-01", "2026-13-01", "2026-02-29", "2024-02-29", "29.02.2024", "29.02.2023", "1.2.2026", "01-02-2026", "2026.01.02", "2026/01/02", " 2026-01-02", "2026-01-02 ", "2026-01-02T00:00", "now", "", None, "20260102", "31.04.2026", "31.03.2026", "00.01.2026", "0999-01-02", "10.10.2020", "2026-00-10", "2026-01-00", "2026-01-02\n", "02.01.2026\n", "\u0662026-01-02", "2026-01-0\u0662", "9999-12-31", "31.12.9999", "0001-01-01", "02.01.2026 ", "32.01.2026", "2026.01-02", "02-01.2026", "2026-01-02x"], 1)])
    leap = [f"{year:04}-02-29" for year in (4, 100, 400, 1000, 1500, 1600, 1700, 1800, 1896, 1900, 1904, 1999, 2000, 2001, 2100, 2200, 2300, 2400, 2800, 9996)]
    both = leap + [".".join(reversed(day.split("-"))) for day in leap]
    yield case([(n, "a" + str(n), "in", "1", day) for n, day in enumerate(both, 1)])
    yield case([(n, "a", random.choice(["in", "count", "out"]), str(n % 7), day) for n, day in enumerate(random.sample(both, len(both)), 1)], 2)
    yield case([(n, "a", random.choice(["in", "out", "count"]), str(n % 9), d + str(n % 9 + 1)) for n in range(1, 301)])
    yield case([(n, "a", "in" if n % 2 else "count", str(2**53 + n), d + "1") for n in range(1, 6)])
    yield case([(n, "a" + str(n), kind, "1", d + "1") for n, kind in enumerate(["IN", " Out", "COUNT  ", "", None, "i n", "\tin", "in\n", "inn", "\nin", "in\u00a0", "i\u0274", "out in", "\ufeffin"], 1)])
    yield case([(n, article, "in", "1", d + "1") for n, article in enumerate(["a", "A", " a ", "-a-", "a.", "/a", "a b", "AB", "", " ", "-./ ", None, "a_b", "10", "1-0"], 1)])
    yield case([(7, "a", "in", "1", d + "1"), (3, "a", "count", "5", d + "1"), (5, "a", "out", "2", d + "1")], 2)
    yield case([(-5, "a", "count", "5", d + "1"), (0, "a", "in", "1", d + "1"), (10**12, "a", "out", "2", d + "1"), (9, "a", "count", "3", d + "1"), (10, "a", "in", "4", d + "1")], 2)
    yield case([(n, "a", "out" if n % 3 else "count", str(n), "2026-01-01") for n in range(1, 400)])
    yield case([(1, "stock", "in", "1", d + "1"), (2, "moves", "in", "1", d + "1"), (3, "NULL", "in", "1", d + "1"), (4, "0", "in", "1", d + "1"), (5, "00", "in", "1", d + "1"), (6, "1e2", "in", "1", d + "1"), (7, "1.0", "in", "1", d + "1"), (8, "-1", "in", "1", d + "1"), (9, "+1", "in", "1", d + "1"), (10, "it's", "in", "1", d + "1"), (11, "a%b", "in", "1", d + "1"), (12, "a*b", "in", "1", d + "1"), (13, "a\\b", "in", "1", d + "1")], 2)
    yield case([(n, "a", "count", count, d + str(n)) for n, count in enumerate(["0", "00", "5", "05", "5 ", "4", "0"], 1)])
    yield case([(1, "a", "out", "5", d + "1"), (2, "a", "in", "5", d + "2"), (3, "b", "out", "5", d + "1"), (4, "b", "count", "0", d + "2"), (5, "c", "count", "0", d + "1"), (6, "c", "count", "x", d + "9"), (7, "d", "lost", "1", d + "1"), (8, "e", "in", "0", d + "1"), (9, "f", "out", "0", d + "1")], 3)
    yield case([(1, "a", "count", "5", "10.02.2026"), (2, "a", "in", "1", "09.03.2026"), (3, "a", "out", "2", "2026-02-20")])


def ledgers(random):
    while True:
        articles = random.sample(["ab-12", "AB12", "ab 1.2", "k/7", "K7", "z", "-", ""], random.randint(1, 5))
        ids = random.sample(range(1, 200), random.randint(0, 18))
        rows = []
        for number in ids:
            year = random.choice([2026, 2026, 1900, 2000, 2100, 2024])
            day = f"{year}-{random.randint(1, 3):02}-{random.choice([1, 2, 3, 10, 28, 29, 31]):02}"
            if random.random() < 0.4:
                day = ".".join(reversed(day.split("-")))
            kind = random.choice(["in", "in", "out", "out", "count", "count", "In ", "COUNT", "lost", None])
            count = random.choice([str(random.randint(0, 12)), str(random.randint(0, 12)), "0", " 3", "x", "-2", None])
            rows.append((number, random.choice(articles), kind, count, day))
        yield case(rows, random.choice([1, 1, 2]))


def changed(random):
    """Made anew of moves that are others by now, and where a table stands that knows other articles."""
    d = "2026-01-0"
    first = [(1, "ab-12", "in", "10", d + "5"), (2, "K7", "in", "4", d + "6"), (3, "K7", "count", "9", d + "7"), (4, "z", "out", "1", d + "7")]
    told = [("AB12", 77, "2031-01-01", 5), ("GONE", 3, "2020-01-01", 0), ("K7", 1, "2000-01-01", 9), ("ab12", 2, "2026-01-01", 0), (None, None, None, None)]
    others = [[], first[:1], first[1:], [(2, "K7", "lost", "4", d + "6"), (4, "z", "out", "x", d + "7")], [(*row[:4], "2026-02-30") for row in first], [(number, "new", *rest) for number, _, *rest in first], [(*row[:3], "3", row[4]) for row in first], [(number + 10, article, kind, count, "2025-12-31") for number, article, kind, count, _ in first[::-1]], first]
    for then in others:
        for before in ([], told):
            yield {"args": [before, [first, then]], "expect": [[stock(first), stock(then)], ["moves", "stock"]]}
    while True:
        tables = []
        for _ in range(random.randint(1, 4)):
            rows = next(ledgers(random))["args"][0]
            tables.append([tuple(row) for row in rows])
        yield {"args": [random.choice([[], told]), tables], "expect": [[stock(rows) for rows in tables], ["moves", "stock"]]}


def runs(random):
    yield {"args": [], "expect": True}
