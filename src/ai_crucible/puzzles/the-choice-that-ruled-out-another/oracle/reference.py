"""Right answers by a way of their own: all choices there are, one after another, each looked at by the rules."""

import functools
import itertools
import re

NAMES = ["a", "b", "c", "d", "e"]
VERSIONS = ["1", "1.0.1", "1.1", "2", "2.0.3", "2.1", "0.1", "0.1.5", "0.2", "0.0.3", "0", "3", "10", "1.10"]
PRES = ["2-rc", "1-rc.2", "1-rc.10", "1-1", "1.1-a", "3-a.b", "2-rc.1", "0.2-x", "3-0"]
SIGNS = ["=", "!=", "<", "<=", ">", ">=", "^", ">=", "<", "^"]


def numbers(text):
    return [int(one) for one in text.partition("-")[0].split(".")]


def compared(one, other):
    """Return -1, 0 or 1."""
    for a, b in itertools.zip_longest(numbers(one), numbers(other), fillvalue=0):
        if a != b:
            return -1 if a < b else 1
    pre, rep = one.partition("-")[2], other.partition("-")[2]
    if not pre or not rep:
        return int(bool(rep)) - int(bool(pre))
    for a, b in itertools.zip_longest(pre.split("."), rep.split(".")):
        if a is None or b is None:
            return -1 if a is None else 1
        if a.isdigit() != b.isdigit():
            return -1 if a.isdigit() else 1
        a, b = (int(a), int(b)) if a.isdigit() else (a, b)
        if a != b:
            return -1 if a < b else 1
    return 0


RANK = functools.cmp_to_key(compared)


@functools.lru_cache(None)
def inside(range, version):
    for word in range.split():
        sign, bound = re.fullmatch(r"([=!<>^]+)(.*)", word).groups()
        way = compared(version, bound)
        if sign == "^":
            own, top = (numbers(bound) + [0] * 9)[:9], len(numbers(bound)) - 1
            at = next((place for place, each in enumerate(own) if each), top)
            if way < 0 or (numbers(version) + [0] * 9)[: at + 1] != own[: at + 1]:
                return False
        elif not {"=": way == 0, "!=": way != 0, "<": way < 0, "<=": way <= 0, ">": way > 0, ">=": way >= 0}[sign]:
            return False
        elif sign == "<" and "-" not in bound and compared(version.partition("-")[0], bound) == 0:
            return False
    return True


def permitted(name, version, yanked, wants, exclude):
    words = [word for one, range in wants if one == name for word in range.split()]
    if "-" in version and not any("-" in word for word in words):
        return False
    if yanked and not any(word[0] == "=" and compared(word[1:], version) == 0 for word in words):
        return False
    return not any(one == name and inside(range, version) for one, range in exclude)


def solutions(index, wants, exclude):
    """Yield all solutions; ``index`` is {name: {version: (yanked, needs)}}, a need (name, optional, range)."""
    ways = [[None, *(one for one, (yanked, _) in index[name].items() if permitted(name, one, yanked, wants, exclude))] for name in index]
    for choice in itertools.product(*ways):
        there = {name: one for name, one in zip(index, choice) if one is not None}
        if any(name not in there or not inside(range, there[name]) for name, range in wants):
            continue
        good = True
        for name, one in there.items():
            for other, optional, range in index[name][one][1]:
                if other in there and not inside(range, there[other]) or other not in there and not optional:
                    good = False
        if not good:
            continue
        reached = {name for name, _ in wants}
        for _ in there:
            reached |= {other for name in reached for other, optional, _ in index[name][there[name]][1] if not optional}
        if reached == set(there):
            yield there


def best(index, wants, prefer, exclude):
    order = list(dict.fromkeys([*(name for name, _ in wants), *sorted(index)]))

    def rank(there):
        return [(1, bool(prefer.get(name)) and inside(prefer[name], there[name]), RANK(there[name])) if name in there else (2, True, RANK("0")) for name in order]

    return max(solutions(index, wants, exclude), key=rank, default=None)


def blamed(index, wants, exclude):
    for count in range(1, len(wants) + 1):
        for some in itertools.combinations(wants, count):
            if next(solutions(index, some, exclude), None) is None:
                return some


