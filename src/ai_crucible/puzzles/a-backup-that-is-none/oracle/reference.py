"""Right answers by a way of their own, and the inputs that they are asked for."""

import gzip

# What a script might take for a place of its own beside FILE.
BESIDE = ["{}.tmp", "{}.new", "{}.bak", "{}.raw", "{}.gz", "{}.part", "{}.old", "{}.draft", "{}.gz.draft", "{}.tmp.gz", "{}.new.gz", "{}.temp", "{}.dump", "{}.1", "{}~", ".{}", ".{}.tmp", ".{}.swp", "tmp", "tmp.gz", "dump", "dump.gz", "backup.tmp", "raw"]
NAMES = ["b.gz", "my backup.gz", "out/b.gz", "./b.gz", "out here/b"]
# Blanks at the ends and several of them, and no end of a name that says what it is.
BLANKS = [" b.gz", "b.gz ", "two  blanks.gz", "out here/ b .gz", "out/b", " ", "out here/ "]


def case(name, script, data=None, old=b"last good\n", dump="sh dump.sh", whole=False, moved=None):
    """data is what a good dump prints; None where it is none. whole: FILE is given from the root on; moved: what the dump itself changes."""
    put = {"dump.sh": script, "out/x": "", "out here/x": "", "other": "kept\n"}
    place = name.removeprefix("./")
    folder, _, last = place.rpartition("/")
    for each in BESIDE:
        put[(folder + "/" if folder else "") + each.format(last)] = "kept: " + each
    if old is not None:
        put[place] = old

    def holds(seen):
        changed = dict(seen["changed"])
        if moved is not None and {each: changed.pop(each, "") for each in moved} != moved:
            return False
        if data is None:
            return seen["exit"] == 1 and not changed
        kept = changed.pop(place, None)
        if seen["exit"] != 0 or changed or kept is None:
            return False
        return gzip.decompress(kept if isinstance(kept, bytes) else kept.encode()) == data

    if moved is not None:
        put["once"] = "rows\n"
    argv = ["sh", "-c", 'exec sh backup.sh "$1" "$PWD/$2"', "run", dump, name] if whole else ["sh", "backup.sh", dump, name]
    return {"args": [argv, put], "holds": holds}


def quoted(data):
    return "printf '" + "".join("\\%03o" % byte for byte in data) + "'\n"


def some(random):
    return bytes(random.randrange(256) for _ in range(random.randint(1, 60))) + random.choice([b"", b"\n", b"\0", b"\n\n"])


def failing(random):
    for place, name in enumerate(NAMES):
        yield case(name, f"echo half\nexit {(1, 2, 3, 127, 255)[place]}\n", old=(None, b"old")[place % 2])
        yield case(name, "kill -9 $$\n")
        yield case(name, "echo half; kill $$\n")
        yield case(name, "", dump="no-such-command-here")
        yield case(name, "exit 1\n")
    for name in random.sample(BLANKS, 4):
        yield case(name, "echo half\nexit 1\n", old=random.choice([None, b"old"]))
    yield case(random.choice(NAMES), "echo half\nexit 1\n", old=random.choice([None, b"old"]), whole=True)
    # What it printed before is no reason, and what stands in FILE neither.
    yield case("b.gz", "cat b.gz\nexit 1\n", old=b"old")
    yield case("b.gz", "seq 1 30000\nexit 1\n", old=b"old")
    # The command line itself, which may end, go elsewhere or change its shell.
    for dump in ("echo half; exit 3", "exit 1", "echo half; kill -9 $$", "set -e; false; echo half", "echo half | false", "echo half; (exit 4)", "echo half && false", "cd / && echo half; exit 9", "exec sh dump.sh", "trap 'exit 2' EXIT; echo half"):
        yield case(random.choice(NAMES), "echo half; exit 5\n", old=random.choice([None, b"old"]), dump=dump)
    while True:
        yield case(random.choice(NAMES), quoted(some(random)) + f"exit {random.randint(1, 255)}\n", old=random.choice([None, b"old", b""]))


def empty(random):
    for name in NAMES:
        yield case(name, "exit 0\n")
        yield case(name, "true\n", old=None)
        yield case(name, "", dump="true")
        yield case(name, "echo words >&2\n")
        if name == "b.gz":
            yield case(random.choice(BLANKS), "exit 0\n", old=random.choice([None, b"old", b""]))
            yield case(name, "exit 0\n", whole=True)
        yield case(name, "printf ''\n", dump=random.choice(["sh dump.sh", "exit", "exit 0", "cd /", "echo a | grep b; true", "echo words >&2; exit 0", "set -e; echo a > /dev/null"]))


def good(random):
    for name in NAMES:
        for data in random.sample([b"x", b"\n", b"\0", b"a\0b\n\n", b"%s %d n", b"\xff\xfe", b"rows\n" * 3], 4):
            yield case(name, quoted(data), data, old=random.choice([None, b"old"]))
        yield case(name, "seq 1 3000\n", "".join(f"{n}\n" for n in range(1, 3001)).encode())
    for name in BLANKS:
        yield case(name, quoted(b"a b\0\n"), b"a b\0\n", old=random.choice([None, b"old"]))
    for name in ("b.gz", "out here/b"):
        yield case(name, "echo rows\n", b"rows\n", old=random.choice([None, b"old"]), whole=True)
    yield case("b.gz", "seq 1 30000\n", "".join(f"{n}\n" for n in range(1, 30_001)).encode())
    packed = gzip.compress(b"packed once\n", mtime=0)
    yield case("b.gz", quoted(packed), packed, old=packed)
    # It reads the last good one while it runs; it runs once; what it complains of is not what it prints.
    yield case("my backup.gz", "", b"old\n\n", old=b"old\n\n", dump="cat 'my backup.gz'")
    yield case("b.gz", "", b"rows\n", dump="mv once gone && cat gone", moved={"once": None, "gone": "rows\n"})
    yield case("b.gz", "echo words >&2\necho rows\necho words >&2\n", b"rows\n")
    for dump, data in (("printf '%s\\n' 'c\\t\\\\d\\c'", b"c\\t\\\\d\\c\n"), ("printf '%s' '*' \"  x\"", b"*  x"), ("cat; echo end", b"end\n"), ("printf %s\\\\n '$HOME' `echo b`", b"$HOME\nb\n"), ("echo a # b", b"a\n"), ("sleep 0 & echo a; wait", b"a\n")):
        yield case(random.choice(NAMES), "", data, old=random.choice([None, b"old"]), dump=dump)
    for dump, data in (("echo hi; exit 0", b"hi\n"), ("echo hi; exit", b"hi\n"), ("cd /; echo hi", b"hi\n"), ("echo b | cat", b"b\n"), ("false; echo hi", b"hi\n"), ("file=x; new=y; raw=z; draft=w; tmp=v; echo hi", b"hi\n"), ("set -- a b; echo $#", b"2\n"), ("exec echo hi", b"hi\n"), ("trap 'echo bye' EXIT; echo hi", b"hi\nbye\n"), ("printf a; printf 'b c'", b"ab c"), ("set -f; IFS=x; echo hi", b"hi\n")):
        yield case(random.choice(NAMES), "", data, old=random.choice([None, b"old"]), dump=dump)
    while True:
        data = some(random)
        yield case(random.choice(NAMES), quoted(data), data, old=random.choice([None, b"old", b""]))


def plain(random):
    yield case("b.gz", "echo rows\n", b"rows\n", old=b"old\n")
    yield case("b.gz", "echo rows\n", b"rows\n", old=None)
