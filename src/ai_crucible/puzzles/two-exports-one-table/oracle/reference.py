"""Right answers by a way of their own, and the inputs that they are asked for."""

import csv
import io
from datetime import date

COLUMNS = ["id", "name", "joined", "balance"]


def draw(random):
    people = []
    for number in random.sample(range(1, 999), 45):
        name = random.choice(["Ada", "Bo", "Cy", "Dée", "Eli"]) + " " + random.choice(["O'Hara", "Smith, Jr", 'Al "Ace" Po', "Núñez", "Li;Wu"])
        people.append((random.choice(["AB", "K", "ZQ"]) + str(number), name))
    old, new, first_old, first_new, loose_old, loose_new = {}, {}, {}, {}, {}, {}
    old_rows, new_rows = [], []

    def spelled(key):
        letters, digits = key.rstrip("0123456789"), key.lstrip("ABKZQ")
        return random.choice([key, key.lower(), f"{letters}-{digits}", f" {key} ", f"{letters.lower()} - {digits}"])

    def wide(name):
        return random.choice([name, f"  {name}", name.replace(" ", "   "), f"{name} "])

    def joined():
        return random.choice([(2001, 2, 29), (2000, 2, 29), (1999, 4, 31)]) if random.random() < 0.1 else (random.randint(1990, 2025), random.randint(1, 12), random.randint(1, 28))

    def real(day):
        try:
            return date(*day).isoformat()
        except ValueError:
            return ""

    for key, name in people * 2:
        if random.random() < 0.45:
            day, cents = joined(), random.choice([0, -5, 7, random.randint(-999, 999), random.randint(-(10**8), 10**8)])
            text = f"{abs(cents) // 100:,}".replace(",", ".") + f",{abs(cents) % 100:02}"
            bad = random.random() < 0.08
            broken = random.choice(["", "n/a", "12,3x", "-"])
            spelled_id = "" if random.random() < 0.03 else spelled(key)
            old_rows.append([spelled_id, wide(name + " I"), f"{day[2]:02}.{day[1]:02}.{day[0]}", broken if bad else "-" * (cents < 0) + text])
            if spelled_id:
                loose_old[key] = (name + " I", real(day), 0 if bad else cents)
            if not bad and spelled_id:
                old[key] = (name + " I", real(day), cents)
                first_old.setdefault(key, old[key])
        if random.random() < 0.45:
            day, cents = joined(), random.choice([0, -5, 7, random.randint(-(10**7), 10**7)])
            bad, empty = random.random() < 0.08, random.random() < 0.15
            spelled_id = " - " if random.random() < 0.03 else spelled(key)
            new_rows.append([spelled_id, " " if empty else wide(name + " II"), f"{day[0]}-{day[1]:02}-{day[2]:02}", random.choice(["", "null", "1.2.3"]) if bad else str(cents)])
            if spelled_id != " - ":
                loose_new[key] = ("" if empty else name + " II", real(day), 0 if bad else cents)
            if not bad and spelled_id != " - ":
                new[key] = ("" if empty else name + " II", real(day), cents)
                first_new.setdefault(key, new[key])
    rows = rows_of(old, new)

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