def way(index, wants, there, name):
    found = [[one] for one in sorted({one for one, _ in wants})]
    while found:
        hits = sorted(one for one in found if one[-1] == name)
        if hits:
            return hits[0]
        found = [[*one, other] for one in found for other, optional, _ in index[one[-1]][there[one[-1]]][1] if not optional and other not in one]
    return []


def a_range(random, name, index, mostly=0.5):
    """Return conditions near the versions that a package has."""
    near = list(index.get(name, {})) or VERSIONS
    words = []
    for _ in range(random.choice([0, 1, 1, 2])):
        bound = random.choice(near) if random.random() < 0.8 else random.choice(VERSIONS)
        if random.random() < 0.15:
            bound = bound.partition("-")[0] + random.choice([".0", ".00", ""])
        words.append(random.choice(SIGNS) + bound)
    return " ".join(words)


def a_set(random, count, most, pre=0.15):
    """Return an index without needs: versions by name, no two of them the same."""
    index = {}
    for name in random.sample(NAMES, count):
        index[name] = {}
        while len(index[name]) < random.randint(1, most):
            one = random.choice(PRES if random.random() < pre else VERSIONS)
            if all(compared(one, other) for other in index[name]):
                index[name][one] = (random.random() < 0.12, [])
    return index


def text_of(random, index):
    rows = []
    for name, versions in index.items():
        for one, (yanked, needs) in versions.items():
            told = ", ".join(other + "?" * optional + (" " + range if range else "") for other, optional, range in needs)
            rows.append(f"{name} {one}" + " yanked" * yanked + (f": {told}" if told else random.choice(["", "", ":"])))
    random.shuffle(rows)
    return "".join(random.choice(["", "", "  "]) + row + random.choice(["\n", "\n", " \n", "\n# x\n", "\n\n"]) for row in rows)


def full(name, range):
    return name + (" " + range if range else "")


def drawn(random, count=(2, 4), most=3, needs=(0, 1, 1, 2), ways=0.25, liked=0.3, banned=0.2, failing=0.3, several=(1, 1, 2, 3)):
    while True:
        index = a_set(random, random.randint(*count), most)
        names = list(index)
        for name, versions in index.items():
            for one in versions:
                some = [random.choice(names) for _ in range(random.choice(needs))]
                if random.random() < 0.03:
                    some.append("zq")
                versions[one] = (versions[one][0], [(other, random.random() < ways, a_range(random, other, index)) for other in some])
        wants = [(name, a_range(random, name, index)) for name in random.choices(names, k=random.choice(several))]
        prefer = {name: a_range(random, name, index) for name in names if random.random() < liked}
        exclude = [(name, a_range(random, name, index) or "=" + random.choice(list(index[name]))) for name in names if random.random() < banned]
        there = best(index, wants, prefer, exclude)
        if (there is None) != (random.random() < failing):
            continue
        args = [text_of(random, index), [full(*one) for one in wants], prefer, [full(*one) for one in exclude]]
        if there is None:
            yield {"args": args, "expect": ["none", [full(*one) for one in blamed(index, wants, exclude)], True]}
        else:
            yield {"args": args, "expect": [there, {name: way(index, wants, there, name) for name in [*there, "zz"]}, True]}


def of_solutions(random):
    yield from drawn(random, liked=0, banned=0, failing=0.05)


def of_circles(random):
    yield from drawn(random, (3, 5), 2, (1, 1, 2, 2), 0.3, 0, 0, 0.05, (1, 1, 2))


def of_preferences(random):
    others = drawn(random, liked=0.8, banned=0.1, failing=0.03)
    while True:
        yield choice_of(random) if random.random() < 0.6 else next(others)


