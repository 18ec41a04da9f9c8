"""Right answers by a way of their own: fractions, and one rule after another."""

from fractions import Fraction
from math import floor


def half_up(value):
    return floor(value + Fraction(1, 2))


def split(total, weights):
    if total < 0:
        return [-one for one in split(-total, weights)]
    if not weights:
        return []
    if sum(weights) == 0:
        weights = [1 for _ in weights]
    exact = [Fraction(total * weight, sum(weights)) for weight in weights]
    shares = [floor(one) for one in exact]
    while sum(shares) < total:
        best = max(one - floor(one) for one, share in zip(exact, shares) if share <= one)
        at = next(at for at, one in enumerate(exact) if one - floor(one) == best and shares[at] <= one)
        shares[at] += 1
    return shares


def bill(lines, discounts, shipping):
    left = [units * each for units, each, _, _ in lines]
    for thousandths, amount, category in discounts:
        own = [at for at, line in enumerate(lines) if not category or line[3] == category]
        there = sum(left[at] for at in own)
        worth = half_up(Fraction(there * thousandths, 1000)) if thousandths else min(amount, there)
        for at, share in zip(own, split(worth, [left[at] for at in own])):
            left[at] -= share
    taxes = [0] * len(lines)
    for rate in sorted({line[2] for line in lines}):
        own = [at for at, line in enumerate(lines) if line[2] == rate]
        tax = half_up(sum(left[at] for at in own) * Fraction(rate, 1000 + rate))
        for at, share in zip(own, split(tax, [left[at] for at in own])):
            taxes[at] = share
    rate = max([line[2] for line, total in zip(lines, left) if total > 0] or [0])
    return left, taxes, half_up(shipping * Fraction(rate, 1000 + rate))


class Book:
    """What is left of each line, and the refunds that were made."""

    def __init__(self, lines, discounts, shipping):
        totals, taxes, _ = bill(lines, discounts, shipping)
        self.left = [[line[0], total, tax] for line, total, tax in zip(lines, totals, taxes)]
        self.paid, self.void, self.entries = [], set(), []

    def ask(self, request):
        kind, *numbers = request
        if kind == "void":
            (number,) = numbers
            if number not in range(1, len(self.paid) + 1) or number in self.void:
                return "refused"
            self.void.add(number)
            how, line, count, amount, shares, taxes = self.paid[number - 1]
            if how == "units":
                self.left[line][0] += count
            for one, share, tax in zip(self.left, shares, taxes):
                one[1] += share
                one[2] += tax
            self.entries.append(["void", 0, number, -amount, [-one for one in shares], [-one for one in taxes]])
            return self.entries[-1]
        shares, line, count = [0] * len(self.left), 0, 0
        if kind == "units":
            line, count = numbers
            if line not in range(len(self.left)) or not 1 <= count <= self.left[line][0]:
                return "refused"
            units, cents, _ = self.left[line]
            shares[line] = half_up(Fraction(cents * count, units))
            self.left[line][0] -= count
        else:
            (amount,) = numbers
            if not 1 <= amount <= sum(one[1] for one in self.left):
                return "refused"
            shares = split(amount, [one[1] for one in self.left])
        taxes = []
        for one, share in zip(self.left, shares):
            taxes.append(half_up(Fraction(one[2] * share, one[1])) if share else 0)
            one[1] -= share
            one[2] -= taxes[-1]
        self.entries.append([kind, line, count, sum(shares), shares, taxes])
        self.paid.append(self.entries[-1])
        return self.entries[-1]


def order(random, most=5):
    big = random.random() < 0.15
    price = lambda: random.choice([0, 1, 5, 99, 100, 333, 1999, random.randint(0, 500), 10**18 + 1 if big else 7])
    rates = random.sample([0, 50, 55, 70, 190, 200, 333, 1000], 3)
    lines = [[random.choice([1, 1, 2, 3, 7, 12]), price(), random.choice(rates), random.choice("ab")] for _ in range(random.randint(1, most))]
    discounts = []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        category = random.choice(["", "", "a", "b", "c"])
        if random.random() < 0.5:
            discounts.append([random.choice([1, 5, 50, 100, 125, 333, 500, 999, 1000, 0]), 0, category])
        else:
            discounts.append([0, random.choice([0, 1, 2, 3, 10, 100, 1000, 10**6, 10**19]), category])
    return [lines, discounts, random.choice([0, 0, 1, 3, 490, 55, 10**18 + 3 if big else 11])]


