"""Right answers by a way of their own: conditions are drawn as trees, looked at as numbers from 0 to 1 over all rows that there could be."""

import itertools

COLUMNS = ["k", "x", "y"]
VALUES = [1, 2, 3, None, "1", "a"]
SIGNS = ["=", "=", "=", "<>", "<", "<=", ">", ">="]
OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def leaves(tree):
    return [leaf for each in tree[1] for leaf in leaves(each)] if tree[0] in ("and", "or", "not") else [tree]


def grade(tree, of):
    """Return 1 for true, 0 for false and a half for unknown, where ``of`` grades the leaves."""
    if tree[0] == "not":
        return 1 - grade(tree[1][0], of)
    if tree[0] in ("and", "or"):
        return (min if tree[0] == "and" else max)(grade(each, of) for each in tree[1])
    return of(tree)


def operands(leaf):
    return leaf[2:4] if leaf[0] == "cmp" else leaf[1:2]


def speaks(tree):
    return {one[1] for leaf in leaves(tree) for one in operands(leaf) if one[0] == "col"}


def before(one, other):
    return (type(one) is str, one) < (type(other) is str, other)


def on_values(leaf, values):
    """Grade a leaf where its operands have values."""
    if leaf[0] == "null":
        return float((values[0] is None) != leaf[2])
    if leaf[0] == "in":
        found = 0.5 if values[0] is None else max([float(type(one) is type(values[0]) and one == values[0]) if one is not None else 0.5 for one in leaf[2]])
        return 1 - found if leaf[3] else found
    one, other = values
    if one is None or other is None:
        return 0.5
    less, more = before(one, other), before(other, one)
    return float({"=": not less and not more, "<>": less or more, "<": less, "<=": not more, ">": more, ">=": not less}[leaf[1]])


def in_row(row):
    """``row`` is {alias: {column: value} or None}."""
    return lambda leaf: on_values(leaf, [one[1] if one[0] == "lit" else (row[one[1]] or {}).get(one[2]) for one in operands(leaf)])


def parts(tree, yes=True):
    if tree is None:
        return []
    if tree[0] == "not":
        return parts(tree[1][0], not yes)
    if tree[0] == ("and" if yes else "or"):
        return [part for each in tree[1] for part in parts(each, yes)]
    if yes:
        return [tree]
    if tree[0] == "cmp":
        return [("cmp", OPPOSITE[tree[1]], *tree[2:])]
    if tree[0] in ("null", "in"):
        return [(*tree[:-1], not tree[-1])]
    return [("not", [tree])]


def may_hold(part, alias):
    """Tell whether a part can be true where a shelf has nulls alone."""
    ways = []
    for leaf in leaves(part):
        told = [one[1] if one[0] == "lit" else None for one in operands(leaf) if one[0] == "lit" or one[1] == alias]
        if len(told) == len(operands(leaf)):
            ways.append([on_values(leaf, told)])
        elif leaf[0] == "cmp" and None in told:
            ways.append([0.5])
        else:
            ways.append([0.0, 1.0] if leaf[0] == "null" else [0.0, 0.5, 1.0])
    for choice in itertools.product(*ways):
        given = iter(choice)
        if grade(part, lambda leaf: next(given)) == 1:
            return True
    return False


def joined(rows, alias, shelf, outer, parts):
    out = []
    for row in rows:
        both = [{**row, alias: one} for one in shelf]
        found = [each for each in both if all(grade(part, in_row(each)) == 1 for part in parts)]
        out += found or ([{**row, alias: None}] if outer else [])
    return out


def table(shelf):
    columns, rows, _ = shelf
    return [dict(zip(columns, row)) for row in rows]


def naive(shelves, query):
    rows = [{}]
    for name, alias, kind, on in query["sources"]:
        rows = joined(rows, alias, table(shelves[name]), kind == "left", [on] if on else [])
    rows = [row for row in rows if query["where"] is None or grade(query["where"], in_row(row)) == 1]
    for (alias, name), down, first in reversed(query["keys"]):
        def value(row):
            return (row[alias] or {}).get(name)

        ranked = sorted({(type(value(row)) is str, value(row)) for row in rows if value(row) is not None})
        at = {one[1]: place * (-1 if down else 1) for place, one in enumerate(ranked)}
        nulls = -99 if (down if first is None else first) else 99
        rows = sorted(rows, key=lambda row: nulls if value(row) is None else at[value(row)])
    rows = rows[: query["limit"]] if query["limit"] is not None else rows
    wanted = query["columns"] or [(alias, column) for name, alias, _, _ in query["sources"] for column in shelves[name][0]]
    return [tuple((row[alias] or {}).get(column) for alias, column in wanted) for row in rows]


