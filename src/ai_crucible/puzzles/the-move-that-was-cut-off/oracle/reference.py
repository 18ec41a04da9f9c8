"""Right answers by a way of their own: what is on the disk is drawn as values first, and both formats are written here."""

KEYS = ["salt", "oil", "jar-1", "jar-2", "jar-10", "a", "end", "record", "rev", "b-", "x9", "part-0001", "book", "0"]
NAMES = ["shelf", "note", "end", "rev", "record", "x"]
VALUES = ["", "2", "two bags", " x ", "\\", "\\n", "a\\\\nb", "x\ny", "\n", "end\n", "\nend\n", "=", "a=b", "\r", "a\r\nb", "\u2028", "\x85x", "\x0b\x0c\x1c", "\t", "record a 1", "\\\n", "\n\\n\\", "ü€"]
OTHERS = {"notes.txt": "x\n", "a.rec.bak": "rev=1\nend\n", "part-1": "y", "part-00001": "", "BOOKS": "end\n", "a b.rec": "rev=1\nend\n", "tmp": "z", ".rec": "rev=1\nend\n"}
OURS = {"x.tmp": "half", "BOOK.tmp": "end\n", "part-0001.tmp": "", "part-0009": "old"}


def line(name, value):
    return name + "=" + "".join({"\\": "\\\\", "\n": "\\n"}.get(one, one) for one in value)


def old_text(revision, fields):
    return f"rev={revision}\n" + "".join(line(name, fields[name]) + "\n" for name in sorted(fields)) + "end\n"


def fields(random):
    return {name: random.choice(VALUES) for name in random.sample(NAMES, random.choice([0, 1, 2, 3]))}


def cased(random, key):
    return "".join(random.choice([one, one.upper()]) for one in key) if random.random() < 0.5 else key


def entry(random, keys=KEYS):
    """Return a record's file name, its text, and what it is; None where it is not whole."""
    name, revision, own = cased(random, random.choice(keys)) + ".rec", random.choice([1, 1, 2, 2, 3, 9, 10, 100]), fields(random)
    text = old_text(revision, own)
    if random.random() < 0.15:
        return name, text[: random.choice([0, 3, len(text) - 1, len(text) - 4, len(text) - 5, random.randrange(len(text))])], None
    return name, text, (revision, own)


def disk(random, most=14, keys=KEYS):
    """Return files, and what the records' files are."""
    files, known = {}, {}
    for _ in range(random.randint(0, most)):
        name, text, what = entry(random, keys)
        files[name], known[name] = text, what
    files |= {name: OTHERS[name] for name in random.sample(list(OTHERS), random.choice([0, 0, 2, 4]))}
    files |= {name: OURS[name] for name in random.sample(list(OURS), random.choice([0, 0, 1, 3]))}
    return files, known


def records(known):
    """Return the records that files mean: key, revision, fields."""
    best = {}
    for name in sorted(known, reverse=True):
        if known[name]:
            key, (revision, own) = name[: -len(".rec")].lower(), known[name]
            if key not in best or best[key][1] <= revision:
                best[key] = [key, revision, own]
    return best


def book(best):
    """Return the files of a book."""
    keys, files, rows = sorted(best), {}, ""
    for number, start in enumerate(range(0, len(keys), 4), 1):
        name, some = f"part-{number:04}", keys[start : start + 4]
        files[name] = "".join(f"record {key} {best[key][1]}\n" + "".join(" " + line(each, best[key][2][each]) + "\n" for each in sorted(best[key][2])) for key in some)
        rows += f"{name} {some[0]} {len(some)}\n"
    return {**files, "BOOK": rows + "end\n"}


def rests(random, files, known):
    """Put on a disk what a crash or an older migration may have left: parts, and a book that is not whole."""
    made = book(records(known))
    for name, text in made.items():
        if random.random() < 0.5:
            files[name] = random.choice([text[: random.randrange(len(text))], text[: -len("\n")], text[:-1], "", "end"]) if name == "BOOK" or random.random() < 0.6 else text
            if name == "BOOK" and (files[name] == "end\n" or files[name].endswith("\nend\n")):
                del files[name]
    if random.random() < 0.3:
        files["part-0001"] = "record zz 1\n shelf=9\n"
    return files


def moved(random, edited=False, dirty=False):
    while True:
        files, known = disk(random)
        if dirty:
            rests(random, files, known)
        cuts, changes = [], []
        for _ in range(random.choice([1, 1, 2, 3, 5])):
            edits, meant = {}, {}
            for _ in range(random.choice([1, 2, 6]) if edited else 0):
                whole = sorted(name for name in known if known[name])
                if whole and random.random() < 0.4:
                    # As long as it was, and yet another one.
                    name = random.choice(whole)
                    revision, own = known[name][0] ^ 1 if known[name][0] > 1 else 2, known[name][1]
                    edits[name], meant[name] = old_text(revision, own), (revision, own)
                elif random.random() < 0.4 and known:
                    name = random.choice(sorted(known))
                    edits[name], meant[name] = None, None
                else:
                    name, text, what = entry(random)
                    edits[name], meant[name] = text, what
            cuts.append([random.choice([1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 17]), random.choice([-1, 0.0, 0.3, 0.5, 0.9, 0.999, 1.0]), edits])
            changes.append(meant)
        others = {name: text for name, text in files.items() if name in OTHERS}
        yield {"args": [files, cuts], "holds": rightly(known, changes, others, dirty)}


