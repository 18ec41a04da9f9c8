"""Right answers by a way of their own: tables of all pairs that grow until nothing changes, and every path tried."""

from itertools import product

USERS = ["ann", "bob", "cid", "eve"]
STRANGER = "zoe.9"
FAR = 10**9


def levels(groups):
    """Return a level for each group, higher than those that it takes out; None where a circle takes out."""
    level = dict.fromkeys(groups, 0)
    for _ in range(len(groups) * (len(groups) + 1) + 1):
        more = {name: max([level[name], *(level[one] for one in words["@"]), *(level[one] + 1 for one in words["-@"])]) for name, words in groups.items()}
        if more == level:
            return level
        level = more
    return None


def first_wrong(groups):
    """Return the first group from which a way that takes out leads back."""
    names = list(groups)
    plain = {(a, b) for a in names for b in [*groups[a]["@"], *groups[a]["-@"]]}
    taking = {(a, b) for a in names for b in groups[a]["-@"]}
    for middle in names:
        plain |= {(a, b) for a in names for b in names if (a, middle) in plain and (middle, b) in plain}
    for name in names:
        if any((a == name or (name, a) in plain) and (b == name or (b, name) in plain) for a, b in taking):
            return name
    return None


def inside(groups):
    """Return the pairs of user and group where the user is in the group."""
    level, found = levels(groups), set()
    for height in range(max(level.values(), default=0) + 1):
        now = [name for name in groups if level[name] == height]
        before = None
        while before != found:
            before = set(found)
            for name in now:
                words = groups[name]
                for user in USERS:
                    brought = user in words[""] or any((user, one) in before for one in words["@"])
                    if brought and user not in words["-"] and not any((user, one) in before for one in words["-@"]):
                        found.add((user, name))
    return found


def distances(groups, found):
    near = {(user, name): 1 if user in groups[name][""] else FAR for user, name in found}
    for _ in groups:
        for user, name in near:
            near[user, name] = min([near[user, name], *(near[user, one] + 1 for one in groups[name]["@"] if (user, one) in near)])
    return near


def chain_of(groups, near, user, name):
    names = [name]
    while near[user, name] > 1:
        name = min(one for one in groups[name]["@"] if near.get((user, one)) == near[user, name] - 1)
        names.append(name)
    return names


def closure(actions):
    """Return the pairs of actions where the first is or implies the second."""
    pairs = {(name, name) for name in actions} | {(name, one) for name, others in actions.items() for one in others}
    for middle in actions:
        pairs |= {(a, b) for a in actions for b in actions if (a, middle) in pairs and (middle, b) in pairs}
    return pairs


class World:
    """A policy as plain values, and what it comes to."""

    def __init__(self, actions, groups, rules):
        self.actions, self.groups, self.rules = actions, groups, rules
        self.found = inside(groups)
        self.near = distances(groups, self.found)
        self.pairs = closure(actions)

    def how_near(self, user, subject):
        if subject == "*":
            return FAR
        if subject.startswith("@"):
            return self.near.get((user, subject[1:]))
        return 0 if subject == user else None

    def better(self, one, other, user):
        """Tell whether a rule goes before another one that covers the same."""
        if one["final"] != other["final"]:
            return one["final"]
        if len(one["path"]) != len(other["path"]):
            return (len(one["path"]) < len(other["path"])) == one["final"]
        for mine, yours in zip(one["path"], other["path"]):
            if (mine == "*") != (yours == "*"):
                return yours == "*"
        here, there = self.how_near(user, one["subject"]), self.how_near(user, other["subject"])
        if here != there:
            return here < there
        if one["allow"] != other["allow"]:
            return other["allow"]
        return one["line"] < other["line"]

    def rule(self, user, action, path):
        best = None
        for rule in self.rules:
            pair = (rule["action"], action) if rule["allow"] else (action, rule["action"])
            there = path[: len(rule["path"])]
            same = len(there) == len(rule["path"]) and all(a == "*" or a == b for a, b in zip(rule["path"], there))
            if pair in self.pairs and same and self.how_near(user, rule["subject"]) is not None and (best is None or self.better(rule, best, user)):
                best = rule
        return best

    def why(self, user, action, path):
        rule = self.rule(user, action, path)
        if rule is None:
            return [False, 0, []]
        subject = rule["subject"]
        return [rule["allow"], rule["line"], chain_of(self.groups, self.near, user, subject[1:]) if subject.startswith("@") else []]

    def named(self):
        found = {rule["subject"] for rule in self.rules if rule["subject"][0] not in "@*"}
        return found.union(*([*words[""], *words["-"]] for words in self.groups.values()))

    def idle(self):
        """Try every path of known names and an unknown one."""
        names = sorted({one for rule in self.rules for one in rule["path"]} - {"*"}) + ["new"]
        longest = max((len(rule["path"]) for rule in self.rules), default=0)
        seen = set()
        for length in range(longest + 1):
            for path in product(names, repeat=length):
                for user in [*sorted(self.named()), STRANGER]:
                    for action in self.actions:
                        rule = self.rule(user, action, path)
                        seen.add(rule and rule["line"])
        return [rule["line"] for rule in self.rules if rule["line"] not in seen]


