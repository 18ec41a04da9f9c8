"""Right answers by a way of their own, and the inputs that they are asked for."""

import re


def matches(pattern, name):
    """Match a glob by a regular expression of our own."""
    out, place = "", 0
    while place < len(pattern):
        c = pattern[place]
        close = pattern.find("]", place + 2 + (pattern[place + 1 : place + 2] == "!"))
        if c == "*":
            out += ".*"
        elif c == "?":
            out += "."
        elif c == "[" and close != -1:
            inside = pattern[place + 1 : close].replace("[", "\\[")
            out += "[" + ("^" + inside[1:] if inside.startswith("!") else inside) + "]"
            place = close
        else:
            out += re.escape(c)
        place += 1
    return re.fullmatch(out, name, re.S) is not None


def case(pool, pattern, minimum):
    gone = [name for name in pool if matches(pattern, name)]
    glob = any(c in pattern for c in "*?[")
    if len(pool) - len(gone) < minimum or (glob and 10 * len(gone) > 10 * ((len(pool) + 9) // 10)):
        return {"args": [pool, pattern, minimum], "raises": "ValueError"}
    left = [name for name in pool if name not in gone]
    return {"args": [pool, pattern, minimum], "expect": sorted(gone), "args_after": [left, pattern, minimum]}


def pool_of(random, size):
    names = [f"{kind}{number}" for kind in ("web", "db", "Web", "a", "z-") for number in range(60)]
    return random.sample(names, size)


def drawn(random):
    while True:
        pool = pool_of(random, random.choice([0, 1, 2, 5, 9, 10, 11, 19, 20, 21, 30, 31, 40]))
        name = random.choice([*pool, "nobody"])
        pattern = random.choice([name, name, name[:-1] + "?", name[:-1] + "*", "*", "?*", "[wW]eb*", "web[1-3]", "db*", "web1?", "*7", "z-*", "[!wdWaz]*", "nobody*", name.upper(), "web", "*" + name[-1:], "a[0-9]"])
        left = len(pool) - sum(matches(pattern, each) for each in pool)
        yield case(pool, pattern, random.choice([0, 0, 1, left, left, left + 1, max(0, left - 1), len(pool)]))


def signs(random, raised, count=60):
    """Names and patterns with signs that other kinds of patterns read otherwise."""
    while count:
        pool = list(dict.fromkeys("".join(random.choice("ab.+(){}^$|\n -") for _ in range(random.randint(1, 3))) for _ in range(random.randint(1, 25))))
        name = random.choice(pool)
        pattern = random.choice([name, name, "?" + name[1:], name[:-1] + "*", f"*{name[-1]}", name[:-1] + "[.$]", name + "?"])
        left = len(pool) - sum(matches(pattern, each) for each in pool)
        one = case(pool, pattern, random.choice([0, 0, left, left + 1]))
        if ("raises" in one) is raised:
            count -= 1
            yield one


def refusals(raised):
    def cases(random):
        for one in drawn(random):
            if ("raises" in one) is raised:
                yield one

    return cases


def refused(random):
    yield case(["a", "b"], "a", 2)
    yield case(["a", "b", "c"], "*", 1)
    yield case(["a1", "a2", *"bcdefghi"], "a*", 1)
    yield case(["a", "b"], "x", 3)
    yield case(["a1", "a2", *"bcdefghi"], "a[12]", 1)
    yield case(["a1", "a2", "b"], "[!b]?", 0)
    yield case(["a1", "a2", "b"], "a?", 0)
    for name, others in (("web*", ["web1", "web2"]), ("w?b", ["web", "wxb"]), ("a[b]", ["ab"]), ("*", ["x"]), ("?", ["x", "y"]), ("[!n]", ["x", "y"])):
        # A name of the pool that is a pattern too is no plain name.
        yield case([*(f"n{n}" for n in range(9)), name, *others, "xx"], name, 0)
    for pool, pattern, minimum in ((["web.1", "webx1", "c"], "web.?", 0), (["a(b", "a(c", "d"], "a(*", 0), (["a+", "aa", "b"], "a*", 0), (["[x", "[y", "z"], "[[]?", 0), (["a.b", "a.c", "axd"], "a.[bc]", 0), (["web+1"], "web+1", 1), ([], "x", 1), (["a/b", "a/c", "d"], "a*", 0), ([".a", ".b", "c"], ".*", 0), (["a*", "a?", "a"], "a[*?]", 0)):
        yield case(pool, pattern, minimum)
    yield from signs(random, True)
    yield from refusals(True)(random)


def removed(random):
    yield case(["z1", "a1", *"bcdefghij"], "[az]1", 1)
    yield case(["a", "b", "c"], "b", 1)
    yield case([f"n{n}" for n in range(2500)], "n1*1", 2000)
    yield case(["a\nb", "a", *"cdefghijk"], "a?b", 1)
    yield case(["a\n", "a", *"cdefghijk"], "a", 1)
    yield case(["a]", "b"], "a]", 1)
    for pattern in ("web.1", "web(1", "web+1", "web^1", "web$", "^web", "web{1}", "web|x", "|", "web\\d", "(web)", "web)", ".", "$", "{", "\\", "-1", " web", "web ", "w\u00e9b", "#", "%s"):
        # A plain name with what means something in other patterns, beside names that such a pattern would take.
        yield case([*dict.fromkeys([pattern, "webx1", "web1", "webb1", "web", "webe1", "a", "x", "w\u00e9b", "we\u0301b", "c", pattern + "x"])], pattern, random.randint(0, 8))
    ten = [f"n{n}" for n in range(9)]
    for names, pattern in (
        (["web.1", "webx1"], "web.*"), (["web.1", "webx1"], "*.1"), (["a(b", "a[b"], "a(?"), (["a(b", "a[b"], "a[[]b"), (["a+b", "aab"], "?+?"), (["a.b", "axb"], "a[.]b"), (["a$", "a"], "a[$]"), (["a|b", "a"], "a|*"), (["a*", "ab"], "a[*]"), (["a?", "ab"], "a[?]"), (["a]", "ab"], "a[]]"), (["a-", "ab"], "a[z-]"), (["{a}", "a"], "{?}"), (["a[", "ab"], "a["), (["a^b", "xa"], "?^*"), ([".hid", "hid"], "*.hid"), (["eu/a", "eub"], "eu/*"), (["eu/a", "us"], "eu*a"), (["\U0001f600x", "yyx"], "[\U0001f600]?"), (["\U0001f600", "xy"], "[!n]"), (["\u00c9", "\u00e9"], "[\u00e9]"), (["a\nb", "c"], "a*b"), (["a\n", "a"], "a?"), (["\n", "b"], "[!bn]"), (["b1", "b"], "b[0-9]"), (["b\u0661", "b1"], "b[0-9]"), (["B", "b"], "[a-m]"),
    ):
        pool = [*ten, *names]
        random.shuffle(pool)
        yield case(pool, pattern, random.choice([0, 9, 10]))
    yield from signs(random, False)
    yield from refusals(False)(random)


def none(random):
    while True:
        yield case(pool_of(random, random.randint(0, 9)), random.choice(["x*", "nobody", "y?"]), 0)
