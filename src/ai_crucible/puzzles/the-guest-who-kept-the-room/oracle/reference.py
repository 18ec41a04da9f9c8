"""Right answers by a way of their own: one list of records, the most recently used last, that is made anew at each request."""

from itertools import count


class Book:
    """All records in the order of their uses: [number, key, size, ttl, again, ends, tier, tickets, known]."""

    def __init__(self, capacities):
        self.capacities, self.rows, self.now = list(capacities), [], None
        self.numbers, self.given, self.open = count(1), 0, {}
        self.counts = [0, 0, 0, 0, 0]

    def where(self, tier, **how):
        return [row for row in self.rows if row["tier"] == tier and all(row[name] == value for name, value in how.items())]

    def stays(self, tier):
        return sum(row["size"] for row in self.where(tier) if row["tickets"])

    def free(self, tier):
        return self.capacities[tier] - sum(row["size"] for row in self.where(tier))

    def sweep(self):
        """Forget what nobody can find or holds."""
        self.rows = [row for row in self.rows if row["known"] or row["tickets"]]

    def known(self, key):
        return next((row for row in self.rows if row["known"] and row["key"] == key), None)

    def tell(self, now):
        if self.now is not None and now < self.now:
            return False
        self.now = now
        for row in self.rows:
            if row["known"] and row["ends"] is not None and row["ends"] <= now:
                row["known"] = False
                self.counts[2] += 1
        self.sweep()
        return True

    def settle(self, queue):
        """Lay what is in a queue of (record, first tier, what its move is counted as), the newest demands first."""
        while queue:
            row, first, home = queue.pop(0)
            tier = next((at for at in range(first, len(self.capacities)) if row["size"] <= self.capacities[at] - self.stays(at)), None)
            if tier is None:
                self.counts[3] += 1
                self.rows = [one for one in self.rows if one is not row]
                continue
            leavers = self.leavers(tier, row["size"])
            row["tier"] = tier
            if home is not None and home != tier:
                self.counts[4] += 1
            queue[:0] = [(one, tier + 1, tier) for one in leavers]

    def leavers(self, tier, size):
        """Take out of a tier what has to leave for so much more."""
        gone, short = [], size - self.free(tier)
        for row in self.where(tier, tickets=0):
            if short <= 0:
                break
            short -= row["size"]
            gone.append(row)
        for row in gone:
            row["tier"] = None
        return gone

    def used_now(self, row):
        self.rows = [*(one for one in self.rows if one is not row), row]

    def ask(self, name, now, *words):
        return getattr(self, "do_" + name)(*words) if self.tell(now) else "refused"

    def do_put(self, key, size, ttl=None, again=False):
        if size < 1 or (ttl is not None and ttl < 1) or not any(size <= self.capacities[at] - self.stays(at) for at in range(len(self.capacities))):
            return "refused"
        self.do_drop(key)
        row = {"key": key, "size": size, "ttl": ttl, "again": again, "ends": None if ttl is None else self.now + ttl, "tier": None, "tickets": 0, "known": True}
        self.rows.append(row)
        self.settle([(row, 0, None)])

    def do_get(self, key):
        row = self.known(key)
        self.counts[row is None] += 1
        if row is None:
            return False
        self.used_now(row)
        if row["again"] and row["ttl"] is not None:
            row["ends"] = self.now + row["ttl"]
        if not row["tickets"]:
            home, row["tier"] = row["tier"], None
            self.settle([(row, 0, home)])
        return True

    def do_pin(self, key):
        row = self.known(key)
        if row is None:
            return None
        row["tickets"] += 1
        self.given += 1
        self.open[self.given] = row
        return self.given

    def do_release(self, ticket):
        if ticket not in self.open:
            return "refused"
        self.open.pop(ticket)["tickets"] -= 1
        self.sweep()

    def do_drop(self, key):
        row = self.known(key)
        if row is not None:
            row["known"] = False
            self.sweep()
        return row is not None

    def do_resize(self, tier, capacity):
        if tier not in range(len(self.capacities)) or capacity < 0 or capacity < self.stays(tier):
            return "refused"
        self.capacities[tier] = capacity
        self.settle([(row, tier + 1, tier) for row in self.leavers(tier, 0)])

    def do_next_expiry(self):
        return min((row["ends"] for row in self.rows if row["known"] and row["ends"] is not None), default=None)

    def do_keys(self):
        return [[row["key"] for row in self.where(tier, known=True)] for tier in range(len(self.capacities))]

    def do_used(self):
        return [sum(row["size"] for row in self.where(tier)) for tier in range(len(self.capacities))]