def bounds(shelves, query):
    """Return the most rows that may be taken for each shelf of a query, and the last kinds of the joins."""
    kinds = {alias: kind for _, alias, kind, _ in query["sources"]}
    ons = {alias: parts(on) for _, alias, _, on in query["sources"]}
    general = parts(query["where"])
    for alias, kind in kinds.items():
        general += ons[alias] if kind == "join" else []
    while True:
        turned = [alias for alias, kind in kinds.items() if kind == "left" and not all(may_hold(part, alias) for part in general)]
        if not turned:
            break
        kinds[turned[-1]] = "join"
        general += ons[turned[-1]]
    rows = [{}] if all(grade(part, in_row({})) == 1 for part in general if not speaks(part)) else []
    most, seen = [], []
    for name, alias, _, _ in query["sources"]:
        outer = kinds[alias] == "left"
        usable, asking = (ons[alias] if outer else general), rows
        if outer:
            asking = [row for row in rows if all(grade(part, in_row(row)) == 1 for part in usable if alias not in speaks(part))]
        most.append(least(shelves[name], alias, usable, asking, seen))
        seen.append(alias)
        rows = joined(rows, alias, table(shelves[name]), outer, ons[alias] if outer else [part for part in general if speaks(part) and speaks(part) <= set(seen)])
        rows = [row for row in rows if all(grade(part, in_row(row)) == 1 for part in general if speaks(part) <= set(seen))]
    return most, kinds


def least(shelf, alias, usable, asking, seen):
    columns, rows, indexed = shelf
    if not asking:
        return 0
    ways = [len(rows)]
    for part in usable:
        for column in indexed:
            own, values = ("col", alias, column), None
            if part[0] == "in" and part[1] == own and not part[3]:
                values = part[2]
            elif part[:2] == ("cmp", "=") and own in part[2:]:
                other = part[3] if part[2] == own else part[2]
                if other[0] == "lit":
                    values = [other[1]]
                elif other[1] in seen:
                    values = [(row[other[1]] or {}).get(other[2]) for row in asking]
            if values is not None:
                ways.append(sum(row[columns.index(column)] in values for row in rows if row[columns.index(column)] is not None))
    return min(ways)


def told(one):
    if one[0] == "col":
        return f"{one[1]}.{one[2]}"
    return "null" if one[1] is None else str(one[1]) if type(one[1]) is int else "'" + one[1].replace("'", "''") + "'"


def text_of(random, tree, tight=0):
    """Write a condition; ``tight`` is 1 within ``and``, 2 within ``not``."""
    if tree[0] == "not":
        return "not " + text_of(random, tree[1][0], 2)
    if tree[0] in ("and", "or"):
        level = 1 if tree[0] == "and" else 0
        # Parts of the same kind stand in parentheses, so that they are parts of their own.
        found = f" {tree[0]} ".join(f"({text_of(random, each)})" if each[0] == tree[0] else text_of(random, each, level + (tree[0] == "and" and each[0] == "or")) for each in tree[1])
        return f"({found})" if tight > level else found
    if tree[0] == "null":
        found = f"{told(tree[1])} is {'not ' * tree[2]}null"
    elif tree[0] == "in":
        found = f"{told(tree[1])} {'not ' * tree[3]}in ({', '.join(told(('lit', one)) for one in tree[2])})"
    else:
        found = f"{told(tree[2])} {tree[1]} {told(tree[3])}"
    return f"({found})" if random.random() < 0.1 else found


def query_text(random, query):
    columns = ", ".join(f"{alias}.{name}" for alias, name in query["columns"]) if query["columns"] else "*"
    out = f"select {columns} from"
    for name, alias, kind, on in query["sources"]:
        out += ("" if kind == "from" else f" {'left ' * (kind == 'left')}join") + f" {name}" + (f" {alias}" if alias != name else "") + (f" on {text_of(random, on)}" if on else "")
    if query["where"]:
        out += " where " + text_of(random, query["where"])
    if query["keys"]:
        out += " order by " + ", ".join(f"{alias}.{name}" + " desc" * down + ("" if first is None else " nulls first" if first else " nulls last") for (alias, name), down, first in query["keys"])
    return out + (f" limit {query['limit']}" if query["limit"] is not None else "")


