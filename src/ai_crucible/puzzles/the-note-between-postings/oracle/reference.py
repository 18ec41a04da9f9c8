"""Right answers by a way of their own, and the inputs that they are asked for."""

PLACES = {"JPY": 0, "KWD": 3}
ACCOUNTS = ["assets:bank", "assets:cash", "expenses:food", "expenses:rent", "income:work", "equity:begin", "liabilities:card-1"]
COMMENTS = ["; a note", "    ; indented", ";", "  ;x 1.00 EUR"]


def written(units, currency):
    count = PLACES.get(currency, 2)
    text = f"{abs(units):0{count + 1}}"
    return "-" * (units < 0) + (text[:-count] + "." + text[-count:] if count else text)


def entry(random, several=False):
    """Return the lines of an entry that adds up, and the entry as plain values without its line."""
    currencies = random.sample(["EUR", "USD", "JPY", "KWD"], random.randint(2, 3) if several else 1)
    day = f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    text = random.choice(["Rent", "Food and drink", "x", "Pay (March)"])
    left = {currency: 0 for currency in currencies}
    postings = []
    for currency in currencies:
        for _ in range(random.randint(1, 2)):
            units = random.choice([-1, 1]) * random.randint(1, 99_999)
            left[currency] += units
            postings.append([random.choice(ACCOUNTS), units, currency])
    rest = [(-units, currency) for currency, units in sorted(left.items()) if units]
    if not rest:
        return entry(random, several)
    random.shuffle(postings)
    account, place = random.choice(ACCOUNTS), random.randint(0, len(postings))
    filled = [[account, units, currency] for units, currency in rest]
    lines = [f"    {name:<20} {written(units, currency)} {currency}" for name, units, currency in postings]
    open_line = several or random.random() < 0.6
    lines[place:place] = [f"    {account}"] if open_line else [f"  {name}  {written(units, currency)} {currency}" for name, units, currency in filled]
    whole = [*postings[:place], *filled, *postings[place:]]
    values = [day, text, [[name, f"{written(units, currency)} {currency}"] for name, units, currency in whole]]
    return [f"{day}  {text}", *lines], values


def journal(random, several=False, notes=False, count=None):
    lines, entries = [], []
    for _ in range(random.randint(1, 4) if count is None else count):
        own, values = entry(random, several)
        if notes:
            for _ in range(random.randint(1, 3)):
                own.insert(random.randint(1, len(own)), random.choice(COMMENTS))
            own = [line + random.choice(["", " ; said so"]) if line.strip()[:1] != ";" else line for line in own]
        lines += [""] * random.randint(0, 2)
        entries.append([*values[:2], len(lines) + 1, values[2]])
        lines += own
    return "\n".join(lines) + random.choice(["", "\n", "\n\n"]), entries


def several(random):
    while True:
        text, entries = journal(random, several=True)
        yield {"args": [text], "expect": entries}


def noted(random):
    while True:
        text, entries = journal(random, several=random.random() < 0.3, notes=True)
        yield {"args": [text], "expect": entries}


def plain(random):
    while True:
        text, entries = journal(random)
        yield {"args": [text], "expect": entries}


def faulty(random):
    for text, line in (
        ("2026-01-01 x\n    assets:a 1.00 EUR\n", 1),
        ("\n2026-01-01 x\n    assets:a 1.00 EUR\n    assets:b -2.00 EUR\n", 2),
        ("2026-01-01 x\n    assets:a\n    assets:b\n    assets:c 1.00 EUR\n", 3),
        ("2026-01-01 x\n    assets:a 1.00 EUR\n    assets:b -1.00 EUR\n    assets:c\n", 4),
        ("    assets:a 1.00 EUR\n", 1),
        ("2026-02-30 x\n    assets:a 1.00 EUR\n    assets:b\n", 1),
        ("2026-01-01 x\n    assets:a 1.001 EUR\n    assets:b\n", 2),
        ("2026-01-01 x\n    assets:a 1.00 eur\n    assets:b\n", 2),
        ("2026-01-01 x\n    assets:a one EUR\n    assets:b\n", 2),
        ("2026-01-01 x\n    assets:a 1.00 EUR\n\n    assets:b\n", 1),
        ("2026-01-01\n    assets:a 1.00 EUR\n    assets:b\n", 1),
        ("x\n", 1),
        ("2026-01-01 x\n    assets:a 1.00 EUR\n    assets:b -1.00 EUR\n    assets:c 1.00 USD\n    assets:d -2.00 USD\n", 1),
        ("2026-01-01 x\n2026-01-02 y\n    assets:a 1.00 EUR\n    assets:b\n", 1),
        ("2026-01-01 x\n    assets:a\n", 1),
        ("2026-01-01 x\n    assets:a 0.00 EUR\n", 1),
    ):
        yield {"args": [text], "expect": ["fault", line, True]}


def round_trip(random):
    while True:
        text, entries = journal(random, several=random.random() < 0.5)
        kept = sorted(([day, words, postings] for day, words, _, postings in entries), key=lambda one: one[0])
        yield {"args": [text], "expect": kept}


def as_written(random):
    while True:
        text, entries = journal(random, several=random.random() < 0.5)
        blocks = [
            f"{day} {words}\n" + "".join(f"    {name:<28} {amount}\n" for name, amount in postings)
            for day, words, _, postings in sorted(entries, key=lambda one: one[0])
        ]
        yield {"args": [text], "expect": "\n".join(blocks)}


def unchanging(random):
    while True:
        text, _ = journal(random)
        yield {"args": [text], "expect": [True, True, True, True, 0]}


def summed(random):
    while True:
        text, entries = journal(random, several=True, notes=True)
        totals = []
        for account in ("assets", "expenses", "assets:bank"):
            units = {}
            for _, _, _, postings in entries:
                for name, amount in postings:
                    if name == account or name.startswith(account + ":"):
                        number, currency = amount.split()
                        units[currency] = units.get(currency, 0) + int(number.replace(".", ""))
            totals.append(", ".join(f"{written(units[c], c)} {c}" for c in sorted(units) if units[c]) or "0")
        yield {"args": [text, ["assets", "expenses", "assets:bank"]], "expect": totals}


def commands(random):
    yield {"args": ["2026-01-01 x\n    assets:a 1.00 EUR\n    ; note\n    assets:b\n", "balance"], "expect": [0, "assets:a   1.00 EUR\nassets:b  -1.00 EUR\n"]}
    yield {"args": ["2026-01-01 x\n    assets:a 1.00 EUR\n    assets:a 5 JPY\n    equity:b\n", "balance", "--depth", "1"], "expect": [0, "assets   1.00 EUR\n            5 JPY\nequity  -1.00 EUR\n           -5 JPY\n"]}
    yield {"args": ["x\n", "balance"], "expect": [1, ""]}


def tests(names):
    def cases(random):
        yield {"args": names, "holds": lambda seen: bool(seen) and set(seen.values()) == {"passed"}}

    return cases


suite = tests(["tests/test_amounts.py", "tests/test_journal.py", "tests/test_book.py"])