def some_groups(random, most, takes=0.3):
    names = random.sample("pqrstuv", random.randint(1, most))
    groups = {}
    for at, name in enumerate(names):
        words = {"": [], "@": [], "-": [], "-@": []}
        for _ in range(random.choice([0, 1, 2, 2, 3, 4])):
            kind = random.choices(["", "@", "-", "-@"], [3, 4, takes, takes])[0]
            if kind in ("", "-"):
                words[kind].append(random.choice(USERS))
            elif kind == "-@" and random.random() < 0.7:
                words[kind] += names[at + 1 : at + 2]
            else:
                words[kind].append(random.choice(names))
        groups[name] = words
    return groups


def layers(random):
    """Return groups that name those of the next layer, so that there are many ways, some of them shut."""
    names = random.sample("lmnopqrstuvw", 9)
    rows = [names[:1], names[1:4], names[4:7], names[7:]]
    groups = {}
    for row, below in zip(rows, [*rows[1:], []]):
        for name in row:
            down = random.sample(below, random.randint(min(len(below), 1), min(len(below), 3)))
            shut = [user for user in USERS if random.random() < 0.2]
            own = [user for user in USERS if row is not rows[0] and random.random() < (0.3 if below else 0.9)]
            groups[name] = {"": own, "@": down, "-": shut if row is not rows[0] else [], "-@": []}
    return groups


def told(random, actions, groups, rules):
    """Return the text of a policy, groups and rules mixed; lines are written into the rules."""
    lines = [f"action {name}" + (f" implies {' '.join(others)}" if others else "") for name, others in actions.items()]
    rest = [("group", name) for name in groups]
    mixed = sorted([*((random.random(), one) for one in rest)])
    order = [one for _, one in mixed]
    for rule in rules:
        order.insert(random.randint(0, len(order)), ("rule", rule))
    sorted_groups = {}
    rules.clear()
    for kind, one in order:
        if random.random() < 0.1:
            lines.append(random.choice(["", "# a group"]))
        if kind == "group":
            words = [sign + user for sign, users in groups[one].items() for user in users]
            random.shuffle(words)
            sorted_groups[one] = groups[one]
            lines.append(" ".join(["group", one, *words]))
        else:
            one["line"] = len(lines) + 1
            rules.append(one)
            way = "allow" if one["allow"] else "deny"
            lines.append(" ".join([*(["final"] if one["final"] else []), way, one["subject"], one["action"], "/" + "/".join(one["path"])]))
    groups.clear()
    groups.update(sorted_groups)
    return "\n".join(lines) + "\n"


ACTIONS = ({"a": []}, {"a": [], "b": ["a"]}, {"a": [], "b": ["a"], "c": ["b"], "d": []}, {"a": [], "b": [], "c": ["a", "b"]}, {"a": [], "b": ["a"], "c": ["b"], "d": ["c"]})


