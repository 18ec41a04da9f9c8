"""Right answers by a way of their own, and the inputs that they are asked for."""

FILES = {"home/letters": "x", "app/a": "1", "app/.hidden": "2", "app/..odd": "3", "app/sub/deep/b": "4", "app/..dir/a": "28", "app/.dir/c": "5", "my app/a": "6", "my app/b c": "7", "my/x": "8", "app2/a": "9", "file": "10", "empty/": None, "-v/a": "11", "a*/x": "12", "ab/x": "13", ".../a": "14", "..odd/a": "15", ".hid/a": "16", "a..b/a": "17", "sp /a": "18", "sp/a": "19", "back\\nslash/a": "20", "app/...": "21", "app/new\nline": "22", "app/-rf": "23", "app/ lead": "24", "app/*": "25", "app/void": None, "app/.x": "26", "x" * 200 + "/a": "27"}
FOLDERS = ["/app", "/my app", "/app/sub", "/app/.dir", "/home", "/app/", "//app", "/empty", "/-v", "/a*", "/app/sub/deep", "/my", "/...", "/..odd", "/.hid", "/a..b", "/sp ", "/back\\nslash", "//app//sub//", "/" + "x" * 200, "/app/..dir"]
BAD = ["", "/", "//", "///", "app", "my app", "./app", "../disk/app", "/app/..", "/app/../home", "/..", "/../disk/home", "/.", "/./app", "/app/.", "/app/a", "/file", " /app", "/app/nothing", "/my  app", "/app/sub/../..", "home", "/app ", "/app\t", "/app\r", "\t/app", "/app/ ", "/a?p", "/ap*", "/[a]pp", "/*", "~", "/$(echo app)", "/app;", "/app/./sub", "/app//..", "/app/sub/..", "/./", "/../", "//..", "/.//app", " ", "/app /my app", "/my app/b c", "/APP", "/app/.hidden", "\\/app", "'/app'", "\"/app\"", "/app/...", "/app\\", "/back\nslash"[:5]]


def case(line, good, prefix="disk", more="", last="\n", missing=False):
    put = {(f"{prefix}/{path}"): content for path, content in FILES.items()}
    put = {path.rstrip("/"): content for path, content in put.items()}
    if not missing:
        put["root.txt"] = line + last + more
    put[f"{prefix}/app/leads out"] = ["link", "../home"]
    put[f"{prefix}/app/.leads nowhere"] = ["link", "gone"]
    put["outside"] = put[f"{prefix}app/x"] = "kept"
    wanted = {}
    if good:
        place = prefix + "/" + "/".join(part for part in line.split("/") if part) + "/"
        for path in [*FILES, "app/leads out", "app/.leads nowhere"]:
            whole = f"{prefix}/{path}".rstrip("/")
            if whole.startswith(place):
                wanted[whole + "/" if FILES.get(path, "") is None else whole] = None
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
    for line in ("/", "", ".", "..", "/.."):
        # The first line is the only one, whatever comes after it.
        yield case(line, False, "d*", more="/app\n")
    for place, line in enumerate(BAD):
        yield case(line, False, ("disk", "my disk")[place % 2], last="\n"[: place % 3], more="\n/app\n"[: 9 * (place % 3 == 0)])
    while True:
        yield case(random.choice(BAD), False, random.choice(["disk", "my disk"]), more=random.choice(["", "/app\n"]))


def emptied(random):
    for line in random.sample(FOLDERS, 6):
        yield kept(random, line, random.choice(["disk", "my disk"]))
    for line in FOLDERS:
        yield case(line, True, random.choice(["disk", "my disk"]), *random.choice([("", ""), ("", "\n"), ("/home\n\n", "\n")]))
    while True:
        yield case(random.choice(FOLDERS), True, random.choice(["disk", "my disk", "d", "d*", "di[s]k", " d", "dis?"]), more=random.choice(["", "/home\n"]), last=random.choice(["\n"]))


def plain(random):
    put = {"disk/app/a": "x", "disk/home/letters": "x", "root.txt": "/app\n"}
    expect = {"exit": 0, "stdout": "", "complains": False, "changed": {"disk/app/a": None}}
    while True:
        yield {"args": [["sh", "reset.sh"], put, "", 5, {"PREFIX": "disk"}], "expect": expect}
