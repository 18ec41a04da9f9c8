"""Right answers by a way of their own: whole texts in place of digests, and a list of results that is gone through."""

import fnmatch

TEXTS = ["a\n", "b\n", "c\n", "to lib/y\n", "to out/p/a\n", "bad\n", "= a\nx\n= b\ny\n", "= a\nx\n", "= b\nbad\n= c\na\n", "= a\n", "", "@lib/x\n", "= a\n@lib/y\n= A\n", "list\n", "dict\n", "name\n", "empty\n", "none\n", "part\n", "stroke\n", "line\n", "key\n", "number\n", "@out/p/b\nz\n"]
PLAIN = ["a\n", "b\n", "c\n", "", "a\nb\n"]
SOURCES = ["src/a.t", "src/b.t", "src/c.t", "src/d.m", "src/a.m", "src/deep/a.t", "src/.t"]
LIBRARY = ["lib/x", "lib/y", "lib/z"]
TURNED = "= b\ny\n= a\nx\n"
SEEN = ["src/*.t -> out/*.h1 : head out/p/a", "src/*.t -> out/p/ : parts", "src/*.t -> out/*.h2 : head out/p/a", "src/*.m -> out/*.h3 : head out/p/a", "src/*.m -> out/p/ : parts", "out/p/* -> out/q/*.h : head out/p/a", "out/p/* -> out/p/q-* : head out/p/b", "* -> out/top/* : upper", "src/*.t -> out/*.k : head .kiln", "src/*.t -> out/*.s : head out/a.s out/b.s", "src/*.m -> out/*.s : upper"]
RULES = ["src/*.t -> out/*.s : head out/a.s out/b.s", "src/*.t -> out/*.up : upper", "src/*.m -> out/*.up : upper", "src/*.t -> out/p/ : parts", "src/*.t -> out/*/ : parts", "out/p/* -> out/q/*.h : head lib/x", "out/p/* -> out/*.up : upper", "src/*.t -> out/*.h : head lib/x lib/y", "src/*.m -> out/*.h : head lib/x out/a.up", "src/*.t -> out/*.i : include", "src/* -> out/all/* : odd", "src/*.t -> out/odd/*/ : odd", "src/*.t -> out/*.l : links lib/x", "src/*.m -> out/*.l : links lib/z", "out/*.up -> out/*.u2 : upper", "out/*.u2 -> out/*.up : upper", "src/*.t -> out/one : upper", "lib/* -> out/lib-* : upper", "out/lib-* -> out/p/* : head lib/y", "src/*.t -> out/ : parts", "src/*.t -> out/*.z : head", "*.txt -> out/*.rules : upper", "src/a.* -> out/a.up : upper", "src/*.t -> out/*.h : head out/p/a out/late"]


class Bad(Exception):
    """A step fails."""


def tool(name, text, words, read):
    """Return what a tool makes; None is none that can be."""
    if name == "upper":
        return text.upper()
    if name == "head":
        return "".join((read(word) or "") for word in words) + text
    if name == "include":
        out = ""
        for row in text.splitlines(True):
            if row[0] == "@":
                row = read(row[1:].strip())
                if row is None:
                    raise Bad
            out += row
        return out
    if name == "parts":
        out = {}
        for row in text.splitlines(True):
            if row[:2] == "= ":
                last = row[2:].strip()
                out[last] = ""
            elif not out:
                raise Bad
            else:
                out[last] += row
        return out
    if name == "links":
        seen = read(words[0])
        for _ in range(3):
            if seen is not None and seen[:3] == "to ":
                seen = read(seen[3:].strip())
        return f"{seen}+{text}"
    first = (text.split() or [""])[0]
    if first in ("bad", "list", "none", "number", "name", "stroke", "part", "line", "key"):
        # As a tool it returns something for the folder, or nothing that is any good.
        if first == "bad":
            raise Bad
        return None
    return {} if first == "empty" else {"x": text} if first == "dict" else text


NAME = set("abcdefghijklmnopqrstuvwxyz0123456789.-")


