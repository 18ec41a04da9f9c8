"""Right answers by a way of their own, and the inputs that they are asked for."""

FILES = {"home/letters": "x", "app/a": "1", "app/.hidden": "2", "app/..odd": "3", "app/sub/deep/b": "4", "app/.dir/c": "5", "my app/a": "6", "my app/b c": "7", "my/x": "8", "app2/a": "9", "file": "10", "empty/": None, "-v/a": "11", "a*/x": "12", "ab/x": "13"}
FOLDERS = ["/app", "/my app", "/app/sub", "/app/.dir", "/home", "/app/", "//app", "/empty", "/-v", "/a*", "/app/sub/deep", "/my"]
BAD = ["", "/", "//", "///", "app", "my app", "./app", "../disk/app", "/app/..", "/app/../home", "/..", "/../disk/home", "/.", "/./app", "/app/.", "/nothing", "/app/a", "/file", " /app", "/app/nothing", "/my  app", "/app/sub/../..", "home"]


def case(line, good, prefix="disk", more="", last="\n", missing=False):
    put = {(f"{prefix}/{path}"): content for path, content in FILES.items()}
    put = {path.rstrip("/"): content for path, content in put.items()}
    if not missing:
        put["root.txt"] = line + last + more
    put["outside"] = put[f"{prefix}app/x"] = "kept"
    wanted = {}
    if good:
        place = prefix + "/" + "/".join(part for part in line.split("/") if part) + "/"
        for path in FILES:
            whole = f"{prefix}/{path}".rstrip("/")
            if whole.startswith(place):
                wanted[whole] = None
                parts = whole[len(place) :].split("/")[:-1]
                for count in range(len(parts)):
                    wanted[place + "/".join(parts[: count + 1]) + "/"] = None

    def holds(seen):
        return seen["exit"] == (0 if good else 1) and seen["stdout"] == "" and seen["changed"] == wanted

    return {"args": [["sh", "reset.sh"], put, "", 5, {"PREFIX": prefix}], "holds": holds}


# Looks at the folder's mode and number before and after; ends with 99 where it is not the same folder.
KEPT = """chmod "$1" "$2" || exit 98
seen() { ls -ldi "$2" | sed "s,^ *,," | cut -d " " -f 1,2; }
before=$(seen "$@")
sh reset.sh
code=$?
[ "$before" = "$(seen "$@")" ] || exit 99
exit $code"""


def kept(random, line, prefix):
    """A folder of an unusual mode, which is to stay the same one."""
    made = case(line, True, prefix)
    mode = random.choice(["0700", "0711", "0750", "0705", "1777", "2770"])
    argv, *rest = made["args"]
    return {**made, "args": [["sh", "-c", KEPT, "kept", mode, f"{prefix}/{line}"], *rest]}


def refused(random):
    yield case("", False, missing=True)
    yield case("", False, last="")
    for place, line in enumerate(BAD):
        yield case(line, False, ("disk", "my disk")[place % 2], last="\n"[: place % 3], more="\n/app\n"[: 9 * (place % 3 == 0)])
    while True:
        yield case(random.choice(BAD), False, random.choice(["disk", "my disk"]), more=random.choice(["", "/app\n"]))


def emptied(random):
    for line in random.sample(FOLDERS, 6):
        yield kept(random, line, random.choice(["disk", "my disk"]))
    for line in FOLDERS:
        yield case(line, True, random.choice(["disk", "my disk"]), last=random.choice(["", "\n"]))
        yield case(line, True, more="/home\n\n")
    while True:
        yield case(random.choice(FOLDERS), True, random.choice(["disk", "my disk", "d"]), more=random.choice(["", "/home\n"]), last=random.choice(["\n"]))


def plain(random):
    put = {"disk/app/a": "x", "disk/home/letters": "x", "root.txt": "/app\n"}
    expect = {"exit": 0, "stdout": "", "complains": False, "changed": {"disk/app/a": None}}
    while True:
        yield {"args": [["sh", "reset.sh"], put, "", 5, {"PREFIX": "disk"}], "expect": expect}