def choice_of(random):
    """Return a case in which packages that are not wanted may be there or not, and rule each other out."""
    names = random.sample(NAMES, random.randint(3, 4))
    index = {name: {one: (False, []) for one in random.sample(["1", "2", "3"], random.randint(2, 3))} for name in names}
    first, *rest = names
    for one in index[first]:
        index[first][one] = (False, [(name, False, "") for name in random.sample(rest, random.randint(1, 2))])
    for name in rest:
        for one in index[name]:
            other = random.choice(rest)
            needs = [(other, random.random() < 0.6, random.choice(["", "=1", "<3", ">1", "!=2"]))] if other != name and random.random() < 0.7 else []
            index[name][one] = (False, needs)
    prefer = {name: random.choice(["=1", "<3", ">1", "!=2", "=3"]) for name in random.sample(names, len(names)) if random.random() < 0.6}
    wants = [(first, "")] + [(random.choice(rest), "")] * (random.random() < 0.2)
    there = best(index, wants, prefer, [])
    if there is None:
        return choice_of(random)
    args = [text_of(random, index), [full(*one) for one in wants], prefer, []]
    return {"args": args, "expect": [there, {name: way(index, wants, there, name) for name in [*there, "zz"]}, True]}


def of_permissions(random):
    while True:
        index = a_set(random, random.randint(1, 3), 4, 0.4)
        names = list(index)
        for versions in index.values():
            for one in versions:
                other = random.choice(names)
                versions[one] = (random.random() < 0.4, [(other, random.random() < 0.3, a_range(random, other, index))] if random.random() < 0.5 else [])
        wants = [(name, a_range(random, name, index)) for name in random.choices(names, k=random.choice([1, 1, 2]))]
        if len(names) > 1 and random.random() < 0.4:
            # Only what is needed has pre-releases, and yanked versions, that conditions of needs speak of.
            wants = [(names[0], "")]
            for one in index[names[0]]:
                index[names[0]][one] = (False, [(names[1], False, random.choice(["", ">=0-a", "<11", a_range(random, names[1], index)]))])
        exclude = [(name, a_range(random, name, index) or ">0.1") for name in names if random.random() < 0.4]
        prefer = {name: a_range(random, name, index) for name in names if random.random() < 0.3}
        there = best(index, wants, prefer, exclude)
        args = [text_of(random, index), [full(*one) for one in wants], prefer, [full(*one) for one in exclude]]
        if there is not None:
            yield {"args": args, "expect": [there, {name: way(index, wants, there, name) for name in [*there, "zz"]}, True]}
        elif random.random() < 0.3:
            yield {"args": args, "expect": ["none", [full(*one) for one in blamed(index, wants, exclude)], True]}


def of_failures(random):
    yield from drawn(random, (2, 4), 3, (0, 1, 1, 2), 0.2, 0.1, 0.3, 0.95, (2, 3, 3, 4))


def of_ways(random):
    while True:
        names = random.sample("abcdefg", random.randint(3, 7))
        if random.random() < 0.5:
            # Several ways of one length.
            start, end, *between = random.sample("abcdefg", 6)
            needs = {start: between[:3], end: [], **{one: random.sample([end, between[3]], random.choice([1, 2])) for one in between[:3]}, between[3]: [end]}
            index = {name: {"1": (False, [(other, False, "") for other in random.sample(some, len(some))])} for name, some in needs.items()}
            wants = [(name, "") for name in random.choice([[start], random.sample(between[:3], 3), [start, end]])]
            yield {"args": [text_of(random, index), [full(*one) for one in wants], {name: "1" for name in index}, end], "expect": way(index, wants, {name: "1" for name in index}, end)}
            continue
        index = {name: {one: (False, [(other, random.random() < 0.2, "") for other in random.sample(names, random.choice([0, 1, 2, 2]))]) for one in ("1", "2")} for name in names}
        wants = [(name, "") for name in random.sample(names, random.choice([1, 1, 2]))]
        there = {name: random.choice("12") for name in names}
        name = random.choice(names)
        yield {"args": [text_of(random, index), [full(*one) for one in wants], there, name], "expect": way(index, wants, there, name)}


def of_order(random):
    while True:
        one, other = (random.choice([*VERSIONS, *PRES, *PRES, "1.0.0", "1.00", "1-rc.1.0", "1-rc1", "1-rc10", "1-01", "1-0", "1-a.1", "1-a.a", "1.0-rc.2", "1-z", "1-9", "0.0.0"]) for _ in range(2))
        way = compared(one, other)
        yield {"args": [one, other], "expect": [way == 0, way < 0, way > 0]}


