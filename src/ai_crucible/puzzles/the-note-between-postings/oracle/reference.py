"""Right answers by a way of their own, and the inputs that they are asked for."""

PLACES = {"JPY": 0, "KRW": 0, "KWD": 3, "BHD": 3}
CURRENCIES = ["EUR", "USD", "JPY", "KWD", "EUA", "CHF", "BHD", "KRW"]
KINDS = ["assets", "liabilities", "equity", "income", "expenses"]
ACCOUNTS = ["assets:bank", "assets:cash", "assets", "expenses:food", "expenses:food:out", "expenses:rent", "income:work", "equity:begin", "liabilities:card-1"]
#: Comments of their own: what stands in them looks like something else, or holds what other programs end a line at.
COMMENTS = [
    "; a note", "    ; indented", ";", "  ;x 1.00 EUR", "\t;", ";2026-05-05 No entry", "    ;    assets:bank  1.00 EUR", "; one ; and two", " ;;",
    ";\u2028    assets:cash 1.00 EUR", "; x\x0c2026-05-05 y", "\u00a0; \u00fc", "; x\r", "    ; x\x85", "  \t  ; \u037e",
]
#: Behind what a line says.
BEHIND = ["; said so", ";", ";x", ";; x;", "; 1.00 EUR", ";\x0b    assets:b"]
WHITE = ["", " ", "   \t", "\t", "\r", "\x0c", "\u00a0", " \u2003", "\u3000", "\x1f "]
TEXTS = ["Rent", "Food and drink", "x", "Pay (March)", "a  b", "R\u00fcckzahlung \uff1b \u037e", "a\u2028b", "a\x0cb\x85c", "#1 'q' \\ \"w\"", "2026-01-02 y", "assets:bank 1.00 EUR"]


def written(units, currency):
    count = PLACES.get(currency, 2)
    text = f"{abs(units):0{count + 1}}"
    return "-" * (units < 0) + (text[:-count] + "." + text[-count:] if count else text)


def told(units, currency):
    return f"{written(units, currency)} {currency}"


def number(random, units, currency):
    """Return an amount as somebody may write it."""
    text = written(units, currency)
    kind = random.randrange(8)
    if kind == 0 and "." in text and text.endswith("0"):
        return text.rstrip("0").rstrip("." * random.randint(0, 1))
    if kind == 1 and "." not in text:
        return text + random.choice([".", ".0", ".00"])
    if kind == 2:
        return "-" * text.startswith("-") + "00" + text.lstrip("-")
    if kind == 3 and text.lstrip("-").startswith("0."):
        return text.replace("0.", ".", 1)
    return text


def amounts_of(random, currencies, balanced=False):
    """Return units and currencies, and what is missing; some currencies miss nothing."""
    left, postings = {}, []
    for place, currency in enumerate(currencies):
        some = [random.choice([-1, 1]) * random.choice([random.randint(1, 99_999), random.randint(1, 99), 10 ** random.randint(9, 16) + 1]) for _ in range(random.randint(1, 2))]
        if balanced or place and random.random() < 0.25:
            some.append(-sum(some))
        if random.random() < 0.1:
            some.append(0)
        left[currency] = sum(some)
        postings += [(units, currency) for units in some]
    random.shuffle(postings)
    return postings, [(-units, currency) for currency, units in sorted(left.items()) if units]


def posting(random, account, units, currency):
    gap = random.choice(["    ", "    ", "  ", "\t", " \u00a0", "          "])
    between = random.choice(["  ", " ", "\t", "        "])
    return f"{gap}{account}{between}{number(random, units, currency)}{random.choice([' ', '  ', chr(9)])}{currency}"


def entry(random, several=False):
    """Return the lines of an entry that adds up, and the entry as plain values without its line."""
    day = f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    text = random.choice(TEXTS)
    postings, rest = amounts_of(random, random.sample(CURRENCIES, random.randint(2, 4) if several else 1))
    if not rest:
        return entry(random, several)
    postings = [(random.choice(ACCOUNTS), *one) for one in postings]
    account, place = random.choice(ACCOUNTS), random.randint(0, len(postings))
    filled = [(account, *one) for one in rest]
    lines = [posting(random, *one) for one in postings]
    open_line = several or random.random() < 0.6
    lines[place:place] = [random.choice(["    ", "\t", " "]) + account] if open_line else [posting(random, *one) for one in filled]
    whole = [*postings[:place], *filled, *postings[place:]]
    return [f"{day}{random.choice(['  ', ' ', chr(9)])}{text}", *lines], [day, text, [[name, told(*one)] for name, *one in whole]]


