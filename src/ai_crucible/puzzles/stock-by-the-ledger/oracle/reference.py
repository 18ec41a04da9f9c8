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
    yield case([(n + 2, "a" + str(n), "in", bad, d + "1") for n, bad in enumerate(["-1", "+1", "1.0", "1e3", "0x1", "1 2", "", " ", None, "\t1", "007", "12345678901", "\u0661"])])
    yield case([(n, "a" + str(n), "in", "1", bad) for n, bad in enumerate(["2026-1-01", "2026-13-01", "2026-02-29", "2024-02-29", "29.02.2024", "29.02.2023", "1.2.2026", "01-02-2026", "2026.01.02", "2026/01/02", " 2026-01-02", "2026-01-02 ", "2026-01-02T00:00", "now", "", None, "20260102", "31.04.2026", "31.03.2026", "00.01.2026", "0999-01-02", "10.10.2020", "2026-00-10", "2026-01-00"], 1)])
    yield case([(n, "a" + str(n), kind, "1", d + "1") for n, kind in enumerate(["IN", " Out", "COUNT  ", "", None, "i n", "\tin", "in\n", "inn"], 1)])
    yield case([(n, article, "in", "1", d + "1") for n, article in enumerate(["a", "A", " a ", "-a-", "a.", "/a", "a b", "AB", "", " ", "-./ ", None, "a_b", "10", "1-0"], 1)])
    yield case([(7, "a", "in", "1", d + "1"), (3, "a", "count", "5", d + "1"), (5, "a", "out", "2", d + "1")], 2)
    yield case([(1, "a", "count", "5", "10.02.2026"), (2, "a", "in", "1", "09.03.2026"), (3, "a", "out", "2", "2026-02-20")])


def ledgers(random):
    while True:
        articles = random.sample(["ab-12", "AB12", "ab 1.2", "k/7", "K7", "z", "-", ""], random.randint(1, 5))
        ids = random.sample(range(1, 200), random.randint(0, 18))
        rows = []
        for number in ids:
            day = f"2026-{random.randint(1, 3):02}-{random.choice([1, 2, 3, 10, 28, 29, 31]):02}"
            if random.random() < 0.4:
                day = ".".join(reversed(day.split("-")))
            kind = random.choice(["in", "in", "out", "out", "count", "count", "In ", "COUNT", "lost", None])
            count = random.choice([str(random.randint(0, 12)), str(random.randint(0, 12)), "0", " 3", "x", "-2", None])
            rows.append((number, random.choice(articles), kind, count, day))
        yield case(rows, random.choice([1, 1, 2]))


def runs(random):
    yield {"args": [], "expect": True}
