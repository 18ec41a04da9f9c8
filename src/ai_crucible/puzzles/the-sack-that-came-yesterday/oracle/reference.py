"""Right answers by a way of their own: single pieces that lie in stores, and tables that are made anew for each question."""

STORES, GOODS = ["barn", "mill", "shop"], ["oats", "rye"]


def line(entry):
    return " ".join(map(str, entry))


def stands(log, at, known):
    """Tell whether entry ``at`` (from 1) stands when ``known`` entries are there."""
    return not any(log[later - 1] == ("void", at) and stands(log, later, known) for later in range(at + 1, known + 1))


def said(log, at, field, known):
    """Return what an entry says by then; a field that was corrected as it was corrected last."""
    for later in range(known, at, -1):
        entry = log[later - 1]
        if entry[:3] == ("fix", at, field) and stands(log, later, known):
            return entry[3]
    return log[at - 1][{"day": 0, "qty": 4, "price": 5}[field]]


def days(log, known, last=10**9):
    """Return pieces by store and good, what was taken and what was missing, and the outs' days, at the end of a day."""
    rows = []
    for at in range(1, known + 1):
        entry = log[at - 1]
        if entry[1] in ("in", "move", "out") and stands(log, at, known):
            day = said(log, at, "day", known)
            if day <= last:
                rows.append((day, ["in", "move", "out"].index(entry[1]), at))
    pieces, took, short, outs = {}, {}, {}, {}
    for day, _, at in sorted(rows):
        entry, qty = log[at - 1], said(log, at, "qty", known)
        here = pieces.setdefault((entry[2], entry[3]), [])
        if entry[1] == "in":
            here += [(day, at, said(log, at, "price", known))] * qty
            continue
        here.sort()
        gone = here[:qty]
        del here[:qty]
        if len(gone) < qty:
            short[at] = qty - len(gone)
        if entry[1] == "move":
            pieces.setdefault((entry[5], entry[3]), []).extend(gone)
        else:
            outs[at] = day
        took[at] = [(number, gone.count(one), one[2]) for one in sorted(set(gone)) for number in [one[1]]]
    return pieces, took, short, outs


def stock(log, day, known):
    return {key: (len(all_), sum(one[2] for one in all_)) for key, all_ in days(log, known, day)[0].items() if all_}


def journal(log, known):
    table, closed = {}, 0
    for at in range(1, known + 1):
        if log[at - 1][0] == "close" and stands(log, at, known) and log[at - 1][1] > closed:
            table = {key: amount for key, amount in filled(log, at, table, closed).items() if key[0] <= log[at - 1][1]}
            closed = log[at - 1][1]
    table = filled(log, known, table, closed)
    return [[day, number, log[number - 1][3], amount, True] for (day, number), amount in sorted(table.items()) if amount]


def filled(log, known, fixed, closed):
    """Return the whole journal by day and number, of which ``fixed`` stays as it is."""
    _, took, _, outs = days(log, known)
    table = dict(fixed)
    for number in range(1, len(log) + 1):
        sum_fixed = sum(amount for (_, one), amount in fixed.items() if one == number)
        cost = sum(qty * price for _, qty, price in took[number]) if number in outs else 0
        late = -sum_fixed
        if number in outs:
            if outs[number] <= closed:
                late += cost
            else:
                table[outs[number], number] = cost
        table[closed + 1, number] = table.get((closed + 1, number), 0) + late
    return table


