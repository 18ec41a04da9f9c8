"""Right answers by a way of their own, and the inputs that they are asked for."""

import csv
import io
from datetime import date

COLUMNS = ["id", "name", "joined", "balance"]
DAY, LATER, NONE = (2010, 5, 6), (2012, 1, 31), (2011, 2, 31)
# A customer of each kind, in every draw: system, name, day and cents (or no number) of each row.
KINDS = [
    [("old", "A", DAY, 100), ("old", "A", NONE, 200)],
    [("new", "A", DAY, 100), ("new", "A", NONE, 200)],
    [("old", "A", DAY, 100), ("old", "A", NONE, 200), ("new", "A", NONE, 300)],
    [("old", "A", DAY, 500), ("old", "B", LATER, "n/a")],
    [("new", "A", DAY, 500), ("new", "B", LATER, "null")],
    [("old", "A", DAY, ""), ("old", "B", LATER, 700)],
    [("old", "A", LATER, 500), ("new", "B", DAY, "1.2.3")],
    [("old", "A", LATER, "-"), ("old", "C", DAY, "12,3x"), ("new", "B", LATER, 3)],
    [("old", "A", NONE, 1), ("new", "A", DAY, 2)],
    [("old", "A", DAY, 1), ("new", "A", NONE, 2)],
    [("old", "A", NONE, 1), ("new", "A", NONE, 2)],
    [("old", "A", DAY, 1), ("new", "A", LATER, 2)],
    [("old", "A", LATER, 1), ("new", "A", DAY, 2)],
    [("old", "A", DAY, 1), ("new", "  ", DAY, 2)],
    [("old", "A", DAY, 1), ("new", "B", DAY, 2), ("new", "", DAY, 3)],
    [("new", "B", DAY, 2), ("new", " ", DAY, 3)],
    [("old", "B", DAY, 2), ("old", " ", DAY, 3), ("new", "   ", DAY, 3)],
    [("old", "A", DAY, -5)],
    [("new", "A", DAY, -5)],
    [("new", "A", DAY, -100)],
    [("old", "A", DAY, 500), ("new", "A", DAY, 0)],
    [("old", "A", DAY, 2**53 + 1)],
    [("new", "A", DAY, -(10**17 + 1))],
    [("old", "A", (1900, 2, 29), 1), ("new", "A", (2000, 2, 29), 1)],
    [("old", "A", (2100, 2, 29), 1), ("new", "A", (2020, 13, 1), 1)],
    [("old", "A", (2000, 2, 29), 1), ("new", "A", (2020, 1, 0), 1)],
    [("old", "A", DAY, 3), ("old", "B", LATER, 2), ("old", "C", LATER, 1)],
    [("old", "A", None, 3)],
    [("new", "A", None, 3)],
    [("old", "A", None, 3), ("new", "A", DAY, 4)],
    [("old", "A", DAY, 3), ("new", "A", None, 4)],
    [("new", "A", DAY, 3), ("new", "B", None, 4)],
    [("old", "A", LATER, 3), ("new", "B", DAY, "")],
    [("old", "A", DAY, 123456789), ("old", "A", LATER, -123456789)],
    [("new", "", DAY, 100), ("old", "A", LATER, 200)],
    [("new", " ", DAY, "x"), ("new", "B", LATER, 1), ("old", "", DAY, 2)],
]