def broken(random):
    """Return the lines of an entry that is at fault, which of them is named, and what is said of it."""
    head = f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02} x"
    name = lambda: random.choice(ACCOUNTS)
    postings, rest = amounts_of(random, random.sample(CURRENCIES, random.randint(1, 3)))
    lines = [posting(random, name(), *one) for one in postings]
    fill = [posting(random, name(), *one) for one in rest]
    kind = random.choice(["sum", "sum", "two", "nothing", "few", "posting", "amount", "day", "head", "both"])
    if kind == "sum" and rest and len(lines) > 1:
        return [head, *lines], 0, "the postings do not add up: " + ", ".join(told(-units, currency) for units, currency in rest) + " too much"
    if kind == "two":
        more = sorted(random.choices(range(len(lines) + 1), k=random.randint(2, 3)))
        for place in reversed(more):
            lines.insert(place, "    " + name())
        return [head, *lines], more[1] + 2, "only one posting may leave its amount out"
    if kind == "nothing":
        lines = [*lines, *fill]
        place = random.randint(0, len(lines))
        lines.insert(place, "    " + name())
        if len(lines) > 1:
            return [head, *lines], place + 1, "nothing is left for the posting without an amount"
    if kind == "few":
        return [head, *random.choice([[], ["    assets:cash"], ["    assets:cash 1.00 EUR"], ["    assets:cash 0.00 EUR"]])], 0, "an entry has at least two postings"
    if kind in ("posting", "both"):
        bad = random.choice(["    Assets:cash 1.00 EUR", "    assets:cash 1.00", "    assets:cash +1.00 EUR", "    assets: 1.00 EUR", "    assets:cash 1,00 EUR", "    assets:cash 1.00 EUR x", "  1.00 EUR", "    assets:cash EUR", "    assets:cash -1.00EUR", "    assets:c\u00e4sh", "    assets::x"])
        place = random.randint(0, len(lines))
        lines.insert(place, bad)
        if kind == "both":
            lines.append(random.choice(["    assets:cash", bad, "    assets:cash 0.001 EUR"]))  # what comes first is told
        return [head, *lines], place + 1, "a posting is an account and maybe an amount with its currency"
    if kind == "amount":
        bad, why = random.choice([("1.001 EUR", "'1.001' has too many decimals for EUR"), ("1.5 JPY", "'1.5' has too many decimals for JPY"), ("1.0001 KWD", "'1.0001' has too many decimals for KWD"), ("1.00 eur", "'eur' is no currency"), ("1 EURO", "'EURO' is no currency"), ("1 E", "'E' is no currency"), ("1.2.3 EUR", "'1.2.3' is no number"), (". EUR", "'.' is no number")])
        place = random.randint(0, len(lines))
        lines.insert(place, "    assets:cash " + bad)
        return [head, *lines], place + 1, why
    if kind == "day":
        day = random.choice(["2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "0000-01-01"])
        return [day + " x", *lines, *fill, "    assets:cash 0 EUR"], 0, day + " is no day"
    return [random.choice(["2026-01-01", "x", "2026-1-01 x", "2026-01-01x", "account assets", "1.00 EUR", "26-01-01 x", "\ufeff2026-01-01 x"]), *lines, *fill], 0, "an entry begins with a day and a text"


def among(random, lines, own_lines=True):
    """Put comments between the lines of an entry and behind them; return them and where each line stands now."""
    seen, places = [], []
    for line in lines:
        while own_lines and random.random() < 0.35:
            seen.append(random.choice(COMMENTS))
        places.append(len(seen))
        # White space with a comment behind it would be no white space.
        seen.append(line + (random.choice(["", "", " ", "\t"]) + random.choice(["", "", *BEHIND]) if line.strip() else ""))
    while own_lines and random.random() < 0.35:
        seen.append(random.choice(COMMENTS))
    return seen, places


def page(random, blocks, notes=False):
    """Lay out entries, each lines and which of them counts; return the text and the numbers of these lines."""
    lines, numbers = [], []
    for own, which in blocks:
        for _ in range(random.choice([0, 1, 1, 2])):
            lines.append(random.choice(WHITE))
            if notes and random.random() < 0.3:
                lines.append(random.choice(COMMENTS))
        if notes:
            own, places = among(random, own)
        elif random.random() < 0.5:
            own, places = among(random, own, own_lines=False)
        else:
            places = range(len(own))
        numbers.append(len(lines) + places[which] + 1)
        lines += own
    return random.choice(["\n"] * 6 + ["\r\n"]).join(lines) + random.choice(["", "\n", "\n\n", "\n \n\t"]), numbers


def journal(random, several=False, notes=False, count=None):
    made = [entry(random, several) for _ in range(random.randint(1, 4) if count is None else count)]
    text, numbers = page(random, [(lines, 0) for lines, _ in made], notes)
    return text, [[*values[:2], line, values[2]] for line, (_, values) in zip(numbers, made)]


def several(random):
    for lines, filled in (
        ("assets:a 1.00 EUR|assets:b -1.00 EUR|assets:a 2.00 USD|assets:b", [["assets:a", "1.00 EUR"], ["assets:b", "-1.00 EUR"], ["assets:a", "2.00 USD"], ["assets:b", "-2.00 USD"]]),
        ("assets:b|assets:a 0.00 USD|assets:a 1 JPY|assets:c -3 EUR", [["assets:b", "3.00 EUR"], ["assets:b", "-1 JPY"], ["assets:a", "0.00 USD"], ["assets:a", "1 JPY"], ["assets:c", "-3.00 EUR"]]),
        ("assets:b 1 USD|assets:b|assets:b 1 CHF|assets:b 1 EUR", [["assets:b", "1.00 USD"], ["assets:b", "-1.00 CHF"], ["assets:b", "-1.00 EUR"], ["assets:b", "-1.00 USD"], ["assets:b", "1.00 CHF"], ["assets:b", "1.00 EUR"]]),
    ):
        yield {"args": ["2026-01-01 x\n    " + lines.replace("|", "\n    ")], "expect": [["2026-01-01", "x", 1, filled]]}
    while True:
        text, entries = journal(random, several=True)
        yield {"args": [text], "expect": entries}


def noted(random):
    many = "".join(f"    assets:a 1.00 EUR;{one}\n;\n" for one in range(1500))
    yield {"args": [f"2026-01-01 x;y\n{many}    assets:b\n"], "expect": [["2026-01-01", "x", 1, [["assets:a", "1.00 EUR"]] * 1500 + [["assets:b", "-1500.00 EUR"]]]]}
    yield {"args": ["    ; x\n2026-01-01 x;why\n    assets:a 1.00 EUR;so\n    ;\n;\n    assets:b;\n;"], "expect": [["2026-01-01", "x", 2, [["assets:a", "1.00 EUR"], ["assets:b", "-1.00 EUR"]]]]}
    yield {"args": ["; x\n  ; y\n;"], "expect": []}
    while True:
        text, entries = journal(random, several=random.random() < 0.3, notes=True)
        yield {"args": [text], "expect": entries}


def plain(random):
    for text in ("", "\n", " \n\t", "\r\n", "; x", "  ; x\n\n;"):
        yield {"args": [text], "expect": []}
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
        ("2026-01-01 ; x\n    assets:a 1.00 EUR\n    assets:b\n", 1),
        ("2026-01-01 x\n    assets:a 1.00; EUR\n    assets:b\n", 2),
        ("2026-01-01 x\n    assets:a 1.00 EUR\n    assets:b -1.00 EUR\n    ass;ets:c 1.00 EUR\n", 4),
        ("2026-01-01 x\n    assets:a 1.00 EUR\n    assets:b -1.00 EUR\n    assets:c 0 USD\n    assets:d\n", 5),
    ):
        yield {"args": [text], "expect": ["fault", line, True]}


def at_fault(random, notes):
    """Yield journals with one or two faults; the first one is told."""
    while True:
        blocks, first = [(entry(random, random.random() < 0.3 and notes)[0], 0) for _ in range(random.randint(0, 3))], None
        if random.random() < 0.25:
            # White space has ended the entry, whatever comments come behind it.
            own, _ = entry(random)
            orphan = random.choice(["    assets:cash 0.00 EUR", "\tassets:cash", "  x y z"])
            if len(own) > 2:
                between = [random.choice(WHITE), *random.choices(COMMENTS, k=random.randint(0, 2) * notes)]
                blocks.append(([*own, *between, orphan], len(own) + len(between)))
                first = len(blocks) - 1, "a posting without an entry"
        if first is None:
            lines, which, why = broken(random)
            blocks.append((lines, which))
            first = len(blocks) - 1, why
        for _ in range(random.randint(0, 2)):
            blocks.append((random.choice([entry(random)[0], broken(random)[0]]), 0))
        text, numbers = page(random, blocks, notes)
        yield {"args": [text], "expect": [numbers[first[0]], first[1]]}


def at_fault_plainly(random):
    yield from at_fault(random, False)


def at_fault_among_notes(random):
    for white in WHITE:
        yield {"args": [f"2026-01-01 x\n  assets:a 1.00 EUR\n  assets:b -1.00 EUR\n{white}\n  assets:c 0.00 EUR"], "expect": [5, "a posting without an entry"]}
    yield from at_fault(random, True)


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
        yield {"args": [text], "expect": [True, True, True, True, 0, True]}


class Sheet:
    """Units by currency of the plain values of entries."""

    def __init__(self, entries):
        self.entries = sorted(entries, key=lambda one: one[0])

    @staticmethod
    def said(units):
        return ", ".join(told(units[one], one) for one in sorted(units) if units[one]) or "0"

    def total(self, account, first="0", last="9"):
        return self.summed(posting for day, _, _, postings in self.entries if first <= day <= last for posting in postings if self.below(posting[0], account))

    @staticmethod
    def below(name, account):
        return name == account or name.startswith(account + ":")

    @staticmethod
    def summed(postings):
        units = {}
        for _, amount in postings:
            digits, currency = amount.split()
            units[currency] = units.get(currency, 0) + int(digits.replace(".", ""))
        return units

    def running(self, account):
        rows, so_far = [], []
        for day, words, _, postings in self.entries:
            own = [one for one in postings if self.below(one[0], account)]
            so_far += own
            if own:
                rows.append([day, words, self.said(self.summed(own)), self.said(self.summed(so_far))])
        return rows

    def names(self):
        return sorted({name for *_, postings in self.entries for name, _ in postings})

    def tree(self, until="9", depth=99):
        every = {":".join(name.split(":")[:count]) for name in self.names() for count in range(1, min(depth, name.count(":") + 1) + 1)}
        rows = [[name, self.total(name, last=until)] for name in every]
        rows.sort(key=lambda row: (KINDS.index(row[0].split(":")[0]), row[0].split(":")))
        return [[name, {one: number for one, number in units.items() if number}] for name, units in rows if any(units.values())]

    def table(self, rows):
        cells = [(name if not place else "", told(units[one], one)) for name, units in rows for place, one in enumerate(sorted(units))]
        left, right = (max((len(cell[side]) for cell in cells), default=0) for side in (0, 1))
        return "".join(f"{name.ljust(left)}  {amount.rjust(right)}\n" for name, amount in cells)


def summed(random):
    while True:
        text, entries = journal(random, several=True, notes=True)
        accounts = ["assets", "expenses", "assets:bank", "expenses:food", "income", "asset"]
        yield {"args": [text, accounts], "expect": [Sheet.said(Sheet(entries).total(account)) for account in accounts]}


def books(random):
    """Yield all that a book and its reports say of a plain journal."""
    while True:
        text, entries = journal(random, count=random.randint(0, 6))
        sheet, until, depth, account = Sheet(entries), f"2026-{random.randint(1, 12):02}-15", random.randint(1, 3), random.choice([*ACCOUNTS, "expenses", "income"])
        earned = [sheet.total(kind, "2026-03-01", until) for kind in ("income", "expenses")]
        earned = {one: -earned[0].get(one, 0) - earned[1].get(one, 0) for one in {*earned[0], *earned[1]}}
        yield {"args": [text, until, depth, account], "expect": {
            "days": [day for day, *_ in sheet.entries if day <= until], "accounts": sheet.names(), "balance": Sheet.said(sheet.total(account, last=until)),
            "running": sheet.running(account), "tree": [[name, Sheet.said(units)] for name, units in sheet.tree(until, depth)],
            "table": sheet.table(sheet.tree()), "profit": Sheet.said(earned), "closed": [until, [day for day, *_ in entries if day <= until]],
        }}


def amounts(random):
    for text, currency, seen in (
        ("1", "EUR", "1.00 EUR"), ("-0.05", "EUR", "-0.05 EUR"), ("-0", "EUR", "0.00 EUR"), ("1.500", "EUR", "1.50 EUR"), ("7", "JPY", "7 JPY"), ("7.5", "JPY", None), ("0.001", "KWD", "0.001 KWD"),
        ("0.0001", "BHD", None), ("x", "EUR", None), ("NaN", "EUR", None), ("Infinity", "EUR", None), ("1", "EU", None), ("1", "eur", None), ("1", "E1R", None), ("1", "", None), ("", "EUR", None), ("1e2", "EUR", "100.00 EUR"),
    ):
        yield {"args": [text, currency], "expect": seen}


def money(random):
    while True:
        one, other = ([(random.randint(-3, 3), random.choice(["EUR", "JPY", "KWD"])) for _ in range(random.randint(0, 4))] for _ in range(2))
        units = [{c: sum(u for u, d in some if c == d) for c in "EUR JPY KWD".split()} for some in (one, other)]
        total = {c: units[0][c] + units[1][c] for c in units[0]}
        yield {"args": [one, other], "expect": [Sheet.said(units[0]), Sheet.said(total), Sheet.said({c: -u for c, u in units[0].items()}), units[0] == units[1], any(units[0].values()), [told(u, c) for c, u in units[0].items()]]}


def commands(random):
    yield {"args": ["2026-01-01 x\n    assets:a 1.00 EUR\n    ; note\n    assets:b\n", "balance"], "expect": [0, "assets:a   1.00 EUR\nassets:b  -1.00 EUR\n", ""]}
    yield {"args": ["2026-01-01 x\n    assets:a 1.00 EUR\n    assets:a 5 JPY\n    equity:b\n", "balance", "--depth", "1"], "expect": [0, "assets   1.00 EUR\n            5 JPY\nequity  -1.00 EUR\n           -5 JPY\n", ""]}
    yield {"args": ["2026-01-01 x;y\n    assets:a 1.00 EUR\n;\n    assets:a 5 JPY\n    equity:b\n\n2026-01-02 z\n    assets:a 1 EUR\n    equity:b", "register", "equity", "--until", "2026-01-01"], "expect": [0, f"2026-01-01  {'x':<24}  -1.00 EUR, -5 JPY  -1.00 EUR, -5 JPY\n", ""]}


def plain_commands(random):
    text = "2026-01-02 z\n    assets:a 1 EUR\n    equity:b\n2026-01-01 x\n    assets:a:c 2.50 EUR ; y\n    income:b\n"
    yield {"args": [text, "balance", "--depth", "1", "--until", "2026-01-01"], "expect": [0, "assets   2.50 EUR\nincome  -2.50 EUR\n", ""]}
    yield {"args": [text, "register"], "expect": [0, f"2026-01-01  {'x':<24}  2.50 EUR  2.50 EUR\n2026-01-02  {'z':<24}  1.00 EUR  3.50 EUR\n", ""]}
    yield {"args": ["x\n", "balance"], "expect": [1, "", "J: line 1: an entry begins with a day and a text\n"]}
    yield {"args": ["2026-01-01 x\n    house:a 1.00 EUR\n    assets:b\n"], "expect": [1, "", "J: house:a: an account begins with one of assets, liabilities, equity, income, expenses\n"]}
    yield {"args": [""], "expect": [0, "", ""]}
    yield {"args": [text, "tree"], "expect": ["exit", 2]}


def tests(names):
    def cases(random):
        yield {"args": names, "holds": lambda seen: bool(seen) and set(seen.values()) == {"passed"}}

    return cases


suite = tests(["tests/test_amounts.py", "tests/test_journal.py", "tests/test_book.py"])