LEAST = {"put": 40, "get": 25, "pin": 10, "release": 8, "drop": 5, "resize": 4, "next_expiry": 2, "keys": 1, "used": 1}


def history(random, weights=None, length=(4, 30), capacities=None):
    """Ask a new book for what leads to corners; return it, its first capacities, the requests and their answers."""
    weights = {**LEAST, **(weights or {})}
    capacities = capacities or [random.choice([0, 3, 5, 8, 10, 12, 20]) for _ in range(random.choice([1, 2, 2, 3, 3, 4]))]
    book, asked, seen, now = Book(capacities), [], [], random.choice([0, 0, 5])
    letters = "abcdef"[: random.randint(2, 6)]
    for _ in range(random.randint(*length)):
        name = random.choices(list(weights), list(weights.values()))[0]
        ends = [row["ends"] for row in book.rows if row["ends"] is not None and row["ends"] >= now]
        if ends and random.random() < 0.3:
            now = max(now, min(ends) - random.choice([0, 0, 1]))
        else:
            now += random.choice([0, 0, 1, 1, 2, 4])
        at = max(0, now - random.choice([1, 2])) if random.random() < 0.03 else now
        words = words_of(random, book, name, letters)
        asked.append([name, at, *words])
        seen.append(book.ask(name, at, *words))
        yield book, capacities, asked, seen, now


def words_of(random, book, name, letters):
    """Return likely arguments of a request."""
    key = random.choice(letters)
    if name in ("get", "pin", "drop"):
        low = [row["key"] for row in book.rows if row["known"] and row["tier"]]
        return [random.choice(low) if low and random.random() < 0.5 else key]
    if name == "put":
        tier = random.randrange(len(book.capacities))
        edge = book.capacities[tier] - book.stays(tier)
        size = random.choice([1, 2, 3, 4, 5, edge, edge, edge + 1, book.free(tier), max(book.capacities) + 1 if random.random() < 0.2 else 2])
        size = size if random.random() < 0.04 else max(1, size)
        return [key, size, *random.choice([[], [], [random.choice([1, 2, 5, 9])], [random.choice([1, 3, 5, 8]), True], [None, True]] + ([[0]] if random.random() < 0.1 else []))]
    if name == "release":
        tickets = list(book.open)
        if tickets and random.random() < 0.85:
            return [random.choice(tickets)]
        return [random.choice([0, -1, book.given, book.given + 1, random.randint(0, book.given + 1)])]
    if name == "resize":
        tier = random.choice([-1, len(book.capacities)]) if random.random() < 0.1 else random.randrange(len(book.capacities))
        held = book.stays(tier) if tier in range(len(book.capacities)) else 0
        return [tier, random.choice([held, held, held - 1, held + 3, 0, 4, 9, 15, -1])]
    return []


def steps(random, weights=None):
    while True:
        told, answers = [], None
        for book, capacities, asked, seen, now in history(random, weights):
            told.append([seen[-1], list(book.counts)])
            told[-1] += [book.ask("keys", book.now if book.now is not None else now), book.ask("used", book.now if book.now is not None else now)]
            answers = [capacities, asked]
        yield {"args": answers, "expect": told}


def rooms(random):
    yield from steps(random, {"pin": 4, "release": 3, "get": 35})