def of_ranges(random):
    every = [*VERSIONS, *PRES, "1.0.0", "1.9.9", "2.0", "0.0.4", "0.3", "0.1-a", "0.0.4-a", "2.0.0-rc", "1.2-b", "0.0", "1-a"]
    while True:
        words = [random.choice(SIGNS + ["^", "<"]) + random.choice(every) for _ in range(random.choice([1, 1, 1, 2]))]
        yield {"args": [" ".join(words), every], "expect": [inside(" ".join(words), one) for one in every]}


def of_size(random):
    """Yield chains in which only one choice is left for most packages, and a late one decides."""
    names = [x + y for x in "abcdef" for y in "vwxyz"]
    for late in (1, 3, 6):
        rows, there = "", {}
        for at, name in enumerate(names):
            for one in range(1, 7):
                rows += f"{name} {one}" + (f": {names[at + 1]} ={one}" + (f", {names[-1]}? <={late}" if at == 3 else "") if at < 29 else "") + "\n"
            there[name] = str(late)
        yield {"args": [rows, [names[0]], {}, []], "expect": [there, {**{name: names[: at + 1] for at, name in enumerate(names)}, "zz": []}, True]}
    yield {"args": [rows, [names[0] + " <6", names[5], names[-1] + " =6"], {}, []], "expect": ["none", [names[0] + " <6", names[-1] + " =6"], True]}


def faults(random):
    for bad in ("lib", "Lib 1", "lib x", "lib 1.", "lib 1 2", "lib 1: a b", "lib 1: a >", "lib 1: A", "lib 1: a,", "lib 1: a >=x", "lib 1: a ==1", "lib 1 Yanked", "lib 1-", "lib 1-A", "lib 1..2", "lib\t1", "lib 1: a\t>1", "lib 1\r", "lib 1: a?? >1", "lib 1: a ?", "lib 1: a >1\u2028<2", "lib 1: a > 1", "one 1.0", "one 1", "one 1.00.0: a", "lib \u0661", "lib 1: a >\u0661", "lib 1: ,a", "lib 1:a:b"):
        yield {"args": ["# x\none 1\n\n" + bad + "\n"], "expect": ["fault", 4, True]}
    yield {"args": ["lib 1:a\n  lib  2  yanked  :  a?   >1  <2 ,b\nlib 1-a:\nlib 1-1.a yanked"], "expect": {"lib": [["1", False, [["a", False]]], ["2", True, [["a", True], ["b", False]]], ["1-a", False, []], ["1-1.a", True, []]]}}
    yield {"args": [""], "expect": {}}


def unread(random):
    for wants, prefer, exclude in ((["a?"], {}, []), (["a >"], {}, []), (["A"], {}, []), ([""], {}, []), (["a"], {"a": "x"}, []), (["a"], {"b": "1"}, []), (["a"], {}, ["a?"]), (["a"], {}, ["a 1"]), (["a? >1"], {}, []), (["a", "b >=x"], {}, [])):
        yield {"args": ["a 1\n", wants, prefer, exclude], "expect": ["fault", 0]}
    yield {"args": ["a 1\n", [], {}, []], "expect": [{}, {"zz": []}, True]}
    yield {"args": ["a 1\n", ["a", "  a   >=1 "], {"zq": ">1"}, ["zq"]], "expect": [{"a": "1"}, {"a": ["a"], "zz": []}, True]}


def commands(random):
    text = "a 1: b\na 2: b >1\nb 1\n"
    yield {"args": [text, "a"], "expect": [0, "a 1 by a\nb 1 by a b\n"]}
    yield {"args": [text, "a", "b >1"], "expect": [1, "cannot be had together: b >1\n"]}
    yield {"args": [text, "a >1", "b"], "expect": [1, "cannot be had together: a >1\n"]}
    yield {"args": [text, "a?"], "expect": [2, ""]}
    yield {"args": ["a 1\na 1.0\n", "a"], "expect": [2, ""]}
    yield {"args": [text], "expect": [2, ""]}


def suite(random):
    names = ["tests/test_resolve.py", "tests/test_versions.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 8 and set(seen.values()) == {"passed"}}
