"""Right answers by a way of their own, and the inputs that they are asked for."""

ROOTS = ["system", "my system", "a/b", "./system", "s*", "two  blanks", "a$b", "quo\"te", "/", "-rf", "back\\slash", "new [x]", "a -o b", "x = x", "a\n", "a\n\n", "new\nline", "\na", "a ", " a", "\ta\t", "a\r", "\u00e9\u2028", "~", "$HOME", "$(echo a)", "`echo a`", "it's", "a;b", "&", "-", "--", "*", "a/", "%s", "a\n/b", "\\n", "!x", " ", "  ", "\t", "!", "(", ")", "-n", "-z", "-f", "=", "-o", "-e", "--help", "a//", "a/b///", "?", "[a]", "{a,b}", "$1", "${1}", "a#b", "#", "%", "a\\ b", "a\\", "'", "a\u00a0b", "x" * 200, "nvidia current", "usr"]
LEFT = ["usr/bin/tool", "usr/lib/nvidia current/keep", "usr/lib/nvidia", "usr/lib/current/xorg/x", "usr/lib/nvidia current/xorg2/y", "lib/nvidia", "current/xorg/z", "old/usr/lib/nvidia current/xorg/z", "usr/usr/lib/nvidia current/xorg/z", "usr/lib/nvidia current/usr/lib/nvidia current/xorg/z", "usr/lib/xorg/z", "usr/lib/nvidia current/xor", "usr/lib/Nvidia Current/xorg/z", "usr/lib/nvidia  current/xorg/z", "usr/lib/nvidia current/xorg.old/z", "usr/lib/nvidia current/.xorg/z", "xorg/z"]
GONE = ["driver.so", "sub/deep/file", ".hidden", "odd name/x y", "new\nline\n", "-rf", "..x"]
HERE = {"my/usr/bin/tool": "x", "system2/usr/lib/nvidia current/xorg/driver.so": "x", "current/xorg": "x", "lib/nvidia": "x", "usr/tool": "x", "two/x": "1", "sx/usr/lib/nvidia current/xorg/driver.so": "x"}


def case(random, root, there=True):
    place = root.removeprefix("./").rstrip("/")
    gone = random.sample(GONE, random.randint(0, len(GONE)))
    # A place that is not ROOT, if what is odd in it is lost.
    near = {root.strip(), root.rstrip("\n"), root.replace("\n", ""), root.replace("\n", " "), "a", "a\n"} - {root, place, "", "/"}
    put = {**HERE, **{f"{name}/usr/lib/nvidia current/xorg/driver.so": "x" for name in near if "/" not in name + place}, **{f"{place}/{name}": "x" for name in random.sample(LEFT, random.randint(1, len(LEFT)))}}
    folder = f"{place}/usr/lib/nvidia current/xorg/"
    wanted = {}
    if there:
        put.update({folder: None, **{folder + name: "x" for name in gone}})
        wanted = {folder: None}
        if random.random() < 0.5:
            # A link goes; what it leads to stays.
            put.update({f"{place}/usr/lib/kept/x": "x", folder + "leads out": ["link", "../../kept"], folder + "nowhere": ["link", "gone"]})
            wanted.update({folder + "leads out": None, folder + "nowhere": None})
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
    def nothing(seen):
        return seen["exit"] == 0 and seen["stdout"] == "" and not seen["changed"]

    # ROOT is not there, is empty, or ends anywhere on the way.
    for root in ("none", "no such root", "/no/such root", "my system", "./deep/er"):
        for way in ("", "usr/", "usr/lib/", "usr/lib/nvidia current/", "usr/lib/nvidia/"):
            place = root.removeprefix("./")
            put = {} if root.startswith(("no", "/")) else {f"{place}/{way}": None}
            yield {"args": [["sh", "uninstall.sh", root], {**HERE, **put}], "holds": nothing}
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
