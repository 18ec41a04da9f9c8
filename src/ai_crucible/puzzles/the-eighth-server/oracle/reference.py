"""Right answers by a way of their own, and the inputs that they are asked for."""

NAMES = ["a", "b", "web 1", "db-2", "x#y", "\u00e9"]


def case(text, there, release="v2\n"):
    """there: the servers that have folders."""
    names = [line.strip() for line in text.split("\n")]
    names = [name for name in names if name and name[0] != "#"]
    put = {"servers.txt": text, "release.txt": release, "servers/other/release.txt": "v0\n"}
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
    while True:
        names = random.sample(NAMES, random.randint(1, 4))
        lines = [*names, "missing"]
        random.shuffle(lines)
        yield case("\n".join(lines) + random.choice(["", "\n"]), names)


def ordinary(random):
    yield case("a\nb\n", ["a", "b"])
    yield case("", [])
