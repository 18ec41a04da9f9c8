"""Right answers by a way of their own, and the inputs that they are asked for."""

WORDS = ["a", "b,c", "", "  x ", "\u00e9", "\u2028y", "t\tz", "form\x0cfeed", "\x1c", "\x85", "c\rd", "\ufeff", "\r", "\x0b", '"q', "\u00a0", "\0"]


def case(rows, limit, header="h,i", folder="out", end="\n", put=None):
    text = "\n".join([header, *rows]) + end
    wanted = {} if folder in ("there", ".") else {folder + "/": ""}
    parts = max(1, -(-len(rows) // limit))
    for number in range(parts):
        part = [header, *rows[number * limit : (number + 1) * limit]]
        name = f"part-{number + 1:03}.csv"
        wanted[name if folder == "." else f"{folder}/{name}"] = "".join(row + "\n" for row in part)
    expect = {"exit": 0, "stdout": f"{len(rows)}\n", "complains": False, "changed": wanted}
    return {"args": [["python3", "export.py", "in.csv", folder, str(limit)], {"in.csv": text, "there/old": "x", **(put or {})}], "expect": expect}


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
    yield case(["a"], 10**15)
    yield case([], 1, end="")
    while True:
        rows = [random.choice("abc") for _ in range(random.randint(0, 6))]
        yield case(rows, random.randint(max(1, len(rows)), 9))


def no_limit(random):
    for limit in ("0", "-1", "-7"):
        for folder in ("out", "there"):
            put = {"in.csv": "h\na\n", "there/part-001.csv": "old\n"}
            yield {"args": [["python3", "export.py", "in.csv", folder, limit], put], "holds": lambda seen: seen["exit"] == 2 and not seen["changed"]}