def world(random, most=5, least=1, segments=("x", "y", "x.y", "*"), longest=3, final=0.25, layered=0.0):
    while True:
        groups = layers(random) if random.random() < layered else some_groups(random, most)
        if levels(groups) is None:
            continue
        actions = random.choice(ACTIONS)
        rules = []
        for _ in range(random.randint(least, 8)):
            path = [random.choice(segments) for _ in range(random.randint(0, longest))]
            if rules and random.random() < 0.5:
                path = list(random.choice(rules)["path"])
                if path and random.random() < 0.5:
                    path[random.randrange(len(path))] = random.choice(segments)
            subject = random.choice([*("@" + name for name in groups)] * 2 + [random.choice(USERS), "*"])
            rules.append({"allow": random.random() < 0.55, "subject": subject, "action": random.choice(list(actions)), "path": path, "final": random.random() < final})
        text = told(random, actions, groups, rules)
        return text, World(actions, groups, rules)


def questions(random, own, count):
    found = []
    for _ in range(count):
        path = [random.choice(["x", "y", "x.y", "xx"]) if one == "*" else one for one in (random.choice(own.rules)["path"])]
        if path and random.random() < 0.2:
            path[-1] += "z"
        path += random.choice([[], [], ["x"], ["y", "new"]])
        user = random.choice([*USERS, STRANGER]) if random.random() < 0.5 else random.choice([*sorted(own.named()), STRANGER])
        found.append((user, random.choice(list(own.actions)), path))
    return found


def joined(path):
    return "/" + "/".join(path)


def memberships(random):
    while True:
        groups = some_groups(random, 7, random.choice([0, 0.5, 1.5]))
        actions, rules = {"a": []}, []
        text = told(random, actions, groups, rules)
        names = list(groups)
        if levels(groups) is None:
            at = next(at for at, line in enumerate(text.splitlines(), 1) if line.startswith(f"group {first_wrong(groups)}"))
            yield {"args": [text, names], "expect": ["fault", at, True]}
        else:
            found = inside(groups)
            yield {"args": [text, names], "expect": [sorted(user for user in USERS if (user, name) in found) for name in names]}


def reasons(random, **how):
    while True:
        text, own = world(random, **how)
        asked = questions(random, own, 6)
        yield {"args": [text, [(user, action, joined(path)) for user, action, path in asked]], "expect": [own.why(*one) for one in asked]}


def groups_first(random):
    """Rules of groups at one place, so that nearness and chains decide."""
    yield from reasons(random, most=7, least=3, segments=("x",), longest=1, final=0.1, layered=0.6)


def masked(random):
    """Return a policy whose rules are one path with stars here and there, mostly for everybody."""
    base = [random.choice("xy") for _ in range(random.randint(2, 4))]
    rules = []
    for _ in range(random.randint(2, 6)):
        path = [random.choice([one, "*"]) for one in base][: random.choice([4, 4, 4, 2])]
        subject = random.choice(["*", "*", "*", "ann", "@g"])
        rules.append({"allow": random.random() < 0.5, "subject": subject, "action": "a", "path": path, "final": random.random() < 0.15})
    groups = {"g": {"": ["ann"], "@": [], "-": [], "-@": []}}
    text = told(random, {"a": []}, groups, rules)
    return text, World({"a": []}, groups, rules), [("ann", "a", base), ("bob", "a", [*base, "x"])]


def stars(random):
    for few in reasons(random, most=2, least=4, segments=("x", "*", "*"), longest=4, final=0.3):
        yield few
        text, own, asked = masked(random)
        yield {"args": [text, [(user, action, joined(path)) for user, action, path in asked]], "expect": [own.why(*one) for one in asked]}


def everybody(random):
    while True:
        text, own = world(random)
        asked = questions(random, own, 3)
        seen = []
        for _, action, path in asked:
            may = [user for user in sorted(own.named()) if own.why(user, action, path)[0]]
            seen.append([may, own.why(STRANGER, action, path)[0]])
        yield {"args": [text, [(action, joined(path)) for _, action, path in asked]], "expect": seen}


