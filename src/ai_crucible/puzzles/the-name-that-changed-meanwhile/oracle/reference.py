"""Right answers by a way of their own: versions are drawn as trees whose meanings are known without reading, and merged by the letter of the rules."""

import copy
from collections import Counter

FORMS = [
    ["1", "1.0", "1e0", "10e-1", "0.1E1", "1.00"], ["0", "-0", "0.0", "0e5", "-0.00"], ["1.5", "1.50", "15e-1"], ["12", "12.0", "1.2e1"],
    ["0.1"], ["0.1000000000000000000000000000000000001"], ["100000000000000000000000000000001", "100000000000000000000000000000001.0"], ["100000000000000000000000000000000", "1e32"],
    ["1e400", "10e399"], ["1e-400"], ['"a"', '"\\u0061"'], ['"1"'], ['"true"'], ['""'], ['"\\n"', '"\\u000a"'], ['"a  b"'], ['"a b"'], ["true"], ["false"], ["null"], ['"A"'],
    ["[]", "[ ]"], ["[1, 2]", "[1.0,2]", "[ 1 , 2e0 ]"], ["[2, 1]"], ["[1]", "[1.0]"], ["[true]"], ["[[1]]", "[ [1e0] ]"], ['["a", null]', '["\\u0061",null]'], ['["a", 0]'],
]  # fmt: skip
KEYS = ["area", "warm", "size", "a_b", "z", "doors", "x1"]
ITEMS = [0, 2, 4, 10, 12, 13, 15, 17, 22]
MARKS = [[], [], [], [""], ["# one"], ["", "#two  "], ["# one", ""], ["", ""]]


def plain(random, means=None):
    means = random.choice([0, 1, 2, 3, 10, 17, random.randrange(len(FORMS))]) if means is None else means
    node = {"kind": "plain", "means": means, "inside": []}
    return dress(random, node)


def dress(random, node):
    """Write a node anew: what follows its key, and the lines before it."""
    if node["kind"] == "plain":
        node["rest"] = random.choice([" = ", " = ", "=", "  =   "]) + random.choice(FORMS[node["means"]]) + random.choice(["", "", " "])
    else:
        node["rest"] = {"group": random.choice([":", ":", " :", ":  "]), "table": random.choice(["[]:", "[]:", " []: "]), "item": random.choice(["", "", "  "])}[node["kind"]]
    node["before"] = random.choice(MARKS)
    return node


def a_key(random, kind):
    """Return a key by what it means, and as it is written."""
    if kind == "table":
        means = random.choice(ITEMS)
        return means, random.choice(FORMS[means])
    key = random.choice(KEYS)
    return key, key


def put(random, node, child, at=None):
    """Lay a child under a new key, if it is free."""
    key, word = a_key(random, node["kind"])
    if all(one["key"] != key for one in node["inside"]):
        node["inside"].insert(random.randint(0, len(node["inside"])) if at is None else at, {**child, "key": key, "word": word})


def grown(random, kind, deep, wide, table=0.35, item_deep=1):
    node = dress(random, {"kind": kind, "means": None, "inside": []})
    for _ in range(random.randint(0 if deep < 2 else 1, wide)):
        if kind == "table":
            child = grown(random, "item", min(deep - 1, item_deep), 2, 0)
        elif deep > 1 and random.random() < 0.5:
            child = grown(random, "table" if random.random() < table else "group", deep - 1, wide, table)
        else:
            child = plain(random)
        put(random, node, child)
    return node


def insides(node):
    """Return a group or table and all that lie in it."""
    return [node] + [one for child in node["inside"] if child["kind"] != "plain" for one in insides(child)]