def a_shelf(random, most, index=0.5, values=VALUES):
    rows = [tuple(random.choice(values) for _ in COLUMNS) for _ in range(random.randint(0, most) if random.random() < 0.15 else most)]
    return [COLUMNS, rows, [name for name in COLUMNS if random.random() < index]]


def a_leaf(random, aliases, plain=0.5):
    alias = random.choice(aliases)
    own = ("col", alias, random.choice(COLUMNS))
    what = random.random()
    if what < 0.15:
        return ("null", own if random.random() < 0.95 else ("lit", random.choice([None, 1])), random.random() < 0.4)
    if what < 0.35:
        return ("in", own if random.random() < 0.95 else ("lit", random.choice(VALUES)), tuple(random.choice([1, 1, 2, 3, "1", "a", None]) for _ in range(random.randint(1, 3))), random.random() < 0.3)
    other = ("lit", random.choice([1, 1, 2, 3, "1", "a", None] if random.random() < 0.5 else [1, 2, 3]))
    if random.random() > plain:
        other = ("col", random.choice(aliases), random.choice(COLUMNS))
    elif random.random() < 0.05:
        own = ("lit", random.choice([1, 2, None]))
    sides = (own, other) if random.random() < 0.7 else (other, own)
    return ("cmp", random.choice(SIGNS), *sides)


def a_tree(random, aliases, deep, plain=0.5):
    if not deep or random.random() < 0.3:
        return a_leaf(random, aliases, plain)
    if random.random() < 0.25:
        return ("not", [a_tree(random, aliases, deep - 1, plain)])
    return (random.choice(["and", "or"]), [a_tree(random, aliases, deep - 1, plain) for _ in range(random.choice([2, 2, 3]))])


def an_on(random, aliases):
    """Return what a shelf is joined on: mostly what is equal in one before, and more."""
    *earlier, own = aliases
    pair = [("col", own, random.choice(["k", "k", "x"])), ("col", random.choice(earlier), random.choice(["k", "k", "y"]))]
    random.shuffle(pair)
    found = [("cmp", "=", *pair)] if random.random() < 0.85 else []
    while not found or random.random() < 0.45:
        found.append(random.choice([a_leaf(random, [own], 1), a_leaf(random, [random.choice(earlier)], 1), a_leaf(random, aliases), a_tree(random, aliases, 1)]))
    random.shuffle(found)
    return found[0] if len(found) == 1 else ("and", found)


def wrapped(random, tree):
    """Return the same condition said in another way, or nearly."""
    if tree[0] == "and" and random.random() < 0.3:
        return ("not", [("or", [("not", [each]) for each in tree[1]])])
    if tree[0] == "cmp" and random.random() < 0.15:
        return ("not", [("cmp", OPPOSITE[tree[1]], *tree[2:])])
    return ("not", [("not", [tree])]) if random.random() < 0.1 else tree


def a_query(random, names, sources=(2, 3), outer=0.5, deep=2, keys=0.3, where=0.8, leading=0.5):
    aliases, rows = [], []
    for number in range(random.randint(*sources)):
        alias = "abcd"[number]
        name = random.choice(names)
        aliases.append(alias)
        kind = "from" if not number else "left" if random.random() < outer else "join"
        rows.append((name, alias, kind, None if not number else wrapped(random, an_on(random, aliases))))
    found = []
    if random.random() < where:
        for _ in range(random.choice([1, 1, 2, 3])):
            found.append(wrapped(random, a_leaf(random, aliases, 0.8) if random.random() < leading else a_tree(random, aliases, deep, 0.7)))
    tree = None if not found else found[0] if len(found) == 1 else ("and", found)
    every = [(alias, name) for alias in aliases for name in COLUMNS]
    order = [(random.choice(every), random.random() < 0.5, random.choice([None, None, True, False])) for _ in range(random.choice([1, 1, 2]) if random.random() < keys else 0)]
    return {"columns": random.choice([None, None, random.sample(every, min(len(every), 3))]), "sources": rows, "where": tree, "keys": order, "limit": random.choice([0, 1, 2, 3]) if random.random() < keys / 3 else None}