def unused(random):
    long = "/" + "/".join(["*", "a"] * 15)
    yield {"args": [f"action r\nallow * r {long}\ndeny * r {long}\nallow u r {long}\nfinal deny u r {long}/x\nfinal allow * r {long}/x/*\n"], "expect": [2]}
    yield {"args": ["action r\nallow * r /*/a\nallow * r /b/*\ndeny * r /b/a\ndeny * r /b\nfinal allow u r /\ndeny u r /c\n"], "expect": [7]}
    yield {"args": ["action r\ngroup g -u @g\nallow @g r /\nallow u r /\ndeny v r /x\n"], "expect": [3]}
    while True:
        text, own = world(random, most=3, segments=("x", "x", "y", "*"), longest=random.choice([1, 2, 3]))
        yield {"args": [text], "expect": own.idle()}


def depths(random):
    for count in (3, 3000):
        for back in (False, True):
            yield {"args": [count, back], "expect": [True, count + 3, count + 1, [f"g{count - 1}", f"g{count}"], ["u"]]}


def widths(random):
    yield {"args": [3], "expect": [["y0", "x1", "x2", "x3"], []]}
    yield {"args": [60], "expect": [["y0", *(f"x{n}" for n in range(1, 61))], []]}


def texts(random):
    yield {"args": ["action r\n\n# c\naction w implies r\ngroup g a @h -b -@k c\n group h\ngroup k\nallow * w /\nfinal deny @g r /x/*/y.z\ndeny u r /*\n"], "expect": [{"r": (), "w": ("r",)}, [["g", 5, ("a", "c"), ("h",), ("b",), ("k",)], ["h", 6, (), (), (), ()], ["k", 7, (), (), (), ()]], [[8, True, "*", "w", (), False], [9, False, "@g", "r", ("x", "*", "y.z"), True], [10, False, "u", "r", ("*",), False]], ["a", "b", "c", "u"]]}
    for text, line in (("x\n", 1), ("action\n", 1), ("action a\naction a\n", 2), ("action a implies\n", 1), ("action a implies a\n", 1), ("action a then b\n", 1), ("group g\ngroup g\n", 2), ("group g @h\n", 1), ("group g -@h\n", 1), ("group g @\n", 1), ("group g --u\n", 1), ("action a\nallow u a\n", 2), ("action a\nallow u b /\n", 2), ("action a\nallow @g a /\n", 2), ("action a\nallow u a x\n", 2), ("action a\nallow u a /x/\n", 2), ("action a\nallow u a /**\n", 2), ("action a\nfinal u a /\n", 2), ("action a\nmay u a /\n", 2), ("action a\nallow - a /\n", 2)):
        yield {"args": [text], "expect": ["fault", line]}


def wrongly_asked(random):
    for action, path, expect in (("a", "/x", True), ("b", "/", "ValueError"), ("a", "x", "ValueError"), ("a", "/*", "ValueError"), ("a", "/x/", "ValueError"), ("a", "", "ValueError")):
        yield {"args": ["action a\n", "u", action, path], "expect": expect}


def commands(random):
    text = "action r\naction w implies r\ngroup g u @h\ngroup h v\nallow @g w /x\ndeny v r /x/y\nallow * r /p\ndeny * r /x/y/z\ndeny * w /x/y/z\n"
    for words, out in ((("why", "v", "w", "/x"), "yes, line 5 (g > h)"), (("why", "v", "w", "/x/y"), "no, line 6"), (("why", "t", "r", "/"), "no, line 0"), (("who", "r", "/p"), "u v and others"), (("who", "r", "/x/y"), "u"), (("who", "w", "/"), "nobody"), (("idle",), "9")):
        yield {"args": [text, *words], "expect": [0, out + "\n"]}
    yield {"args": [text, "why", "u", "q", "/"], "expect": [1, ""]}
    yield {"args": ["x\n", "idle"], "expect": [1, ""]}
    yield {"args": ["action r\n", "idle"], "expect": [0, "none\n"]}


def suite(random):
    names = ["tests/test_decisions.py", "tests/test_text.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 5 and set(seen.values()) == {"passed"}}
