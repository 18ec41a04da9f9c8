"""Right answers by a way of their own: fields are texts of JSON by name, and steps are written out case by case."""

import json

NONE = None


def dumped(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def texts_of(fields):
    return {name: dumped(value) for name, value in fields.items()}


def values_of(texts):
    return {name: json.loads(text) for name, text in texts.items()}


def is_text(text):
    return text is not NONE and text.startswith('"')


def is_whole(text):
    return text is not NONE and text.lstrip("-").isdigit()


def names_of(step):
    kind, *words = step
    return {"rename": words[:2], "join": words[:3]}.get(kind, words[:1])


def put(**found):
    return {name: text for name, text in found.items() if text is not NONE}


def moved(step, up, has):
    """Return what a step makes plainly of texts of JSON by name."""
    kind, *words = step
    get = [has.get(name) for name in names_of(step)]
    if kind == "rename":
        old, new = words if up else words[::-1]
        return put(**{new: has[old]}) if old in has else dict(has)
    if kind in ("add", "drop"):
        name, value = words
        if (kind == "add") != up:
            return {}
        return put(**{name: has.get(name, dumped(value))})
    if kind == "join":
        return joined(words, up, has, get)
    (value,) = get
    name = words[0]
    if kind == "map":
        pairs = words[1].items() if up else [(new, old) for old, new in words[1].items()]
        return put(**{name: next((dumped(to) for at, to in pairs if is_text(value) and dumped(at) == value), value)})
    if kind == "scale":
        if is_whole(value):
            number = int(value) * words[1] if up else (int(value) - int(value) % words[1]) // words[1]
            value = str(number)
        return put(**{name: value})
    if up:
        return {name: "[]" if value is NONE else f"[{value}]"}
    if value is NONE or not value.startswith("["):
        return dict(has)
    members = json.loads(value)
    return {name: dumped(members[0])} if members else {}


def joined(words, up, has, get):
    first, second, whole, text = words
    one, two, three = get
    if up:
        if (one is NONE and two is NONE) or not all(is_text(part) for part in (one, two) if part is not NONE):
            return dict(has)
        parts = ("" if one is NONE else json.loads(one)), ("" if two is NONE else text + json.loads(two))
        return {whole: dumped("".join(parts))}
    if not is_text(three):
        return dict(has)
    before, found, after = json.loads(three).partition(text)
    return put(**{first: dumped(before), second: dumped(after) if found else NONE})


class Refused(Exception):
    pass


def go(versions, record, version):
    """Return a record at a version."""
    at = record["version"]
    if not 1 <= at <= len(versions) + 1 or not 1 <= version <= len(versions) + 1:
        raise Refused
    fields = texts_of(record["fields"])
    kept = {key: (texts_of(each["seen"]), texts_of(each["was"])) for key, each in record.get("kept", {}).items()}
    while at != version:
        up = version > at
        top = at + 1 if up else at
        steps = list(enumerate(versions[top - 2], 1))
        for number, step in steps if up else steps[::-1]:
            has = {name: fields.pop(name) for name in dict.fromkeys(names_of(step)) if name in fields}
            seen, was = kept.pop(f"{top}.{number}", (NONE, NONE))
            made = was if seen == has else moved(step, up, has)
            if moved(step, not up, made) != has:
                kept[f"{top}.{number}"] = made, has
            fields.update(made)
        at += 1 if up else -1
    left = {key: {"seen": values_of(seen), "was": values_of(was)} for key, (seen, was) in kept.items()}
    return {"version": version, "fields": values_of(fields), **({"kept": left} if left else {})}


def wrote(versions, record, version, changes, gone=()):
    there = go(versions, record, version)
    fields = {name: value for name, value in there["fields"].items() if name not in gone}
    return go(versions, {**there, "fields": {**fields, **changes}}, record["version"])


VALUES = [0, 1, 2, 7, 105, -7, 10**20 + 1, 1.0, 2.5, True, False, None, "", "a", "b", "c", "a b", "a b c", " ", " a", "ä", [], ["a"], ["a", "b"], [1], [True], [[]], {}, {"x": 1}, {"x": True, "y": [1]}, "0", "1"]


def value(random):
    return json.loads(json.dumps(random.choice(VALUES)))


def schema(random, most=4):
    """Return the first fields, the versions and their text."""
    first = random.sample(["a", "b", "c", "d"], random.randint(2, 4))
    known, versions, lines = set(first), [], ["fields " + " ".join(first)]
    for number in range(random.randint(1, most)):
        versions.append([])
        lines.append(f"version {number + 2}")
        for _ in range(random.choice([0, 1, 1, 2, 2, 3])):
            step = some_step(random, known)
            if step is not None:
                versions[-1].append(step)
                kind, *words = step
                lines.append(" ".join([kind, *(word if at < len(names_of(step)) else json.dumps(word, ensure_ascii=False) for at, word in enumerate(words))]))
    return versions, "\n".join(lines) + "\n"


def some_step(random, known):
    free = sorted({"a", "b", "c", "d", "e", "f"} - known)
    there = sorted(known)
    kind = random.choice(["rename", "rename", "add", "add", "drop", "drop", "join", "join", "map", "map", "scale", "scale", "list", "list"])
    if kind in ("rename", "add", "join") and not free or kind != "add" and len(there) < (2 if kind == "join" else 1):
        return None
    if kind == "rename":
        names = [random.choice(there), random.choice(free)]
        known -= {names[0]}
        known |= {names[1]}
        return [kind, *names]
    if kind == "add":
        name = random.choice(free)
        known |= {name}
        return [kind, name, value(random)]
    if kind == "drop":
        name = random.choice(there)
        known -= {name}
        return [kind, name, value(random)]
    if kind == "join":
        first, second = random.sample(there, 2)
        known -= {first, second}
        whole = random.choice(sorted({*free, first, second}))
        known |= {whole}
        return [kind, first, second, whole, random.choice([" ", " ", "a", ", "])]
    name = random.choice(there)
    if kind == "map":
        olds = random.sample(["a", "b", "c", "", "1", "a b"], random.randint(1, 4))
        return [kind, name, {old: random.choice(["a", "b", "c", "ä"]) for old in olds}]
    return [kind, name, random.choice([2, 10, 100])] if kind == "scale" else [kind, name]


def record(random, versions, version=None):
    """Return a record with values that its first steps, up or down, have something to do with."""
    version = random.randint(1, len(versions) + 1) if version is None else version
    fields = {name: value(random) for name in "abcdefg" if random.random() < 0.55}
    for steps in versions[max(0, version - 2) : version]:
        for step in steps:
            for name in names_of(step):
                if random.random() < 0.5:
                    fields[name] = fitting(random, step)
    return {"version": version, "fields": fields}


def fitting(random, step):
    kind, *words = step
    if kind == "join":
        return random.choice(["x", "y z", f"x{words[3]}y", f"x{words[3]}y{words[3]}z", "", words[3]])
    if kind == "map":
        return random.choice([*words[1], *words[1].values()])
    if kind == "scale":
        return random.choice([0, 1, 5, -1, 7 * words[1], words[1] + 1, -words[1] - 1, 10**20 + 1])
    if kind == "list":
        return random.choice([[], ["a"], ["a", "b"], "a", [["a"]]])
    if kind in ("add", "drop"):
        return random.choice([words[1], value(random)])
    return value(random)


def ways(random, versions, text, one, length, write):
    asked, seen = [], []
    for _ in range(random.randint(1, length)):
        version = random.randint(1, len(versions) + 1)
        if random.random() < 0.04:
            version = random.choice([0, -1, len(versions) + 2])
        way = [version]
        if random.random() < write:
            names = {name for steps in versions for step in steps for name in names_of(step)} | {"g"}
            names = sorted(names)
            changes = {random.choice(names): value(random) for _ in range(random.choice([0, 1, 1, 2]))}
            there = one["fields"]
            if random.random() < 0.2 and there:
                changes = {name: there[name] for name in random.sample(sorted(there), 1)}
            way += [changes, random.sample(names, random.choice([0, 0, 1]) if names else 0)]
        asked.append(way)
        try:
            one = wrote(versions, one, *way) if way[1:] else go(versions, one, version)
            seen.append([one["version"], one["fields"], one.get("kept", {}), sorted(one)])
        except Refused:
            seen.append("refused")
    return {"args": [text, None, asked], "expect": seen}


def walks(random, most=4, length=6, write=0.0):
    while True:
        versions, text = schema(random, most)
        one = record(random, versions)
        if random.random() < 0.1:
            one["kept"] = {random.choice(["9.1", f"{len(versions) + 2}.1"]): {"seen": {}, "was": {"a": [1]}}}
        case = ways(random, versions, text, one, length, write)
        case["args"][1] = one
        yield case


def single(random):
    yield from walks(random, 1, 4)


def writes(random):
    yield from walks(random, 3, 5, 0.7)


def almost(random):
    """What is nearly the same is written over what was made."""
    pairs = [(1, True), (1, 1.0), (0, False), (0, 0.0), ([1], [True]), ({"x": 1}, {"x": 1.0}), ({"x": [0]}, {"x": [False]}), (True, 1), ([1.0], [1]), (["a", "b"], ["b", "a"]), ({"x": [1, 2]}, {"x": [2, 1]}), ([1, 1, 2], [1, 2, 2])]
    while True:
        one, other = random.choice(pairs)
        name = random.choice("ab")
        versions = [[random.choice([["rename", "a", "b"], ["list", name], ["drop", name, other], ["drop", name, one], ["add", "b", one], ["add", "b", other], ["scale", name, 2]])]]
        if versions[0][0][0] == "add":
            text = "fields a\n"
        elif versions[0][0][0] == "rename":
            text = "fields a\n"
        else:
            text = "fields a b\n"
        kind, *words = versions[0][0]
        text += "version 2\n" + " ".join([kind, *(word if at < len(names_of(versions[0][0])) else dumped(word) for at, word in enumerate(words))]) + "\n"
        values = [one, other, [one], [other], [one, "z"], [other, "z"]]
        begin = {"version": random.choice([1, 2]), "fields": {each: random.choice(values) for each in "ab" if random.random() < 0.8}}
        asked = [[random.choice([1, 2])]]
        for _ in range(3):
            asked.append([random.choice([1, 2])] if random.random() < 0.6 else [random.choice([1, 2]), {random.choice("ab"): random.choice(values)}, []])
        now, seen = begin, []
        for way in asked:
            now = wrote(versions, now, *way) if way[1:] else go(versions, now, *way)
            seen.append([now["version"], now["fields"], now.get("kept", {}), sorted(now)])
        yield {"args": [text, begin, asked], "expect": seen}


def shares(random):
    while True:
        versions, text = schema(random, 2)
        one = record(random, versions)
        for _ in range(random.choice([0, 1, 2])):
            one = go(versions, one, random.randint(1, len(versions) + 1))
        yield {"args": [text, one, random.randint(1, len(versions) + 1), {random.choice("abg"): random.choice([[1], {"x": [2]}, 3])}], "expect": [True, True, True, True]}


BAD = ["x", "NaN", '{"version":1,"fields":{"a":NaN}}', '{"version":1,"fields":{"a":-Infinity}}', '{"version":1,"fields":{"a":[Infinity]}}', '{"version":1,"version":1,"fields":{}}', '{"version":1,"fields":{"a":{"x":1,"x":1}}}', "[]", "1", '{"version":1}', '{"fields":{}}', '{"version":"1","fields":{}}', '{"version":1.0,"fields":{}}', '{"version":true,"fields":{}}', '{"version":1,"fields":[]}', '{"version":1,"fields":{},"kept":[]}', '{"version":1,"fields":{},"more":1}', '{"version":0,"fields":{}}', '{"version":99,"fields":{}}', '{"version":1,"fields":{},"kept":{"2.1":{}}}', '{"version":1,"fields":{},"kept":{"2.1":{"seen":{},"was":1}}}', '{"version":1,"fields":{},"kept":{"9.1":{"seen":[],"was":{}}}}', '{"version":1,"fields":{},"kept":{"2.1":1}}', '{"version":1,"fields":{},"kept":{"2.1":{"seen":{},"was":{},"more":{}}}}', '{"version":1,"fields":{}', '"version fields"', "null", '{"version":1,"fields":null}', '{"version":1,"fields":{},"kept":null}']


def stores(random):
    while True:
        versions, text = schema(random, 3)
        version = random.choice([0, len(versions) + 2]) if random.random() < 0.05 else random.randint(1, len(versions) + 1)
        lines, made, faults = [], [], []
        for number in range(1, random.randint(2, 7)):
            roll = random.random()
            if roll < 0.15:
                line = random.choice(["", " ", "\t"])
                new = line
            elif roll < 0.55:
                line = new = random.choice(BAD)
                faults.append(number)
            else:
                one = record(random, versions)
                if random.random() < 0.4:
                    one["fields"][random.choice(["z", "ü"])] = random.choice(["\u2028", "ö\x85", "\n", "\U0001f600", 'q"', "\x1c"])
                one = go(versions, one, random.randint(1, len(versions) + 1))
                if random.random() < 0.2:
                    one["kept"] = {**one.get("kept", {}), "77.1": {"was": {"ü": 1}, "seen": {}}}
                elif random.random() < 0.2 and "kept" not in one:
                    one["kept"] = {}
                line = json.dumps(one, ensure_ascii=random.random() < 0.3)
                try:
                    new = dumped(go(versions, one, version))
                except Refused:
                    new = line
                    faults.append(number)
            lines.append(line)
            made.append(new)
        end = random.choice(["\n", "\n", ""])
        yield {"args": [text, "\n".join(lines) + end, version], "expect": ["\n".join(made) + end, faults, True]}


def schemas(random):
    yield {"args": ['# x\nfields a b\n\nversion 2\nrename a c\nadd a {"x": [1, 2]}\nversion 3\nversion 4\njoin a b b ", "\n map c {"x": "y z"}\nscale c 10\nlist c\ndrop c " x "\n'], "expect": [["a", "b"], ["a", "b", "c"], ["a", "b", "c"], ["b"]]}
    yield {"args": ["fields\n"], "expect": [[]]}
    for text, line in (("", 1), ("x\n", 1), ("fields a a\n", 1), ("fields A\n", 1), ("fields a\nlist a\n", 2), ("fields a\nversion 1\n", 2), ("fields a\nversion 2\nversion 2\n", 3), ("fields a\nversion 2\nrename b c\n", 3), ("fields a b\nversion 2\nrename a b\n", 3), ("fields a\nversion 2\nadd a 1\n", 3), ("fields a\nversion 2\nadd b\n", 3), ("fields a\nversion 2\nadd b x\n", 3), ("fields a\nversion 2\nscale a 1\n", 3), ("fields a\nversion 2\nscale a 2.0\n", 3), ("fields a b\nversion 2\njoin a b c \"\"\n", 3), ("fields a\nversion 2\nmap a {\"x\": 1}\n", 3), ("fields a\nversion 2\nwhat a\n", 3), ("fields a\nversion 2\nlist a b\n", 3)):
        yield {"args": [text], "expect": ["fault", line, True]}


def commands(random):
    text = "fields a\nversion 2\nscale a 10\n"
    yield {"args": [text, "2", '{"version": 1, "fields": {"a": 3}}\n'], "expect": [0, '{"fields":{"a":30},"version":2}\n']}
    yield {"args": [text, "1", '{"version": 2, "fields": {"a": 31}}\nx\n'], "expect": [1, '{"fields":{"a":3},"kept":{"2.1":{"seen":{"a":3},"was":{"a":31}}},"version":1}\nx\n']}
    yield {"args": [text, "x", ""], "expect": [2, ""]}
    yield {"args": ["x\n", "1", ""], "expect": [1, ""]}


def suite(random):
    names = ["tests/test_records.py", "tests/test_schema.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 6 and set(seen.values()) == {"passed"}}