def case(random, shelves, query):
    expect = repr(naive(shelves, query))
    most = {name: 0 for name in shelves}
    for (name, *_), one in zip(query["sources"], bounds(shelves, query)[0]):
        most[name] += one

    def right(seen):
        return repr(seen[0]) == expect and all(seen[1][name] <= most[name] for name in most)

    return {"args": [shelves, query_text(random, query)], "holds": right}


def small(leaf_limit):
    return lambda query: all(len(leaves(part)) <= leaf_limit for _, _, _, on in query["sources"] for part in [on, query["where"]] if part)


def drawn(random, most=6, count=3, index=0.5, values=VALUES, **how):
    while True:
        shelves = {name: a_shelf(random, random.randint(2, most), index, values) for name in ("r", "s", "t")[:count]}
        query = a_query(random, list(shelves), **how)
        if small(8)(query):
            yield case(random, shelves, query)


def truths(random):
    yield from drawn(random, 8, 1, 0, sources=(1, 1), deep=3, keys=0, where=1, leading=0.1)


def joins(random):
    yield from drawn(random, 6, outer=0.2, keys=0)


def outers(random):
    yield from drawn(random, 6, outer=0.9, keys=0, leading=0.4)


def orders(random):
    yield from drawn(random, 8, outer=0.4, keys=1, sources=(1, 2), where=0.3)


def reads(random):
    others = drawn(random, 14, index=0.8, values=[1, 2, 3, 4, 5, None, "1"], outer=0.4, keys=0, leading=0.9, sources=(1, 3))
    while True:
        yield listed(random) if random.random() < 0.2 else next(others)


def listed(random):
    """Return a case in which rows with some of many values are asked for, or rows of a few partners."""
    shelves = {name: a_shelf(random, random.randint(8, 16), 0.8, [1, 2, 3, 4, 5, 6, "1", "a", None]) for name in "rs"}
    column, other = random.choice(COLUMNS), random.choice(COLUMNS)
    tree = ("in", ("col", "a", column), tuple(random.choice([1, 2, 3, 4, "1", "a", None, 1]) for _ in range(random.randint(2, 4))), random.random() < 0.15)
    if random.random() < 0.2:
        tree = ("cmp", random.choice(["=", "=", "<=", ">="]), ("lit", random.choice([1, 2, "a", None])), ("col", "a", column))
    rows = [("r", "a", "from", None)]
    if random.random() < 0.6:
        rows.append(("s", "b", random.choice(["join", "left"]), ("cmp", random.choice(["=", "=", "<"]), ("col", "b", other), ("col", "a", random.choice(COLUMNS)))))
    return case(random, shelves, {"columns": None, "sources": rows, "where": tree, "keys": [], "limit": None})


def chains(random):
    """Left joins, each of which hangs on the one before, and conditions that turn some of them."""
    while True:
        shelves = {name: a_shelf(random, random.randint(3, 10), 0.8, [1, 2, 3, 4, None]) for name in "rst"}
        aliases = "abcd"[: random.randint(3, 4)]
        rows = []
        for number, alias in enumerate(aliases):
            on = None
            if number:
                found = [("cmp", "=", ("col", alias, "k"), ("col", aliases[number - 1], random.choice("kx")))]
                if random.random() < 0.5:
                    found.append(random.choice([("cmp", "=", ("col", random.choice(aliases[: number + 1]), "y"), ("lit", random.randint(1, 3))), ("null", ("col", random.choice(aliases[: number + 1]), "y"), random.random() < 0.5)]))
                on = found[0] if len(found) == 1 else ("and", found)
            rows.append((random.choice("rst"), alias, "from" if not number else random.choice(["left", "left", "left", "join"]), on))
        last = random.choice(aliases[1:])
        own, other = ("col", last, random.choice("kxy")), ("col", random.choice(aliases[1:]), random.choice("kxy"))
        first = ("cmp", random.choice(["=", "<>", "<"]), own, ("lit", random.randint(1, 3)))
        tree = random.choice(
            [
                first,
                ("or", [first, ("null", own, False)]),
                ("or", [first, ("cmp", "=", ("col", "a", "x"), ("lit", 1))]),
                ("or", [first, ("cmp", "=", other, ("lit", 2))]),
                ("not", [("or", [first, ("null", own, True)])]),
                ("not", [("and", [first, ("cmp", "=", other, ("lit", 1))])]),
                ("null", own, True),
                ("null", own, False),
                ("not", [("null", own, False)]),
                ("not", [("in", own, (1, 2), False)]),
                ("in", own, (1, None), random.random() < 0.3),
                ("cmp", "=", own, other),
                ("or", [("and", [first, ("cmp", ">", other, ("lit", 1))]), ("and", [("null", own, True), ("cmp", "<", ("col", "a", "y"), ("lit", 3))])]),
                ("or", [("cmp", "=", own, ("lit", None)), ("cmp", "=", other, ("lit", 1))]),
                ("or", [("cmp", "=", ("col", "a", "x"), ("lit", None)), first]),
                ("or", [("in", own, (None, 1), True), ("cmp", "=", ("lit", 1), ("lit", 2)), first]),
                ("and", [first, ("cmp", "=", ("lit", 1), ("lit", random.choice([1, 1, 2, None])))]),
            ]
        )
        query = {"columns": None, "sources": rows, "where": tree, "keys": [], "limit": None}
        yield case(random, shelves, query)