def changed(random, base, weights, count):
    version = copy.deepcopy(base)
    for what in random.choices(list(weights), list(weights.values()), k=count):
        every = insides(version)
        node = random.choice(every[: max(1, len(every) // 2)] + every)
        if node["inside"]:
            CHANGES[what](random, node, random.choice(node["inside"]))
        elif what in ("add", "set"):
            to_add(random, node, None)
    return version


def to_set(random, node, child):
    if child["kind"] == "plain":
        child.update(plain(random))
    elif child["inside"]:
        CHANGES[random.choice(["set", "add", "drop"])](random, child, random.choice(child["inside"]))
    else:
        to_add(random, child, None)


def to_turn_kind(random, node, child):
    if child["kind"] != "item":
        child.update(random.choice([plain(random), grown(random, "group", 1, 2), grown(random, "table", 1, 2)]))


def to_form(random, node, child):
    dress(random, child)
    if child["kind"] == "item":
        child["word"] = random.choice(FORMS[child["key"]])


def to_name(random, node, child):
    key, word = a_key(random, node["kind"])
    if all(one["key"] != key for one in node["inside"]):
        child["key"], child["word"] = key, word
        if random.random() < 0.2:
            dress(random, child)


def to_add(random, node, child):
    put(random, node, grown(random, "item", 1, 2) if node["kind"] == "table" else plain(random) if random.random() < 0.6 else grown(random, random.choice(["group", "table"]), 2, 2))


def to_drop(random, node, child):
    node["inside"].remove(child)


def to_order(random, node, child):
    order = node["inside"]
    order[:] = random.choice([order[1:] + order[:1], order[::-1], random.sample(order, len(order))])


CHANGES = {"set": to_set, "kind": to_turn_kind, "form": to_form, "name": to_name, "add": to_add, "drop": to_drop, "order": to_order}


def lines(node, random=None, indent=""):
    out = []
    for child in node["inside"]:
        for line in child["before"]:
            wide = random.choice([indent, indent, "", "     "]) if random else indent if line else ""
            out.append(wide + line)
        out.append(indent + "- " * (child["kind"] == "item") + child["word"] + child["rest"])
        out += lines(child, random, indent + "  ")
    return out


def whole(node, random=None):
    text = "".join(line + "\n" for line in [*lines(node, random), *node.get("behind", [])])
    return text[:-1] if random and random.random() < 0.1 and not node.get("behind") and text else text


def meaning(node):
    """Return a text that is the same where the value is the same."""
    if node["kind"] == "plain":
        return f"p{node['means']}"
    inside = [f"{child['key']!r}:{meaning(child)}" for child in node["inside"]]
    return f"t[{','.join(inside)}]" if node["kind"] == "table" else "{" + ",".join(sorted(inside)) + "}"


def third(base, ours, theirs):
    """Return 1 or 2 for the side that is taken, and whether there is a conflict."""
    return (1, ours != theirs and base != theirs) if ours == theirs or base == theirs or base != ours else (2, False)


def marked(base, side):
    """Return pairs of what an entry is called in base, or else itself, and the entry."""
    gone = [one for one in base if all(each["key"] != one["key"] for each in side)] if len(base) < 50 else missing(base, side)
    new = [one for one in side if all(each["key"] != one["key"] for each in base)] if len(base) < 50 else missing(side, base)
    was, now = {one["key"]: meaning(one) for one in gone}, {one["key"]: meaning(one) for one in new}
    old, young = Counter(was.values()), Counter(now.values())
    back = {value: key for key, value in was.items() if old[value] == 1}
    return {back[now[one["key"]]] if one["key"] in now and young[now[one["key"]]] == 1 and now[one["key"]] in back else one["key"]: one for one in side}


def missing(some, others):
    known = {one["key"] for one in others}
    return [one for one in some if one["key"] not in known]


def inner(base, ours, theirs, path, told):
    """Return the entries of what both have as a group or table."""
    was = {one["key"]: one for one in base["inside"]} if base and base["kind"] == ours["kind"] else {}
    own, other = marked(list(was.values()), ours["inside"]), marked(list(was.values()), theirs["inside"])
    result = {}
    for id in [*own, *(id for id in other if id not in own)]:
        there = [side.get(id) for side in (was, own, other)]
        if there[1] and there[2]:
            way, conflict = third(*(one and one["key"] for one in there))
            if conflict:
                told.append([path + "/" + there[1]["word"], "renamed"])
            word = there[way]["word"]
            if there[1]["key"] == there[2]["key"]:
                word = there[2 if there[0] and there[0]["word"] == there[1]["word"] else 1]["word"]
            result[id] = [there[way]["key"], word]
            continue
        one = there[1] or there[2]
        if there[0]:
            if there[0]["key"] == one["key"] and meaning(there[0]) == meaning(one):
                continue
            told.append([path + "/" + one["word"], "deleted"])
            if not there[1]:
                continue
        result[id] = [one["key"], one["word"]]
    while True:
        holder = {}
        for id, (key, word) in result.items():
            holder.setdefault(key, []).append(id)
        pair = next((ids for ids in holder.values() if len(ids) > 1), None)
        if pair is None:
            break
        stays, goes = pair if pair[0] in own and own[pair[0]]["key"] == result[pair[0]][0] else pair[::-1]
        told.append([path + "/" + result[stays][1], "key"])
        if goes in own:
            result[goes] = [own[goes]["key"], own[goes]["word"]]
        else:
            del result[goes]
    lists = [[id for id in side if id in result] for side in (was, own, other)]
    common = set(lists[0]) & set(lists[1]) & set(lists[2])
    old, mine, yours = ([id for id in one if id in common] for one in lists)
    first, second = (lists[2], lists[1]) if ours["kind"] == "table" and mine == old != yours else (lists[1], lists[2])
    if ours["kind"] == "table" and mine != old and yours != old and mine != yours:
        told.append([path, "order"])
    order, known = list(first), set(first)
    for at, id in enumerate(second):
        if id not in known:
            order.insert(order.index(second[at - 1]) + 1 if at else 0, id)
    return [{**value(was.get(id), own.get(id), other.get(id), path + "/" + result[id][1], told), "key": result[id][0], "word": result[id][1]} for id in order]


def value(base, ours, theirs, path, told):
    if not ours or not theirs:
        return ours or theirs
    like = theirs if base and (base["rest"], base["before"]) == (ours["rest"], ours["before"]) else ours
    if ours["kind"] == theirs["kind"] != "plain":
        return {**like, "inside": inner(base, ours, theirs, path, told)}
    if meaning(ours) == meaning(theirs):
        return like
    way, conflict = third(*(one and meaning(one) for one in (base, ours, theirs)))
    if conflict:
        told.append([path, "value"])
    return (None, ours, theirs)[way]


def case(random, base, ours, theirs):
    for one in (base, ours, theirs):
        one.setdefault("behind", [])
    told = []
    result = {"inside": inner(base, ours, theirs, "", told), "behind": theirs["behind"] if ours["behind"] == base["behind"] else ours["behind"]}
    return {"args": [whole(one, random) for one in (base, ours, theirs)], "expect": [whole(result), [[kind, path] for path, kind in sorted(told)]]}


def drawn(random, weights, deep=2, wide=4, changes=(1, 4), table=0.35):
    while True:
        base = grown(random, "group", random.randint(1, deep), wide, table)
        ours, theirs = (changed(random, base, weights, random.randint(*changes)) for _ in range(2))
        for one in (base, ours, theirs):
            one["behind"] = random.choice(MARKS[2:]) if random.random() < 0.2 else base.get("behind", [])
        yield case(random, base, ours, theirs)


def of_values(random):
    others = drawn(random, {"set": 6, "form": 1, "drop": 1, "kind": 1}, 2, 3, (1, 3), 0.2)
    while True:
        yield in_items(random) if random.random() < 0.2 else next(others)


def in_items(random):
    """Return a case with conflicts in items whose keys are written in several ways."""
    table = {**dress(random, {"kind": "table", "inside": []}), "key": "t", "word": "t"}
    for key in random.sample([0, 2, 4, 10, 13], random.randint(1, 3)):
        item = dress(random, {"kind": "item", "inside": [{**plain(random, 3), "key": "z", "word": "z"}]})
        table["inside"].append({**item, "key": key, "word": random.choice(FORMS[key])})
    base = {"kind": "group", "inside": [table]}
    ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
    for side in (ours, theirs):
        for item in side["inside"][0]["inside"]:
            item["inside"][0].update(plain(random))
            if random.random() < 0.6:
                to_form(random, table, item)
    return case(random, base, ours, theirs)


def of_renames(random):
    others = drawn(random, {"name": 6, "set": 2, "add": 1, "drop": 1}, 3, 3, (1, 4), 0.4)
    while True:
        yield contested(random) if random.random() < 0.5 else next(others)


def contested(random):
    """Return a case in which many entries of one group or table change their keys, some to the same ones."""
    kind = random.choice(["group", "table"])
    base = dress(random, {"kind": kind, "means": None, "inside": []})
    for number in range(random.randint(2, 5)):
        child = dress(random, {"kind": "item", "means": None, "inside": [{**plain(random, number if random.random() < 0.85 else 0), "key": "z", "word": "z"}]}) if kind == "table" else plain(random, number if random.random() < 0.85 else 0)
        put(random, base, child)
    ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
    pool = [("n1", "n1"), ("n2", "n2"), ("n3", "n3")] if kind == "group" else [(17, "true"), (18, "false"), (10, '"a"')]
    for side in (ours, theirs):
        for child in list(side["inside"]):
            key, word = random.choice(pool)
            if random.random() < 0.5 and all(one["key"] != key for one in side["inside"]):
                child["key"], child["word"] = key, word
            if random.random() < 0.15:
                to_set(random, side, child)
            if random.random() < 0.1:
                side["inside"].remove(child)
        key, word = random.choice(pool)
        if random.random() < 0.3 and all(one["key"] != key for one in side["inside"]):
            side["inside"].append({**dress(random, {"kind": "item", "means": None, "inside": []} if kind == "table" else {"kind": "plain", "means": random.choice([0, 1, 7]), "inside": []}), "key": key, "word": word})
    if kind == "table":
        base, ours, theirs = ({"kind": "group", "inside": [{**one, "key": "t", "word": "t", "rest": "[]:"}]} for one in (base, ours, theirs))
    return case(random, base, ours, theirs)


def of_losses(random):
    others = drawn(random, {"drop": 4, "set": 2, "name": 1, "form": 1, "order": 1}, 3, 3, (1, 3), 0.5)
    while True:
        yield lost_and_ordered(random) if random.random() < 0.2 else next(others)


def lost_and_ordered(random):
    """Return a case in which one deletes or renames what the other orders or writes anew."""
    base = {"kind": "group", "inside": []}
    put(random, base, grown(random, "table", 1, 5))
    put(random, base, grown(random, "group", 2, 3))
    one, other = copy.deepcopy(base), copy.deepcopy(base)
    at = random.randrange(len(base["inside"]))
    for node in insides(one["inside"][at]):
        for child in node["inside"]:
            dress(random, child)
        if random.random() < 0.7:
            to_order(random, node, None)
    if random.random() < 0.4:
        to_name(random, other, other["inside"][at])
    else:
        del other["inside"][at]
        if random.random() < 0.4:
            put(random, other, {**one["inside"][at]})
    return case(random, base, *random.choice([(one, other), (other, one)]))


def of_kinds(random):
    others = drawn(random, {"kind": 4, "set": 2, "add": 2, "drop": 1}, 2, 2, (1, 3), 0.5)
    while True:
        yield both_new(random) if random.random() < 0.4 else next(others)


def both_new(random):
    """Return a case in which both sides have a group or table where base has none, or has one."""
    base = grown(random, "group", 1, 2)
    ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
    ways = [grown(random, kind, 2, 3) for kind in ("group", "table")] + [plain(random)]
    shared = random.choice(ways[:2])
    for side, few in ((base, 0.4), (ours, 0.8), (theirs, 0.8)):
        child = copy.deepcopy(shared if random.random() < few else random.choice(ways))
        if child["kind"] != "plain":
            child = changed(random, child, {"set": 2, "add": 1, "drop": 1, "form": 1}, random.randint(0, 2))
        if side is not base or random.random() < 0.6:
            side["inside"].append({**child, "key": "both", "word": "both"})
    return case(random, base, ours, theirs)


def of_orders(random):
    while True:
        base = {"kind": "group", "inside": []}
        table = grown(random, "table", 1, 9)
        base["inside"].append({**table, "rest": "[]:", "key": "t", "word": "t"})
        put(random, base, grown(random, "group", 1, 4))
        ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
        for one in (ours, theirs):
            for node in one["inside"]:
                for what in random.choices(["order", "add", "drop", "name"], [5, 3, 1, 1], k=random.choice([0, 1, 2, 3, 3])):
                    if node["inside"]:
                        CHANGES[what](random, node, random.choice(node["inside"]))
        yield case(random, base, ours, theirs)


def of_writing(random):
    yield from drawn(random, {"form": 6, "name": 1, "set": 1}, 2, 3, (1, 5), 0.4)


def of_all(random):
    yield from drawn(random, dict.fromkeys(CHANGES, 1), 3, 4, (1, 8), 0.4)


def same(random):
    while True:
        one = random.randrange(len(FORMS))
        other = one if random.random() < 0.4 else random.randrange(len(FORMS))
        if random.random() < 0.2:
            one = random.choice([4, 6, 8, 10, 11, 15, 17, 22, 24, 27])
            other = one + random.choice([0, 1, 1])
        if random.random() < 0.1:
            one, other = random.choice([(0, 11), (17, 12), (0, 17), (18, 1), (24, 25), (11, 0), (13, 19)])
        if random.random() < 0.1:
            letter, second = random.choice("\t\x01 Xe~"), random.choice("\tXe~")
            yield {"args": ['["%sa"]' % letter, '[ "\\u%04xa"]' % ord(second)], "expect": letter == second}
        yield {"args": [random.choice(FORMS[one]), " " * random.randint(0, 1) + random.choice(FORMS[other])], "expect": one == other}


def size(random):
    def numbered(key, means):
        return {"kind": "plain", "means": means, "inside": [], "key": key, "word": key, "rest": f" = {means}", "before": []}

    base = {"kind": "group", "inside": [numbered(f"k{number}", number) for number in range(4000)]}
    ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
    for number in range(4000):
        if number % 2:
            ours["inside"][number].update(key=f"n{number}", word=f"n{number}")
        elif number % 3 == 0:
            theirs["inside"][number].update(key=f"m{number}", word=f"m{number}")
        elif number % 5 == 0:
            theirs["inside"][number].update(numbered(f"k{number}", number + 5000))
    random.shuffle(theirs["inside"])
    yield case(random, base, ours, theirs)
    base = {"kind": "group", "inside": []}
    node = base
    for number in range(100):
        node["inside"] = [{**grown(random, "group", 1, 0), "key": f"g{number}", "word": f"g{number}"}, {**plain(random, number % 20), "key": "own", "word": "own"}]
        node = node["inside"][0]
    ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
    for one, every, name in ((ours, 7, "ours"), (theirs, 10, "theirs")):
        for number, node in enumerate(insides(one)[:90]):
            if number % every == 3:
                node["inside"][1].update(key=name, word=name)
            if number % every == 5:
                node["inside"][1].update(plain(random, 25))
    yield case(random, base, ours, theirs)


def texts(random):
    for bad in ("a =", "a", "A = 1", "a b = 1", "a := 1", "a[] = 1", "a[: ", "a[ ]:", " a = 1", "\ta = 1", "a = 1\t", "one = 2", "- 1", "a = 1.", "a = 1e1000", "a = tru", "a = True", 'a = "a', 'a = "\\t"', 'a = "\\u00E9"', "a = [1", "a = [1,]", "a = 1 2", "a = 1 # b", "a = 1\r", "a:\n   b = 1", "a:\n    b = 1", "a = 1\n  b = 1", "a[]:\n  b = 1", "a[]:\n  -1", "a[]:\n  -  1", "a[]:\n  - a", "a[]:\n  - 1 2", "a[]:\n  k 1", "a[]:\n  --1", "a[]:\n  - 1X", "a[]:\n  - 1 X", "a = 1X", "a = 1 X", "Xa = 1", "X = 1", "aX = 1", "a = ]", "a = ,1]", "a = [,1]", "a = [1 2 3]", "a = [1, 2 3]", "a = [[1] [2] [3]]", "a[]:\n  - 1\n  - 1.0", 'a[]:\n  - "a"\n  - "\\u0061" ', "a[]:\n  - 1\n    - 2", "a[]:\n  - 1\n  b = 1", "a:\n  - 1", "9 = 1", "a:\n  b:\n  b[]:"):
        yield {"args": ["one = 1\n\n  # two\n" + bad + "\n"], "expect": ["fault", 4 + bad.count("\n"), True]}
    found = [["a", "group", []], ["b_1", "table", [["1", "item", [["_", "plain", []]]], ["[ 1]", "item", []]]], ["c", "plain", []]]
    yield {"args": ["a :  \nb_1 []:\n  # x\n  - 1  \n\n    _ =null\n  - [ 1]\nc= 1 "], "expect": [found, [found]]}
    for letters in ("\t", "\x01", "a\tX", "\u2028", "é"):
        key = '"%s"' % letters
        found = [["a", "plain", []], ["t", "table", [[key, "item", []]]]]
        yield {"args": ["a = %s\nt[]:\n  - %s\n" % (key, key)], "expect": [found, [found]]}
    yield {"args": [""], "expect": [[], [[]]]}


def unread(random):
    for at, version in enumerate(("base", "ours", "theirs")):
        texts = ["a = 1\n"] * 3
        texts[at] = "a = 1\n\na = 1\n"
        yield {"args": texts, "expect": ["fault", version, 3]}
    yield {"args": ["a = 1\n", "a\n", "b\n"], "expect": ["fault", "ours", 1]}
    yield {"args": ["", "", ""], "expect": ["", []]}
    yield {"args": ["\n\n", "a = 1\n\n\n", "\n  \nb = 1"], "expect": ["\n\nb = 1\na = 1\n", []]}
    yield {"args": ["# x", "# x\n", "   # x\n  # y\n"], "expect": ["# x\n# y\n", []]}


def conflicts(random):
    yield {"args": ["a = 1\n", "b = 1\nk = 2\n", "c = 1\nk = 3\n"], "expect": [True, ["renamed /b", "value /k"]]}
    yield {"args": ["t[]:\n  - 1\n  - 2\n  - 3\n", "t[]:\n  - 2\n  - 1\n  - 3\n", "t[]:\n  - 3\n  - 1\n  - 2\n"], "expect": [True, ["order /t"]]}


def commands(random):
    yield {"args": ["a:\n  k = 1\n", "a:\n  k = 2.0\n", "a:\n  k = 3\n"], "expect": [1, "a:\n  k = 2.0\n", "value /a/k\n"]}
    yield {"args": ["a:\n  k = 1\n", "a:\n  k = 1.0\n", "b :\n  k = 1\n"], "expect": [0, "b :\n  k = 1.0\n", ""]}
    yield {"args": ["a = 1\n", "a\n", ""], "expect": [2, "", ""]}
    yield {"args": ["a = 1\n"], "expect": [2, "", ""]}


def suite(random):
    names = ["tests/test_merge.py", "tests/test_texts.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 8 and set(seen.values()) == {"passed"}}
