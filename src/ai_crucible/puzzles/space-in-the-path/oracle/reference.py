"""Right answers by a way of their own, and the inputs that they are asked for."""

ROOTS = ["system", "my system", "a/b", "./system", "s*", "two  blanks", "a$b", "quo\"te", "/", "-rf", "back\\slash", "new [x]", "a -o b", "x = x"]
LEFT = ["usr/bin/tool", "usr/lib/nvidia current/keep", "usr/lib/nvidia", "usr/lib/current/xorg/x", "usr/lib/nvidia current/xorg2/y", "lib/nvidia", "current/xorg/z"]
GONE = ["driver.so", "sub/deep/file", ".hidden", "odd name/x y"]
HERE = {"my/usr/bin/tool": "x", "system2/usr/lib/nvidia current/xorg/driver.so": "x", "current/xorg": "x", "lib/nvidia": "x", "usr/tool": "x", "two/x": "1", "sx/usr/lib/nvidia current/xorg/driver.so": "x"}


def case(random, root, there=True):
    place = root.removeprefix("./")
    gone = random.sample(GONE, random.randint(1, len(GONE)))
    put = {**HERE, **{f"{place}/{name}": "x" for name in random.sample(LEFT, random.randint(1, len(LEFT)))}}
    folder = f"{place}/usr/lib/nvidia current/xorg/"
    wanted = {}
    if there:
        put.update({folder + name: "x" for name in gone})
        wanted = {folder: None}
        for name in gone:
            parts = name.split("/")
            wanted.update({folder + "/".join(parts[: n + 1]) + "/": None for n in range(len(parts) - 1)})
            wanted[folder + name] = None

    def holds(seen):
        return seen["exit"] == 0 and seen["stdout"] == "" and seen["changed"] == wanted

    return {"args": [["sh", "uninstall.sh", root], put], "holds": holds}


def removed(random):
    roots = [root for root in ROOTS if root != "/"]
    for root in roots:
        yield case(random, root)
    while True:
        yield case(random, random.choice(roots))


def not_there(random):
    for root in ("system", "my system", "a/b", "no such root"):
        yield case(random, root, there=False)
    while True:
        yield case(random, random.choice(["x", "my system"]), there=False)


def no_root(random):
    expected = {"exit": 2, "stdout": "", "changed": {}}

    def holds(seen):
        return {name: seen[name] for name in expected} == expected

    for words in ([], [""]):
        put = {**HERE, "usr/lib/nvidia current/xorg/driver.so": "x"}
        yield {"args": [["sh", "uninstall.sh", *words], put], "holds": holds}


def untouched(random):
    # ROOT's own folders that are not the driver's stay, where there is nothing to remove.
    def holds(seen):
        return seen["exit"] == 0

    while True:
        yield {"args": [["sh", "uninstall.sh", "empty"], {"empty/x": ""}], "holds": holds}