def plan(files, versions, past, lying):
    """Return what a build does; ``past`` is a list of results [call, reads, made, files], ``lying`` is out/ as it lies there."""
    known = [one for one in past if all(lying.get(path) == text for path, text in one[3].items())]
    visible = {path: text for path, text in files.items() if not path.startswith("out/")}
    made, ran, called, failed, kept = {}, [], [], [], []
    for number, row in enumerate(files.get("kiln.txt", "").split("\n"), 1):
        if not row.strip(" ") or row.strip(" ")[0] == "#":
            continue
        pattern, _, target, _, name, *words = row.split()
        new = {}
        for path in sorted(visible):
            before, behind = pattern.split("*")
            stem = path[len(before) : len(path) - len(behind)]
            if path != before + stem + behind or not stem or "/" in stem:
                continue
            goal, call = target.replace("*", stem), (name, versions.get(name, 1), tuple(words), visible[path])
            found = next((one for one in known if one[0] == call and all(visible.get(each) == text for each, text in one[1].items())), None)
            try:
                if found:
                    result, reads = found[2], found[1]
                else:
                    reads = {}

                    def read(each):
                        reads[each] = visible.get(each)
                        return visible.get(each)

                    ran.append((number, path))
                    called.append([name, visible[path], words])
                    result = tool(name, visible[path], words, read)
                folder = goal[-1] == "/"
                if result is None or isinstance(result, dict) != folder or folder and not all(one and set(one) <= NAME for one in result):
                    raise Bad
                known.append([call, reads, result, {}])
                mine = {goal + one: text for one, text in result.items()} if folder else {goal: result}
                if any(one in made or one in new for one in mine):
                    raise Bad
            except Bad:
                failed.append((number, path))
                continue
            new.update(mine)
            kept.append([call, reads, result, mine])
        made.update(new)
        visible.update(new)
    return ran, called, failed, made, kept


def builds(random, scenes):
    """Return steps and what each build does, of changes that are drawn as the files are by then."""
    files, out, past, versions, steps, answers = {}, {}, [], {}, [], []
    for changes, touched, newer in scenes:
        changes = changes(files) if callable(changes) else changes
        lost = touched(out) if touched else {}
        if newer:
            versions = {**versions, newer: versions.get(newer, 1) + 1}
        files = {path: text for path, text in {**files, **changes}.items() if text is not None}
        lying = {path: text for path, text in {**out, **{path: text for path, text in lost.items() if path != ".kiln"}}.items() if text is not None}
        if ".kiln" in lost:
            past = []
        ran, called, failed, made, past = plan(files, versions, past, lying)
        written = sorted(path for path in made if lying.get(path) != made[path])
        deleted = sorted(path for path in lying if path not in made)
        steps.append([{**changes, **lost}, dict(versions)])
        answers.append([ran, called, failed, written, deleted, made, True, True, True])
        out = made
    return {"args": [steps], "expect": answers}


def rules(random, count, some=RULES):
    rows = []
    for row in random.sample(some, min(count, len(some))):
        rows += [random.choice(["", "#", "  # x -> y", "   "])] * (random.random() < 0.15)
        rows.append(random.choice(["", "", "  "]) + row.replace(" ", random.choice([" ", " ", "  "])))
    return "\n".join(rows) + random.choice(["\n", "", "\n\n"])


def first_files(random, texts, count, some):
    files = {path: random.choice(texts) for path in SOURCES if random.random() < 0.65}
    files.update({path: random.choice([*PLAIN, "to lib/y\n", "to lib/z\n"]) for path in LIBRARY if random.random() < 0.6})
    return {**files, "kiln.txt": rules(random, count, some)}