def rightly(known, changes, others, dirty):
    def holds(seen):
        steps, final, count, written, again, same, last = seen
        state, calm = dict(known), True
        for (cut, edited, after, then), meant in zip(steps, changes, strict=True):
            if after != [records(state), True]:
                return False
            if edited:
                calm = False
                state |= meant
            if then != [records(state), True]:
                return False
        made = book(records(state))
        bound = written <= len(made) + count and (dirty or written >= len(made))
        return final == {**made, **others} and (bound or not calm) and again == 0 and same and last == [records(state), True]

    return holds


def cut_off(random):
    yield from moved(random)


def gone_on(random):
    yield from moved(random, edited=True)


def left(random):
    yield from moved(random, dirty=True)


def once(random):
    while True:
        files, known = disk(random, random.choice([1, 4, 5, 9, 30]), KEYS + [f"k{number}" for number in range(40)])
        made = book(records(known))
        yield {"args": [files], "expect": [len(made), {**made, **{name: text for name, text in files.items() if name in OTHERS}}], "args_after": [files]}


def old(random):
    while True:
        puts, answers, files, best = [], [], {}, {}
        for _ in range(random.randint(1, 6)):
            key, own = cased(random, random.choice(KEYS[:5])), fields(random)
            if random.random() < 0.15:
                key = random.choice(["", "a b", "ä", "a.b", "a/b"])
                puts.append([key, own])
                answers.append("refused")
                continue
            if random.random() < 0.1:
                own = {**own, random.choice(["", "A", "a-b", "x1"]): "x"}
                puts.append([key, own])
                answers.append("refused")
                continue
            puts.append([key, own])
            key = key.lower()
            best[key] = [key, best[key][1] + 1 if key in best else 1, own]
            answers.append(best[key])
            files[key + ".rec"] = old_text(best[key][1], own)
        yield {"args": [puts], "expect": [answers, files, [best, True]]}


def read(random):
    """Yield disks in either format, as they are loaded."""
    for text, there in (("rev=1\nend\n", True), ("rev=1\nend", False), ("", False), ("end\n", False), ("rev=1\nx=end\n", False), ("rev=1\nx=1\nend=2\n", False), ("rev=1\nx=1\nend=2\nend\n", True)):
        own = {} if text == "rev=1\nend\n" else {"x": "1", "end": "2"}
        yield {"args": [{"A.rec": text}], "expect": [{"a": ["a", 1, own]} if there else {}, True]}
    for text, there in (("end\n", True), ("end", False), ("part-0001 a 1\nend\n", True), ("part-0001 a 1\nend", False), ("part-0001 a 1\nbend\n", False), ("", False)):
        files = {"BOOK": text, "part-0001": "record a 7\n x= y\n", "a.rec": "rev=2\nend\n"}
        own = ["a", 7, {"x": " y"}] if there and "part" in text else None
        yield {"args": [files], "expect": [({"a": own} if own else {}) if there else {"a": ["a", 2, {}]}, True]}
    while True:
        files, known = disk(random)
        if random.random() < 0.5:
            files |= book(records(known))
        yield {"args": [files], "expect": [records(known), True], "args_after": [files]}


def firm(random):
    yield {"args": [], "expect": True}


def commands(random):
    yield {"args": [{}, ["put", "Salt", "shelf=2", "note=a=b"], ["put", "salt"], ["put", "oil", "x"], ["show"], ["migrate"], ["show"], ["put", "a"]], "expect": [[[0, "Salt has revision 1\n"], [0, "salt has revision 2\n"], [0, "oil has revision 1\n"], [0, "oil (1)\n  x: ''\nsalt (2)\n"], [0, ""], [0, "oil (1)\n  x: ''\nsalt (2)\n"], [1, ""]], {"BOOK": "part-0001 oil 2\nend\n", "part-0001": "record oil 1\n x=\nrecord salt 2\n"}]}
    yield {"args": [{"a.rec": "rev=3\nx=1\r\nend\n"}, ["show"], ["what"]], "expect": [[[0, "a (3)\n  x: '1\\r'\n"], [2, ""]], {"a.rec": "rev=3\nx=1\r\nend\n"}]}


def suite(random):
    names = ["tests/test_formats.py", "tests/test_migrate.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 7 and set(seen.values()) == {"passed"}}