def splits(random):
    for total, weights, shares in ((0, [], []), (1, [0, 0], [1, 0]), (5, [0, 0], [3, 2]), (-5, [0, 0], [-3, -2]), (10, [1, 0, 2], [3, 0, 7]), (-10, [1, 0, 2], [-3, 0, -7]), (2, [1, 1, 1], [1, 1, 0]), (-1, [1, 1], [-1, 0]), (-1, [0, 0], [-1, 0]), (100, [1, 1, 1], [34, 33, 33]), (0, [0, 3], [0, 0]), (10**30 + 1, [1, 1], [5 * 10**29 + 1, 5 * 10**29]), (1, [10**20, 10**20 + 1], [0, 1])):
        yield {"args": [total, weights], "expect": shares}
    for total in (1, -1):
        yield {"args": [total, []], "raises": "ValueError"}
    while True:
        weights = [random.choice([0, 1, 1, 2, 3, 5, random.randint(0, 30), 10**random.randint(3, 25)]) for _ in range(random.randint(1, 7))]
        total = random.choice([1, 1, -1]) * random.choice([0, 1, 2, 3, 7, 10, 100, random.randint(0, 999), 10**random.randint(3, 25) + 1])
        yield {"args": [total, weights], "expect": split(total, weights)}


def bills(random):
    for lines, discounts, shipping in (([[1, 5, 200, "a"], [1, 5, 200, "a"]], [[100, 0, ""]], 0), ([[1, 3, 200, "a"]] * 3, [], 0), ([[1, 100, 1000, "a"], [1, 100, 50, "b"]], [[1000, 0, "a"]], 105), ([[1, 0, 200, "a"]], [], 100), ([[1, 5, 1000, "a"]], [[500, 0, ""]], 1), ([], [[0, 5, ""]], 7), ([], [], 10**9), ([[1, 0, 200, "a"]], [], 10**9), ([[1, 4, 200, "a"]], [[1000, 0, ""]], 10**9)):
        yield of_bill(lines, discounts, shipping)
    while True:
        yield of_bill(*order(random))


def of_bill(lines, discounts, shipping):
    totals, taxes, own = bill(lines, discounts, shipping)
    return {"args": [lines, discounts, shipping], "expect": [totals, taxes, shipping, own, sum(totals) + shipping, sum(taxes) + own]}


