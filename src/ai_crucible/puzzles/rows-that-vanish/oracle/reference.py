"""Right answers by a way of their own, and the inputs that they are asked for."""

WORDS = ["a", "b,c", "", "  x ", "\u00e9", "\u2028y", "t\tz", "form\x0cfeed", "\x1c", "\x85", "c\rd", "\ufeff", "\r", "\x0b", '"q', "\u00a0", "\0"]


def case(rows, limit, header="h,i", folder="out", end="\n", put=None, source="in.csv"):
    text = "\n".join([header, *rows]) + end
    folder, given = folder.removeprefix("./"), folder
    steps = [] if folder in ("there", ".") else folder.split("/")
    wanted = {"/".join(steps[: count + 1]) + "/": "" for count in range(len(steps)) if steps[count] != "there"}
    parts = max(1, -(-len(rows) // limit))
    for number in range(parts):
        part = [header, *rows[number * limit : (number + 1) * limit]]
        name = f"part-{number + 1:03}.csv"
        wanted[name if folder == "." else f"{folder}/{name}"] = "".join(row + "\n" for row in part)
    expect = {"exit": 0, "stdout": f"{len(rows)}\n", "complains": False, "changed": wanted}
    return {"args": [["python3", "export.py", source, given, str(limit)], {source: text, "there/old": "x", **(put or {})}], "expect": expect}


def many(random):
    yield case(list("abcde"), 2)
    yield case(list("abcd"), 2)
    yield case(list("abcde"), 1)
    yield case(["a", "", ""], 2)
    yield case(["a", "b", "c"], 2, end="")
    yield case([str(n) for n in range(1100)], 1)
    yield case(["x"] * 7, 3, folder="there")
    yield case(["x"] * 7, 3, folder=".")
    yield case(["x"] * 3, 2, folder="there/new")
    yield case(["x"] * 3, 2, folder="there", put={"there/part-001.csv": "an old one, and longer than the new one\n" * 3})
    yield case(["a", "b"], 1, header="\ufeffh")
    yield case(["x"] * 2999, 2998)
    yield case(["a", "b"], 1, header="")
    yield case(["a", "b"], 1, header="é\r")
    yield case(["", "", ""], 1)
    yield case(["a", "", " ", "\t"], 2, end="")
    yield case(["a", "b\r"], 1, end="")
    yield case(["h,i", "h,i", "h,i"], 2)
    yield case(["x" * 100_000, "y", "é" * 50_000], 2)
    yield case(['"a', 'b"', '"c""', "'d'"], 2, header='"h')
    yield case(["b", "a", "b", "A", "10", "9"], 4)
    yield case(["x"] * 9, 4, folder="there/my out ")
    yield case(["x"] * 9, 4, folder="./out")
    yield case(["x"] * 9, 3, source="in dir/my in.csv")
    yield case(["x"] * 9, 8, source="there/in.txt", folder="there")
    yield case(["#a", "-b", "=1+1", "%s", "\\n", "{}"], 5)
    while True:
        limit = random.randint(1, 6)
        rows = [random.choice(WORDS) + str(random.randint(0, 9)) for _ in range(random.choice([limit + 1, 2 * limit, 2 * limit + 1, random.randint(limit + 1, 30)]))]
        yield case(rows, limit, header=random.choice(["h", "a,b", "\u00e9,\u2028", "\ufeffh,i", "h\r"]), folder=random.choice(["out", "there", "my out"]), end=random.choice(["\n", ""]))


def odd_rows(random):
    for word in WORDS:
        yield case([word + "1", "2" + word], 5, header="h" + word)


def few(random):
    yield case(["a", "b"], 9)
    yield case([], 9)
    for limit in (10**15, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30):
        yield case(["a", "b"], limit)
    yield case([], 1, end="")
    yield case(["a"], 1)
    yield case([""], 1)
    yield case([], 1, header="")
    yield case([], 5, header="é")
    yield case(["a", ""], 2)
    yield case(["a", "b"], 2, end="")
    yield case([" a ", "\t"], 2, header=" h ")
    while True:
        rows = [random.choice("abc") for _ in range(random.randint(0, 6))]
        yield case(rows, random.randint(max(1, len(rows)), 9))


def no_limit(random):
    for limit in ("0", "-1", "-7", "-1000000", "-9223372036854775809", "-1" + 30 * "0"):
        for folder in ("out", "there"):
            put = {"in.csv": "h\na\n", "there/part-001.csv": "old\n"}
            yield {"args": [["python3", "export.py", "in.csv", folder, limit], put], "holds": lambda seen: seen["exit"] == 2 and not seen["changed"]}