def draw(random):
    people = []
    for number in random.sample(range(1, 999), 45):
        name = random.choice(["Ada", "Bo", "Cy", "Dée", "Eli"]) + " " + random.choice(["O'Hara", "Smith, Jr", 'Al "Ace" Po', "Núñez", "Li;Wu"])
        people.append((random.choice(["AB", "K", "ZQ"]) + str(number), name))
    old, new, first_old, first_new, loose_old, loose_new = {}, {}, {}, {}, {}, {}
    held_old, held_new, late_old, late_new = {}, {}, {}, {}
    old_rows, new_rows = [], []

    def spelled(key):
        letters, digits = key.rstrip("0123456789"), key.lstrip("ABHKZQ")
        return random.choice([key, key.lower(), f"{letters}-{digits}", f" {key} ", f"{letters.lower()} - {digits}"])

    def wide(name):
        return random.choice([name, f"  {name}", name.replace(" ", "   "), f"{name} "])

    def joined():
        return random.choice([(2001, 2, 29), (2000, 2, 29), (1999, 4, 31)]) if random.random() < 0.1 else (random.randint(1990, 2025), random.randint(1, 12), random.randint(1, 28))

    def real(day):
        try:
            return date(*day).isoformat() if day else ""
        except ValueError:
            return ""

    def told(day, form):
        return form.format(*day) if day else ""

    def dotted(cents):
        return "-" * (cents < 0) + f"{abs(cents) // 100:,}".replace(",", ".") + f",{abs(cents) % 100:02}"

    def keep(key, row, bad, last, first, loose, held, late):
        loose[key] = (*row[:2], 0 if bad else row[2])
        late[key] = None if bad else row
        if not bad:
            before = held.get(key, ("", "", 0))
            held[key] = (row[0] or before[0], row[1] or before[1], row[2])
            last[key] = row
            first.setdefault(key, row)

    def by_hand(key, kind):
        for system, name, day, cents in kind:
            bad, is_old = isinstance(cents, str), system == "old"
            if is_old:
                old_rows.append([spelled(key), name and wide(name), told(day, "{2:02}.{1:02}.{0}"), cents if bad else dotted(cents)])
            else:
                new_rows.append([spelled(key), name and wide(name), told(day, "{0}-{1:02}-{2:02}"), str(cents)])
            kept = (old, first_old, loose_old, held_old, late_old) if is_old else (new, first_new, loose_new, held_new, late_new)
            keep(key, (name.strip(), real(day), cents), bad, *kept)

    kinds = list(zip((f"H{n}" for n in random.sample(range(1, 999), len(KINDS))), KINDS))
    random.shuffle(kinds)
    middle = random.randrange(len(kinds))
    for key, kind in kinds[:middle]:
        by_hand(key, kind)
    for key, name in people * 2:
        if random.random() < 0.45:
            day, cents = joined(), random.choice([0, -5, 7, random.randint(-999, 999), random.randint(-(10**8), 10**8)])
            bad = random.random() < 0.08
            broken = random.choice(["", "n/a", "12,3x", "-"])
            spelled_id = "" if random.random() < 0.03 else spelled(key)
            old_rows.append([spelled_id, wide(name + " I"), f"{day[2]:02}.{day[1]:02}.{day[0]}", broken if bad else dotted(cents)])
            if spelled_id:
                keep(key, (name + " I", real(day), cents), bad, old, first_old, loose_old, held_old, late_old)
        if random.random() < 0.45:
            day, cents = joined(), random.choice([0, -5, 7, random.randint(-(10**7), 10**7)])
            bad, empty = random.random() < 0.08, random.random() < 0.15
            spelled_id = " - " if random.random() < 0.03 else spelled(key)
            new_rows.append([spelled_id, " " if empty else wide(name + " II"), f"{day[0]}-{day[1]:02}-{day[2]:02}", random.choice(["", "null", "1.2.3"]) if bad else str(cents)])
            if spelled_id != " - ":
                keep(key, ("" if empty else name + " II", real(day), cents), bad, new, first_new, loose_new, held_new, late_new)
    for key, kind in kinds[middle:]:
        by_hand(key, kind)
    old_rows += [["", "A", "06.05.2010", "1,00"], [" - ", "A", "06.05.2010", "1,00"]]
    new_rows += [["", "A", "2010-05-06", "100"], ["- -", "A", "2010-05-06", "100"]]
    rows = rows_of(old, new)
    days = {key: [system[key][1] for system in (old, new) if key in system] for key in old.keys() | new.keys()}
    late = [{key: row for key, row in system.items() if row} for system in (late_old, late_new)]

    def table(head, body, mark=",", **more):
        out = io.StringIO()
        csv.writer(out, delimiter=mark, lineterminator=more.pop("end", "\n"), **more).writerows([head, *body])
        return out.getvalue()

    both = next(row for row in rows if row[0] in old and row[0] in new and old[row[0]][2] != new[row[0]][2])
    other = [[*row[:3], f"{old[row[0]][2] / 100:.2f}"] if row is both else row for row in rows]
    wrong = {
        "old_balance": other, "by_arrival": rows[::-1], "one_left_out": rows[1:], "first_twice": [rows[0], *rows],
        "no_days": [[row[0], row[1], "", row[3]] for row in rows], "lower_case": [[row[0].lower(), *row[1:]] for row in rows],
        "blanks_in_names": [[row[0], row[1].replace(" ", "  "), *row[2:]] for row in rows], "later_days": rows_of(old, new, max),
        "old_names": [[row[0], old[row[0]][0] if row[0] in old else row[1], *row[2:]] for row in rows], "first_rows": rows_of(first_old, first_new),
        "rows_without_a_balance": rows_of(loose_old, loose_new), "rows_without_an_id": [["", "Bo Smith, Jr I", "", "0.05"], *rows],
        "a_field_of_an_earlier_row": rows_of(held_old, held_new), "left_out_too_late": rows_of(*late),
        "no_day_is_earlier": [[*row[:2], min(days[row[0]]), row[3]] for row in rows],
        "name_of_blanks": [[row[0], new.get(row[0], [row[1]])[0], *row[2:]] for row in rows],
        "sign_of_cents": [[*row[:3], row[3].replace("-0.", "0.")] for row in rows],
        "nothing_is_no_balance": rows_of(old, {key: (*row[:2], row[2] or old.get(key, row)[2]) for key, row in new.items()}),
        "balances_as_floats": [[*row[:3], f"{float(row[3]):.2f}"] for row in rows],
        "cents": [[*row[:3], row[3].replace(".", "")] for row in rows],
    }
    return {
        "work": {"old.csv": table(["id", "name", "joined", "balance"], old_rows, ";"), "new.csv": table(["customer", "full_name", "since", "balance_cents"], new_rows)},
        "rows": [COLUMNS, *rows],
        "gold": {"merged.csv": table(COLUMNS, rows)},
        **{f"wrong/{name}": {"merged.csv": table(COLUMNS, body)} for name, body in wrong.items()},
        "wrong/no_header": {"merged.csv": table(rows[0], rows[1:])},
        "wrong/semicolons": {"merged.csv": table(COLUMNS, rows, ";")},
        "right/all_quoted": {"merged.csv": table(COLUMNS, rows, quoting=csv.QUOTE_ALL)},
        "right/crlf": {"merged.csv": table(COLUMNS, rows, end="\r\n")},
        "right/no_last_line_end": {"merged.csv": table(COLUMNS, rows).rstrip("\n")},
    }


def rows_of(old, new, earliest=min):
    """Return the table of what each system says last of each customer."""
    rows = []
    for key in sorted(old.keys() | new.keys()):
        a, b = old.get(key, ("", "", 0)), new.get(key, ("", "", 0))
        days = [day for day in (a[1], b[1]) if day]
        cents = b[2] if key in new else a[2]
        rows.append([key, b[0] or a[0], earliest(days, default=""), f"{'-' * (cents < 0)}{abs(cents) // 100}.{abs(cents) % 100:02}"])
    return rows


def merged(data, drawn):
    seen = list(csv.reader(io.StringIO(data.decode(), newline="")))
    if seen == drawn["rows"]:
        return ""
    for number, (a, b) in enumerate(zip(seen, drawn["rows"]), 1):
        if a != b:
            return f"row {number} is not as it should be"
    return f"{len(seen)} rows"