def requests(random, book, length):
    """Ask a book for what is possible, near what is not, and impossible; return the requests and what came of them."""
    asked, seen = [], []
    for _ in range(length):
        kind = random.choice(["units", "units", "units", "amount", "amount", "void"])
        if kind == "units":
            line = random.randrange(-1, len(book.left) + 1) if random.random() < 0.2 else random.randrange(len(book.left))
            most = book.left[line][0] if 0 <= line < len(book.left) else 1
            request = [kind, line, random.choice([1, 1, 2, most, most, most + 1, 0, -1] if random.random() < 0.4 else [1, max(1, most // 2)])]
        elif kind == "amount":
            most = sum(one[1] for one in book.left)
            request = [kind, random.choice([1, 2, 3, max(1, most // 2), max(1, most // 3), most, most + 1, 0, -5] if random.random() < 0.5 else [1, 5, max(1, most // 7)])]
        else:
            request = [kind, random.choice([0, -1, len(book.paid), len(book.paid) + 1, random.randint(1, len(book.paid) + 1)])]
        asked.append(request)
        answer = book.ask(request)
        seen.append(answer if answer == "refused" else [*answer[:4], list(answer[4]), list(answer[5])])
    return asked, seen


def refunds(random, length=(1, 14), sort=None):
    while True:
        one = order(random, 4)
        book = Book(*one)
        asked, seen = requests(random, book, random.randint(*length))
        if random.random() < 0.3:
            for line, left in enumerate(book.left):
                while left[0]:
                    asked.append(["units", line, random.randint(1, left[0])])
                    seen.append([*book.ask(asked[-1])])
            asked.append(["amount", 1])
            seen.append(book.ask(asked[-1]))
        yield {"args": [*one, asked], "expect": [seen, book.left, True]}


def audits(random):
    while True:
        one = order(random, 4)
        book = Book(*one)
        requests(random, book, random.randint(2, 12))
        entries = [[*entry[:4], list(entry[4]), list(entry[5])] for entry in book.entries]
        if not entries:
            continue
        if random.random() < 0.75:
            at = random.randrange(len(entries))
            entry, way = entries[at], random.choice(["tax", "share", "amount", "kind", "line", "count", "again", "none"])
            if way == "tax":
                entry[5][random.randrange(len(entry[5]))] += random.choice([1, -1])
            elif way == "share":
                entry[4][random.randrange(len(entry[4]))] += random.choice([1, -1])
            elif way == "amount":
                entry[3] += random.choice([1, -1, 10**30])
            elif way == "kind":
                entry[0] = random.choice([kind for kind in ("units", "amount", "void", "other") if kind != entry[0]])
            elif way == "line":
                entry[1] += random.choice([1, -1, 100, -len(book.left)])
            elif way == "count":
                entry[2] += random.choice([1, -1, 100, -100])
            elif way == "again" and entry[0] == "void":
                entries.insert(at + 1, [*entry[:4], list(entry[4]), list(entry[5])])
            else:
                entries.insert(at, [entry[0], 99, entry[2], entry[3], list(entry[4]), list(entry[5])] if entry[0] == "units" else ["void", 0, 0, 0, [], []])
        yield {"args": [*one, entries], "expect": wrong(Book(*one), entries)}


def wrong(book, entries):
    """Return the position of the first entry that a book does not make of the same request; 0 where there is none."""
    for position, entry in enumerate(entries, 1):
        kind, line, count, amount = entry[:4]
        ways = {"units": [kind, line, count], "amount": [kind, amount], "void": [kind, count]}
        if kind not in ways or book.ask(ways[kind]) != entry:
            return position
    return 0


def texts(random):
    yield {"args": ["# x\nline 3 4.99 200 books\n\n line 1 0.00 0 a\ndiscount 100 thousandths books\ndiscount 0 thousandths\ndiscount 1000 thousandths\ndiscount 12.00 off\nshipping 4.90\n"], "expect": [[[3, 499, 200, "books"], [1, 0, 0, "a"]], [[100, 0, "books"], [0, 0, ""], [1000, 0, ""], [0, 1200, ""]], 490]}
    yield {"args": [""], "expect": [[], [], 0]}
    for text, line in (("line 0 1.00 0 a\n", 1), ("line 1 1.0 0 a\n", 1), ("line 1 -1.00 0 a\n", 1), ("line 1 1.00 -1 a\n", 1), ("line 1 1.00 0\n", 1), ("\nx\n", 2), ("discount 1001 thousandths\n", 1), ("discount 1 off\n", 1), ("discount 1.00 off a b\n", 1), ("shipping 1.00\nshipping 1.00\n", 2), ("shipping -0.01\n", 1), ("discount -0.01 off\n", 1), ("line 1 1.000 0 a\n", 1), ("line 1 .50 0 a\n", 1)):
        yield {"args": [text], "expect": ["fault", line, True]}


def firm(random):
    yield {"args": [], "expect": [True] * 6}


def commands(random):
    text = "line 3 0.33 200 a\nline 1 10.00 50 b\ndiscount 100 thousandths a\nshipping 4.90\n"
    head = "3 x a                 0.89  tax 0.15\n1 x b                10.00  tax 0.48\nshipping              4.90  tax 0.82\ntotal                15.79  tax 1.45\n"
    yield {"args": [text], "expect": [0, head]}
    yield {"args": [text, "units", "0", "2", "amount", "1.00", "void", "1"], "expect": [0, head + "units           0.59  tax 0.10\namount          1.00  tax 0.06\nvoid           -0.59  tax -0.10\n"]}
    yield {"args": ["line 1 0.01 0 a\nline 2 123.45 0 a\nshipping 1.00\n", "amount", "0.01", "units", "0", "1", "void", "1", "void", "2"], "expect": [0, "1 x a                 0.01  tax 0.00\n2 x a               246.90  tax 0.00\nshipping              1.00  tax 0.00\ntotal               247.91  tax 0.00\namount          0.01  tax 0.00\nunits           0.01  tax 0.00\nvoid           -0.01  tax 0.00\nvoid           -0.01  tax 0.00\n"]}
    yield {"args": [text, "units", "0", "4"], "expect": [1, head]}
    yield {"args": [text, "void", "1"], "expect": [1, head]}
    yield {"args": [text, "what"], "expect": [1, head]}


def suite(random):
    names = ["tests/test_pricing.py", "tests/test_ledger.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 8 and set(seen.values()) == {"passed"}}