def size(random):
    for kind, indexed in (("join", ["k", "x"]), ("join", []), ("left join", []), ("left join", ["k"])):
        rows = [(number, number * 7 % 6000, number % 5) for number in range(6000)]
        partner = {row[1]: row for row in rows}
        expect = repr([(row[0], partner[row[0]][0], partner[row[0]][1], row[2]) for row in rows if row[2] != 3])

        def right(seen, expect=expect):
            return repr(seen[0]) == expect and seen[1]["r"] <= 12000 and seen[1]["s"] <= 6000

        yield {"args": [indexed, f"select a.k, b.k, b.x, a.y from r a {kind} s b on b.x = a.k {kind} r c on c.k = b.x and c.y < 9 where a.y <> 3"], "holds": right}


def faults(random):
    shelf = [COLUMNS, [(1, 2, 3), (2, None, "a")], ["k"]]
    for text in ("select * from q", "select a.k from r", "select r.z from r", "select * from r a join s a on a.k = a.k", "select * from r join s on s.k = t.k join r t on t.k = 1", "select * from r where s.k = 1", "select * from r order by s.k", "select * from r order by r.z", "select * from r where r.k = 1 or", "select * from r where r.k in ()", "select * from r left s on r.k = 1", "select * from r join s", "select * from r limit x", "select * from r where r.k", "select * from r where r.k = 1 r", "select * from r where not", "select * from r where r.k == 1", "select r.k, from r", "select * from r where r.k is 1", "select * from r where r.k = 'a", "Select * from r", "select * from r where k = 1", "select * from r limit -1", "select * from r where r.k not = 1"):
        yield {"args": [{"r": shelf, "s": shelf}, text], "expect": [["fault"], {"r": 0, "s": 0}]}
    yield {"args": [{"r": shelf}, "select r.k from r where r.k=-1or r.y='a'"], "holds": lambda seen: repr(seen[0]) == "[(2,)]"}
    yield {"args": [{"r": [["it"], [("it's",), ("",)], []]}, "select*from r\n where r.it in('it''s','')order by r.it"], "holds": lambda seen: repr(seen[0]) == "[('',), (\"it's\",)]"}


def repeats(random):
    others = drawn(random, 6, keys=0.3)
    while True:
        one = next(others)
        shelves = {name: a_shelf(random, 4) for name in one["args"][0]}
        query = a_query(random, list(shelves), (2, 2))
        first, second = case(random, one["args"][0], query), case(random, shelves, query)

        def right(seen, first=first, second=second):
            return first["holds"](seen[0]) and second["holds"](seen[1]) and first["holds"](seen[2])

        if small(8)(query):
            yield {"args": [one["args"][0], shelves, first["args"][1]], "holds": right}


def owns(random):
    rows = [(1, 2), (2, None), (1, 3)]
    yield {"args": [["k", "x"], rows, ["k"], "select a.x from a where a.k = 1 order by a.x desc"], "expect": [[(3,), (2,)], 2]}
    yield {"args": [["k", "x"], rows, [], "select a.x from a where a.k = 1"], "expect": [[(2,), (3,)], 3]}
    yield {"args": [["k", "x"], rows, ["x"], "select a.x from a where a.x = null"], "expect": [[], 0]}


def suite(random):
    names = ["tests/test_answers.py", "tests/test_parser.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 8 and set(seen.values()) == {"passed"}}
