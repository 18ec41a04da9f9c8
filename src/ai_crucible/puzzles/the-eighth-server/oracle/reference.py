"""Right answers by a way of their own, and the inputs that they are asked for."""

NAMES = ["a", "b", "web 1", "db-2", "x#y", "\u00e9", "A", "-v"]
# What stands where a folder should.
NONE = [None, "a file\n", "", ["link", "nowhere"], ["link", "../release.txt"]]


def case(text, there, release="v2\n", put=None):
    """there: the servers that have folders; put: what else is laid."""
    names = [line.strip() for line in text.split("\n")]
    names = [name for name in names if name and name[0] != "#"]
    put = {"servers.txt": text, "release.txt": release, "servers/other/release.txt": "v0\n", **(put or {})}
    for place, name in enumerate(there):
        put[f"servers/{name}/" + ("release.txt" if place % 2 else "else.txt")] = "v1\n"
    good = all(name in [*there, "other"] for name in names)
    wanted = {f"servers/{name}/release.txt": release for name in names if release != put.get(f"servers/{name}/release.txt")} if good else {}

    def holds(seen):
        told = seen["stdout"] == f"deployed to {len(names)} servers\n" if good else True
        return seen["exit"] == (0 if good else 1) and told and seen["changed"] == wanted

    return {"args": [["python3", "deploy.py"], put], "holds": holds}


def listed(random):
    yield case("a\nb", ["a", "b"])
    yield case("a", ["a"])
    yield case("# all\n\n  a  \n", ["a"])
    yield case("#a\n  # b\nb#\n", ["a", "b#"])
    yield case("a\n# missing", ["a"])
    yield case("a\na\n", ["a"])
    yield case("\ta\t\r\nb\r\n", ["a", "b"])
    # What is taken for the end of a line elsewhere is part of a name, and white space at its ends.
    signs = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\t\x1f\u00a0 "
    inside = [f"a{sign}b" for sign in signs]
    yield case("\n".join(inside), inside)
    yield case("".join(f"{sign}c{sign}\n{sign}\n{sign}# {sign}x\na{sign}b{sign}\n" for sign in signs), ["c", *inside], put={"servers/a/x": "", "servers/b/x": ""})
    for sign in random.sample(signs, 3):
        yield case(f"a{sign}b\nc", [f"a{sign}b", "c"])
    odd = ["\ufeffx", "a  b", "*", "a;b", "$HOME", "~", "..a", "...", "a#", "a # b", "\u200ba", "-", "--help", "a\\b", "'a'", "%s", "{a}", "deployed to 1 servers"]
    yield case("\n".join(odd), odd)
    for name in (odd[0], *random.sample(odd, 3)):
        yield case(name, [name])
    yield case("# x\n", [])
    yield case("\n\n", [])
    yield case("#", [])
    yield case("a\n#", ["a"])
    yield case("a\n" * 300, ["a"], "v3\r\n\r")
    yield case("a\n b\n#" + "\n" * 2500, ["a", "b"], b"\xff\x00\r\n")
    while True:
        names = random.sample(NAMES, random.randint(1, 5))
        lines = [random.choice(["{}", " {} ", "{}\t"]).format(name) for name in names]
        for _ in range(random.randint(0, 3)):
            lines.insert(random.randint(0, len(lines)), random.choice(["", "  ", "# note", " #x", "#a"]))
        yield case("\n".join(lines) + random.choice(["", "\n", "\n\n"]), names, random.choice(["v2\n", "v3", "\u00e9\n"]))


def lacking(random):
    yield case("a\nmissing\n", ["a"])
    yield case("missing\na\n", ["a"])
    yield case("a\nb\nmissing", ["a", "b"])
    yield case("A\na\n", ["a"])
    for kind in NONE[1:]:
        yield case("a\nb\nc\n", ["a", "c"], put={"servers/b": kind})
    yield case("a\nmissing 1\nmissing 2\n", ["a"])
    yield case("".join(f"missing {n}\n" for n in range(256)) + "a\n", ["a"])
    while True:
        names = random.sample(NAMES, random.randint(1, 4))
        gone = {f"missing {n}": random.choice(NONE) for n in range(random.choice([1, 2, 3]))}
        lines = [*names, *gone]
        random.shuffle(lines)
        put = {f"servers/{name}": kind for name, kind in gone.items() if kind is not None}
        yield case("\n".join(lines) + random.choice(["", "\n"]), names, put=put)


def ordinary(random):
    yield case("a\nb\n", ["a", "b"])
    yield case("", [])


def odd_lacking(random):
    """Names that are not there, beside what they would be if they were read otherwise."""
    for sign in "\x0b\x0c\x85\u2028":
        yield case(f"c\na{sign}b\n", ["a", "b", "c", "a b", "ab"])
    for lines in ("c\na # b", "c\na#", "c\n*", "c\nC", "c\na,c", "c\na c", "c\n'c'", "c\n;c", "c\n\u200bc", "c\n\ufeffc"):
        yield case(lines, ["a", "c"])