def drawn_log(random, weights, count, stores=2, goods=1, last=8):
    """Return entries; ``weights`` for in, out, move, fix, void, close."""
    log = []
    while len(log) < count:
        way = random.choices(["in", "out", "move", "fix", "void", "close"], weights)[0]
        store, good, day = random.choice(STORES[:stores]), random.choice(GOODS[:goods]), random.randint(1, last)
        if way == "in":
            log.append((day, "in", store, good, random.randint(1, 6), random.choice([0, 1, 2, 10, 10, 100, 250, 255])))
        elif way == "out":
            log.append((day, "out", store, good, random.randint(1, 5)))
        elif way == "move":
            log.append((day, "move", store, good, random.randint(1, 5), random.choice([each for each in STORES[:stores] if each != store])))
        elif way == "fix":
            targets = [at for at, entry in enumerate(log, 1) if entry[1] in ("in", "out", "move")]
            if not targets:
                continue
            target = random.choice([random.choice(targets), *[entry[1] for entry in log if entry[0] == "fix"]])
            field = random.choice(["day", "qty", "price"] if log[target - 1][1] == "in" else ["day", "qty"])
            log.append(("fix", target, field, random.randint(1, last) if field == "day" else random.choice([0, 1, 2, 3, 5, 7])))
        elif way == "void":
            if not log:
                continue
            kinds = [at for at, entry in enumerate(log, 1) if entry[0] in ("void", "fix", "close")]
            log.append(("void", random.choice([random.randint(1, len(log)), random.choice(kinds or [1]), *[at for at in kinds if log[at - 1][0] == "close"][:1]])))
        else:
            log.append(("close", random.randint(1, last)))
    return log


def text_of(random, log):
    lines = ""
    for entry in log:
        while random.random() < 0.1:
            lines += random.choice(["", "# in barn", "   ", "#", "  # x"]) + "\n"
        lines += random.choice(["", "", "", " ", "\t"]) + random.choice([" ", " ", "  ", "\t"]).join(map(str, entry)) + random.choice(["", "", " "]) + "\n"
    return lines if random.random() < 0.8 else lines[:-1]


def late_log(random):
    """Return a log in which outs of closed days are changed: moved to other days, void, at other prices and quantities."""
    log = drawn_log(random, [3, 4, 0, 0, 0, 0], random.randint(3, 8), stores=1)
    log.insert(0, (1, "in", "barn", "oats", 9, random.choice([1, 10, 250])))
    outs = [at for at, entry in enumerate(log, 1) if entry[1] == "out"]
    for _ in range(random.randint(1, 3)):
        log.append(("close", random.choice([1, 2, 3, 4, 5, 7])))
        for _ in range(random.randint(0, 3)):
            way = random.choice(["day", "day", "void", "price", "qty", "late", "again"])
            if way == "late":
                log += drawn_log(random, [1, 2, 0, 0, 0, 0], 1, stores=1)
            elif way == "again":
                log.append(("void", random.randint(len(log) - 2, len(log))))
            elif way == "price":
                log.append(("fix", 1, "price", random.choice([0, 2, 11, 255])))
            elif outs:
                out = random.choice(outs)
                log.append(("void", out) if way == "void" else ("fix", out, way, random.randint(1, 9)))
    return log


def round_log(random):
    """Return a log in which parts of lots go to another store and come back to those that stayed."""
    log = [(random.randint(1, 3), "in", "barn", "oats", random.randint(4, 7), random.choice([5, 10])) for _ in range(random.randint(1, 3))]
    for _ in range(random.randint(2, 4)):
        here = random.choice(["barn", "barn", "mill"])
        log.append((random.randint(2, 6), "move", here, "oats", random.randint(1, 4), "mill" if here == "barn" else "barn"))
    log.append((random.randint(4, 7), "out", "barn", "oats", random.randint(4, 9)))
    random.shuffle(log)
    return log


def asked(random, weights, count=(4, 14), ways=("stock", "taken", "short", "journal"), led=None, **more):
    while True:
        log = drawn_log(random, weights, random.randint(*count), **more)
        if led and random.random() < 0.5:
            log = led(random)
        questions, answers = [], []
        for _ in range(8):
            way = random.choice(ways)
            known = random.choice([None, None, random.randint(0, len(log)), len(log), len(log) + 3])
            end = len(log) if known is None else min(known, len(log))
            if way == "stock":
                day = random.choice([0, random.randint(1, 9), 99])
                questions.append([way, day, known])
                answers.append(stock(log, day, end))
            elif way == "taken":
                takers = [at for at, entry in enumerate(log, 1) if entry[1] in ("out", "move")]
                number = random.choice([*takers, *takers, random.randint(1, len(log) + 1)])
                questions.append([way, number, known])
                answers.append(days(log, end)[1].get(number, []))
            else:
                questions.append([way, known])
                answers.append(days(log, end)[2] if way == "short" else journal(log, end))
        yield {"args": [text_of(random, log), questions], "expect": [answers, True]}