def cascades(random):
    """What leaves one tier together goes into several, and moves others on there."""
    while True:
        capacities = [random.randint(8, 14), random.randint(2, 5), random.randint(5, 9), *random.choice([[], [], [3], [9]])]
        book, first = Book(capacities), list(capacities)
        asked, seen = [], []
        for number in range(random.randint(4, 9)):
            asked.append(["put", number, "abcdefghi"[number], random.choice([1, 2, 3, capacities[1], capacities[1] + 1, 6, capacities[0]])])
            seen.append(book.ask(*asked[-1]))
            seen[-1] = [seen[-1], list(book.counts), book.ask("keys", number), book.ask("used", number)]
        yield {"args": [first, asked], "expect": seen}


def pins(random):
    yield from steps(random, {"pin": 25, "release": 20, "drop": 10})


def sizes(random):
    yield from steps(random, {"resize": 25, "pin": 12})


def finals(random):
    """Nothing is looked at before the end, so that nothing is cleared by looking."""
    while True:
        for book, capacities, asked, seen, now in history(random, {"keys": 0, "used": 0, "next_expiry": 15}, (3, 18)):
            pass
        kinds = [random.choice(["counts", "keys", "used", "next_expiry"]) for _ in range(2)] + ["counts"]
        latest = max(request[1] for request in asked)
        ends = [list(book.counts) if kind == "counts" else book.ask(kind, latest) for kind in kinds]
        yield {"args": [capacities, asked, kinds], "expect": [*seen, *ends]}


def texts(random):
    yield {"args": ["# x\ntiers 10 0\n\n 0 put a 5\n1 put b 2 for 3\n2 put b 2 for 3 again\n3 get a\n4 pin a\n5 drop a\n6 release 1\n7 resize 1 20\n"], "expect": [[10, 0], [[0, "put", "a", 5], [1, "put", "b", 2, 3], [2, "put", "b", 2, 3, True], [3, "get", "a"], [4, "pin", "a"], [5, "drop", "a"], [6, "release", 1], [7, "resize", 1, 20]]]}
    for text, line in (("", 1), ("tiers\n", 1), ("\nx 1\n", 2), ("tiers 1\n0 put a 1 for\n", 2), ("tiers 1\n0 put a -1\n", 2), ("tiers 1\n0 get\n", 2), ("tiers 1\n0 release x\n", 2), ("tiers 1\n0 look a\n", 2), ("tiers 1\n0 put a 1 for 2 twice\n", 2), ("tiers -1\n", 1), ("tiers 1\nx get a\n", 2)):
        yield {"args": [text], "expect": ["fault", line, True]}


def plain(random):
    yield {"args": [], "expect": [True, "1 hits, 2 misses, 3 expired, 4 evicted, 5 moved", True]}


def commands(random):
    yield {"args": ["tiers 10 5\n0 put a 6 for 5\n1 pin a\n5 get a\n5 put b 5\n6 pin b\n6 release 1\n6 put c 10\n7 release 1\n3 drop b\n8 drop b\n8 drop b\n"], "expect": [0, "0 put a: done\n1 pin a: ticket 1\n5 get a: nothing\n5 put b: done\n6 pin b: ticket 2\n6 release 1: done\n6 put c: done\n7 release 1: refused\n3 drop b: refused\n8 drop b: found\n8 drop b: nothing\ntier 0: 10 of 10, c\ntier 1: 5 of 5, nothing\n0 hits, 1 misses, 1 expired, 0 evicted, 0 moved\n"]}
    yield {"args": ["tiers x\n"], "expect": [1, ""]}
    yield {"args": ["tiers 4\n0 put a 5\n0 put a 4\n1 get a\n"], "expect": [0, "0 put a: refused\n0 put a: done\n1 get a: found\ntier 0: 4 of 4, a\n1 hits, 0 misses, 0 expired, 0 evicted, 0 moved\n"]}


def suite(random):
    names = ["tests/test_cache.py", "tests/test_script.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 7 and set(seen.values()) == {"passed"}}