def changed(random, ways, texts, count, some):
    """Return a function that draws changes of files that are there."""

    def changes(files):
        made = {}
        for _ in range(random.choice([0, 1, 1, 2])):
            way, sources = random.choice(ways), [path for path in files if path.startswith(("src/", "lib/"))]
            if way == "rules":
                made["kiln.txt"] = rules(random, count, some)
            elif way == "turn":
                rows = files["kiln.txt"].split("\n")
                random.shuffle(rows)
                made["kiln.txt"] = "\n".join(rows)
            elif way == "target":
                made["kiln.txt"] = files["kiln.txt"].replace("out/*", "out/n-*") if "n-" not in files["kiln.txt"] else files["kiln.txt"].replace("n-", "")
            elif way == "new" or not sources:
                made[random.choice(SOURCES + LIBRARY)] = random.choice(texts)
            elif way == "drop":
                made[random.choice(sources)] = None
            elif way == "name":
                old, new = random.choice(sources), random.choice(SOURCES)
                made[new], made[old] = files[old], None if old != new else files[old]
            elif way == "swap":
                one, other = random.choice(sources), random.choice(sources)
                made[one], made[other] = files[other], files[one]
            elif way == "library":
                made[random.choice(LIBRARY)] = random.choice([*PLAIN, None, "to lib/z\n", "to lib/y\n"])
            else:
                made[random.choice(sources)] = random.choice(texts)
        return {path: text for path, text in made.items() if text is not None or path in files}

    return changes


def by_hand(random):
    def touched(out):
        made = {}
        for path in list(out):
            if random.random() < 0.3:
                made[path] = random.choice([None, "by hand\n", out[random.choice(list(out))]])
        if random.random() < 0.3:
            made["out/" + random.choice(["zz", "p/zz", "a.up", "zz/.kiln"])] = "by hand\n"
        return made

    return touched


def drawn(random, ways, texts=PLAIN, count=(2, 4), some=RULES, hand=0.0, newer=0.0, most=4):
    while True:
        many = random.randint(*count)
        scenes = [(first_files(random, texts, many, some), None, None)]
        for _ in range(random.randint(2, most)):
            scenes.append((changed(random, ways, texts, many, some), by_hand(random) if random.random() < hand else None, random.choice(["upper", "head", "parts"]) if random.random() < newer else None))
        yield builds(random, scenes)


def of_stale(random):
    yield from drawn(random, ["drop", "new", "text", "rules", "name"], [*PLAIN, "= a\nx\n= b\ny\n", "= b\ny\n", "= a\nz\n", TURNED], (2, 5), [row for row in RULES if "odd" not in row])


def of_seen(random):
    yield from drawn(random, ["text", "text", "turn", "swap", "library", "drop"], ["a\n", "b\n", "= a\nx\n", TURNED, TURNED], (3, 6), SEEN, most=3)


def of_names(random):
    yield from drawn(random, ["name", "name", "swap", "swap", "target", "turn"], ["a\n", "b\n", "= a\nx\n", "= a\nx\n= b\ny\n"])


def of_reads(random):
    yield from drawn(random, ["library", "library", "text", "swap", "turn"], [*PLAIN, "@lib/x\n", "@out/p/b\nz\n", "= a\nto out/p/b\n= b\ny\n"], (2, 5), [row for row in RULES if any(word in row for word in ("head", "links", "include", "out/p/ ", "lib"))], most=5)


def of_failures(random):
    yield from drawn(random, ["text", "name", "new", "swap", "drop"], TEXTS, (2, 4), [row for row in RULES if any(word in row for word in ("odd", "parts", "include", "one", "up"))])


def of_clashes(random):
    yield from drawn(random, ["text", "name", "drop", "swap", "turn"], ["a\n", "b\n", "= a\nx\n", "= a\nx\n= b\ny\n", "= b\ny\n"], (3, 5), [row for row in RULES if any(word in row for word in ("out/p/ ", "out/ ", "one", "*.up : ", "a.up", "out/*/"))])


def of_hands(random):
    yield from drawn(random, ["text", "name", "swap", "drop", "turn"], [*PLAIN, "= a\nx\n= b\ny\n"], (2, 4), [row for row in RULES if "odd" not in row], hand=0.7)