def of_days(random):
    yield from asked(random, [5, 4, 0, 0, 0, 0], stores=1, goods=2)


def of_moves(random):
    yield from asked(random, [5, 3, 6, 0, 0, 0], (6, 16), led=round_log, stores=3)


def of_fixes(random):
    yield from asked(random, [4, 4, 1, 5, 1, 0], (5, 16))


def of_voids(random):
    yield from asked(random, [4, 3, 1, 2, 6, 0], (5, 16))


def of_closings(random):
    yield from asked(random, [4, 4, 0, 2, 1, 3], (6, 16), ("journal",), late_log, stores=1)


def of_voided_closings(random):
    yield from asked(random, [3, 3, 0, 1, 3, 4], (7, 18), ("journal",), late_log, stores=1)


def of_all(random):
    yield from asked(random, [5, 5, 3, 3, 2, 2], (8, 22), goods=2)


def faults(random):
    good = "1 in barn oats 5 2\n"
    for bad in ("fix 2 qty 1", "fix 3 qty 1", "void 2", "void 9", "fix 0 qty 1", "void 0", "fix 1 day 0", "fix 1 store 2", "fix 1 number 2", "fix 1 kind 1", "fix 1 qty x", "fix 1 qty -1", "fix 1 qty", "fix 1 qty 1 1", "void 1 1", "close 0", "close", "close x", "0 in barn oats 1 1", "1 in barn oats 0 1", "1 in barn oats 1 -1", "1 in barn oats 1", "1 out barn oats 1 1", "1 move barn oats 1 barn", "1 move barn oats 1", "1 in Barn oats 1 1", "1 in barn o4 1 1", "1 in barn oats \u0661 1", "1 in barn\u00a0oats 1 1", "1 in barn oats 1 1\r", "1 in b\u00e4rn oats 1 1", "\x0cvoid 1", "1 close", "x"):
        yield {"args": [good + bad + "\n", []], "expect": ["fault", 2, True]}
    for before, bad in (("1 out barn oats 1\n", "fix 1 price 1"), ("1 move barn oats 1 mill\n", "fix 1 price 1"), ("close 1\n", "fix 1 day 2"), ("close 1\n", "fix 1 qty 2"), (good + "void 1\n", "fix 2 day 2"), (good + "fix 1 qty 2\n", "fix 2 qty 2"), (good + "fix 1 qty 2\n", "fix 2 day 2"), ("# x\n\n", "void 1"), (good + "void 1\n", "fix 1 day 0"), (good + "void 1\n", "fix 1 to 1")):
        yield {"args": [before + bad, []], "expect": ["fault", before.count("\n") + 1, True]}
    for text in (good + "void 1\nfix 1 qty 2\n", good + "void 1\nvoid 1\n", good + "fix 1 qty 0\nfix 1 price 0\n", "", "# x", good + "#\u2028void 9\n"):
        yield {"args": [text, [["stock", 9, None], ["journal", None]]], "expect": [[{} if "void 1" in text or "qty 0" in text or not text.startswith("1") else {("barn", "oats"): (5, 10)}, []], True]}


def commands(random):
    text = "1 in barn oats 10 250\n4 out barn oats 3\nfix 1 price 255\n5 move barn oats 4 mill\n6 out mill oats 9\n"
    yield {"args": [text, "journal"], "expect": [0, "4 2 oats 765\n6 5 oats 1020\n"]}
    yield {"args": [text, "journal", "2"], "expect": [0, "4 2 oats 750\n"]}
    yield {"args": [text, "short"], "expect": [0, "5 5\n"]}
    yield {"args": [text, "stock", "5"], "expect": [0, "barn oats 3 765\nmill oats 4 1020\n"]}
    yield {"args": [text, "stock", "5", "2"], "expect": [0, "barn oats 7 1750\n"]}
    yield {"args": ["void 1\n", "journal"], "expect": [1, ""]}
    yield {"args": [text, "stock"], "expect": [2, ""]}
    yield {"args": [None, "journal"], "expect": [1, ""]}


def suite(random):
    names = ["tests/test_ledger.py", "tests/test_journal.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 8 and set(seen.values()) == {"passed"}}