def of_versions(random):
    yield from drawn(random, ["text", "turn"], [*PLAIN, "= a\nx\n"], newer=0.6)


def of_all(random):
    yield from drawn(random, ["text", "name", "swap", "drop", "turn", "rules", "library", "new", "target"], TEXTS, (3, 7), hand=0.2, newer=0.1, most=6)


def of_states(random):
    for text in (None, "", "x", "[]", "{}", "7", "null", "[1]", "[[]]", '[["upper", 1, [], "x", {}, false, {}]]', '{"a": "b"}', "[[1, 2, 3]]", '"x"', "[{}]"):
        files = {"kiln.txt": "src/*.t -> out/*.up : upper\nsrc/*.t -> out/*/ : parts\n", "src/a.t": "= a\nx\n"}
        yield builds(random, [(files, None, None), ({}, lambda out, text=text: {".kiln": text}, None), ({}, None, None)])


def faults(random):
    good = "a* -> out/* : upper"
    for bad in ("x", "a* -> out/*", "a* -> out/* :", "a* out/* : upper", "a* => out/* : upper", "a -> out/b : upper", "a** -> out/b : upper", "a*b* -> out/b : upper", "a* -> out/*/* : upper", "a* -> b/* : upper", "a* -> out : upper", "a* -> /out/* : upper", "a* -> outer/* : upper", "a* -> out/* : lower", "a* -> out/*: upper", "a*\t->\tout/*\t:\tupper", "a* -> out/* : upper\r", "a* -> out/* ; upper", ": a* -> out/* upper", "a* -> out/* : Upper"):
        yield {"args": [random.choice([good + "\n", "# x\u2028\n", "\n"]) + bad + "\n" + good], "expect": ["fault", 2, True, True, []]}
    yield {"args": ["a* -> out/* : upper x\ty \u2028 z"], "expect": [["x"], ["x"]]}
    yield {"args": ["#a* -> b/* : upper\n\n  a* -> out/b : upper"], "expect": [["x"], ["x"]]}
    yield {"args": [""], "expect": [[], []]}


def stems(random):
    for pattern in ("a*b", "src/*.t", "*", "aa*aa", "*/x", "src/*/a.t", "a*a"):
        paths = ["ab", "axb", "a/b", "aab", "src/a.t", "src/.t", "src/a/a.t", "src/a/b.t", "aaa", "aaaa", "aaaaa", "x", "y/x", "/x", "a", "aa", "ba.t", "src/a.tx"]
        want = []
        for path in paths:
            before, behind = pattern.split("*")
            hit = fnmatch.fnmatchcase(path, pattern) and len(path) > len(pattern) - 1
            stem = path[len(before) : len(path) - len(behind)] if hit else ""
            want.append("" if "/" in stem else stem)
        yield {"args": [f"{pattern} -> out/* : upper", paths], "expect": want}


def commands(random):
    files = {"kiln.txt": "src/*.t -> out/*.up : upper\nsrc/*.m -> out/*/ : parts\n", "src/a.t": "a\r\n", "src/b.m": "= x\n1\n"}
    yield {"args": [files, {"src/a.t": None, "src/c.t": "c\n"}], "expect": [[0, "+ out/a.up\n+ out/b/x\n"], [0, "+ out/c.up\n- out/a.up\n"], {"out/b/x": "1\n", "out/c.up": "C\n"}]}
    yield {"args": [files, {"src/b.m": "1\n"}], "expect": [[0, "+ out/a.up\n+ out/b/x\n"], [1, "- out/b/x\n"], {"out/a.up": "A\r\n"}]}
    yield {"args": [files, {"kiln.txt": "x\n"}], "expect": [[0, "+ out/a.up\n+ out/b/x\n"], [2, ""], {"out/a.up": "A\r\n", "out/b/x": "1\n"}]}
    yield {"args": [files, {}, "x"], "expect": [[2, ""], [2, ""]]}


def suite(random):
    names = ["tests/test_build.py", "tests/test_rules.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 7 and set(seen.values()) == {"passed"}}
