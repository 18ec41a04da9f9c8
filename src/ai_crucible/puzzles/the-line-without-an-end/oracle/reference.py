"""Right answers by a way of their own: both texts are known before the diff between them is written."""

import difflib

MARKER = "\\ No newline at end of file\n"


def lines_of(text):
    return text.splitlines(True) if "\r" not in text else [part + "\n" for part in text.split("\n")[:-1]] + [text.split("\n")[-1]] * bool(text.split("\n")[-1])


def write(old, new, context, old_name="a/x", new_name="b/x"):
    """Write a diff; the marker stands after each line without an end."""
    a, b = lines_of(old), lines_of(new)
    out = [f"--- {old_name}\n", f"+++ {new_name}\n"]
    for group in difflib.SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(context):
        i, j, k, l = group[0][1], group[-1][2], group[0][3], group[-1][4]
        span = lambda start, end: f"{start + 1}" if end - start == 1 else f"{start + (end > start)},{end - start}"
        out.append(f"@@ -{span(i, j)} +{span(k, l)} @@\n")
        for tag, i1, i2, j1, j2 in group:
            edits = [(" ", line) for line in a[i1:i2]] if tag == "equal" else [("-", line) for line in a[i1:i2]] + [("+", line) for line in b[j1:j2]]
            for mark, line in edits:
                out.append(mark + line if line.endswith("\n") else f"{mark}{line}\n{MARKER}")
    return "".join(out) if len(out) > 2 else ""


def some_text(random, most=14, ended=None):
    letters = random.choice(["ab", "abcdef", "abcdefghijkl"])
    lines = [random.choice([*letters, "", " x", "-y", "+z", "\\ w", "a\r"]) for _ in range(random.randint(0, most))]
    text = "".join(line + "\n" for line in lines)
    ended = random.random() < 0.5 if ended is None else ended
    return text if ended or not text.strip("\n") else text[:-1]


def changed(random, text, ended=None):
    lines = lines_of(text)
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(lines))
        lines[place : place + random.randint(0, 2)] = random.choices(["n\n", "m\n", "a\n", "\n"], k=random.randint(0, 2))
    ended = random.random() < 0.5 if ended is None else ended
    lines = [line if line.endswith("\n") else line + "\n" for line in lines]
    text = "".join(lines)
    return text if ended or not lines or lines[-1] == "\n" else text[:-1]


def plain(random):
    while True:
        old = some_text(random, ended=True)
        new = changed(random, old, ended=True)
        yield {"args": [old, write(old, new, random.choice([0, 1, 3]))], "expect": new}


def without_end(random):
    for old, new in (("a", "b"), ("a\n", "a"), ("a", "a\n"), ("", "x"), ("x", ""), ("a\nb", "a\nb\nc"), ("a\nb", "c\nb"), ("a \t", "b \t"), ("a\r", "b\r\n"), ("\\ a", "\\ b")):
        yield {"args": [old, write(old, new, 3)], "expect": new}
    while True:
        old = some_text(random)
        new = changed(random, old)
        yield {"args": [old, write(old, new, random.choice([0, 1, 3]))], "expect": new}


def back(random):
    while True:
        old = some_text(random)
        new = changed(random, old)
        yield {"args": [new, write(old, new, random.choice([0, 1, 3])), True], "expect": old}


def moved(random):
    """Yield texts of few letters and hunks that say wrong places."""
    yield {"args": ["x\nx\na\nb\na\nb\n", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+1\n@@ -3 +3 @@\n-a\n+2\n"], "expect": "x\nx\n1\nb\n2\nb\n"}
    yield {"args": ["b\na\nb\n", "--- a\n+++ b\n@@ -2 +2 @@\n-b\n+1\n"], "expect": "1\na\nb\n"}
    yield {"args": ["a\nq\n", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+1\n@@ -2 +2 @@\n-a\n+2\n"], "expect": ["conflict", 2]}
    yield {"args": ["a\n", "--- a\n+++ b\n@@ -2,0 +3 @@\n+x\n"], "expect": ["conflict", 1]}
    yield {"args": ["q\na\nb\n", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+A\n@@ -1,0 +2 @@\n+x\n"], "expect": "q\nA\nx\nb\n"}
    yield {"args": ["a\nb\n", "--- a\n+++ b\n@@ -2 +2 @@\n-b\n+B\n@@ -1,0 +2 @@\n+x\n"], "expect": ["conflict", 2]}
    while True:
        lines = random.choices(["a\n", "b\n", "c\n"], k=random.randint(3, 24))
        hunks, at, shift = [], 0, random.choice([0, 0, 1, 2, 3, -1, -2, 7])
        for _ in range(random.randint(1, 4)):
            at += random.randint(0, 5)
            count = random.choice([0, 1, 1, 2, 2])
            old = lines[at : at + count] if random.random() < 0.93 else ["z\n"]
            if not old and count:
                break
            new = random.choices(["X\n", "Y\n", "a\n"], k=random.randint(0 if old else 1, 2))
            hunks.append((max(0, at + shift), old, new))
            at += len(old)
            shift += random.choice([0, 0, 0, 1, -1, 3])
        if not hunks:
            continue
        text = "--- a\n+++ b\n"
        for place, old, new in hunks:
            text += f"@@ -{place + bool(old)},{len(old)} +{place + 1},{len(new)} @@\n" + "".join("-" + line for line in old) + "".join("+" + line for line in new)
        yield {"args": ["".join(lines), text], "expect": step_by_step(lines, hunks)}


def step_by_step(lines, hunks):
    """Replace one hunk after another in the text itself; what is done is fenced off by its length."""
    text, fence, grown, away = list(lines), 0, 0, 0
    for number, (place, old, new) in enumerate(hunks, 1):
        wanted = place + away + grown
        fits = [at for at in range(fence, len(text) - len(old) + 1) if text[at : at + len(old)] == old]
        fits = [at for at in fits if old or at == wanted]
        if not fits:
            return ["conflict", number]
        nearest = min(abs(at - wanted) for at in fits)
        at = wanted - nearest if wanted - nearest in fits else wanted + nearest
        text[at : at + len(old)] = new
        away, fence = at - grown - place, at + len(new)
        grown += len(new) - len(old)
    return "".join(text)


def faults(random):
    head = "--- a/x\n+++ b/x\n"
    for text, expect in (
        ("@@ -1 +1 @@\n-a\n+b\n", ["fault", 1]), (head + "@@ -1 +1 @@\n-a\n", ["fault", 3]), (head + "@@ -1 +1 @@\n-a\n-b\n+c\n", ["fault", 3]),
        (head + "@@ -1 +1 @@\n-a\n+b\n+c\n", "b\n"), (head + "@@ -1 +1 @@\n-a\n*b\n", ["fault", 5]), (head + "@@ x @@\n", ["fault", 3]),
        (head + "@@ -1 +1 @@\n" + MARKER + "-a\n+b\n", ["fault", 4]), (head + "@@ -1,2 +1 @@\n-a\n+b\n", ["fault", 3]), ("nothing\n", "a\n"), ("", "a\n"),
        (head + "@@ -1 +1,2 @@\n-a\n+b\n", ["fault", 3]), (head + "@@ -1 +1 @@\n-a\n+b", "b\n"), (head + "@@ -1 +1 @@\n-a\n+b\n\nmore words\n", "b\n"),
        ("nothing\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", ["fault", 3]),
        ("--- a/x\nno\n" + head + "@@ -1 +1 @@ f()\n-a\n+b\n", "b\n"), (head, "a\n"), (head + "@@ -1 +1 @@\n-a\n+\n", "\n"), (head + "@@ -1 +1,0 @@\n-a\n", ""),
        (head + "@@ -1 +1 @@\n-z\n+b\n", ["conflict", 1]), ("--- x\n", "a\n"), (head + "@@ -1,0 +2 @@\n+b\n" + MARKER, "a\nb"),
    ):
        yield {"args": ["a\n", text], "expect": expect}


def told(random):
    head, hunk = "--- a/x\n+++ b/x\n", "@@ -1 +1 @@\n"
    for text, begins, word in (
        (head + hunk + "-a\n-b\n+c\n", "line 3:", "longer"), (head + hunk + "-a\n", "line 3:", "shorter"), (hunk + "-a\n+b\n", "line 1:", "no file"),
        (head + "@@ x @@\n", "line 3:", "where"), (head + hunk + MARKER, "line 4:", "before"), (head + hunk + "-a\n*b\n", "line 5:", "neither"),
        (head + hunk + "+b\n+c\n-a\n", "line 3:", "longer"), (head + hunk + "-a\nXb\n", "line 5:", "neither"),
        (head + hunk + "-z\n+b\n", "hunk 1", "fit"), (head + hunk + "-a\n+b\n" + hunk + "-z\n+c\n", "hunk 2", "fit"),
    ):
        yield {"args": ["a\n", text], "holds": lambda seen, begins=begins, word=word: seen.startswith(begins) and word in seen}


def folders(random):
    """Yield patches of several files; now and then one of them fits nowhere, or says a bad name."""
    while True:
        before, after, parts, names = {}, {}, [], []
        good = random.random() < 0.6
        for name in random.sample(["x", "n/y", "n/z", "deep/er/w", "b"], random.randint(2, 4)):
            old = some_text(random, 6) or "q\n"
            kind = random.choice(["change", "change", "make", "remove", "rename"])
            new = changed(random, old)
            new = new if new != old else old + ("\n" if not old.endswith("\n") else "") + "end\n"
            target = "moved/" + name if kind == "rename" else name
            if kind == "make":
                parts.append(write("", new or "k\n", 3, "/dev/null", "b/" + name))
                after[name] = new or "k\n"
            else:
                before[name] = old
                new = "" if kind == "remove" else new
                parts.append(write(old, new, random.choice([1, 3]), "a/" + name, "/dev/null" if kind == "remove" else "b/" + target))
                if kind != "remove":
                    after[target] = new
            names += [name, target]
        if good and random.random() < 0.3 and "x" in after and "x" in before:
            parts.append(write(after["x"], after["x"] + ("" if after["x"].endswith("\n") or not after["x"] else "\n") + "twice\n", 3))
            after["x"] += ("" if after["x"].endswith("\n") or not after["x"] else "\n") + "twice\n"
        if good:
            yield {"args": [before, "".join(parts)], "expect": [0, "".join(f"{name}\n" for name in sorted(set(names))), after]}
            continue
        bad = random.choice([
            write("nobody\nhas this\n", "no\n", 3, "a/x2", "b/x2"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-nowhere to be seen\n+1\n", "--- /dev/null\n+++ b/../up\n@@ -0,0 +1 @@\n+1\n", "--- /dev/null\n+++ b//\n@@ -0,0 +1 @@\n+1\n",
        ])
        place = random.randint(0, len(parts))
        yield {"args": [before, "".join([*parts[:place], bad, *parts[place:]])], "expect": [1, "", before]}


def shown(random):
    """Yield tables, names with other parts, and what is taken back."""
    one = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+A\n+B\n"
    yield {"args": [{"x": "a\n"}, one, "--table"], "expect": [0, " b/x | 3 ++-\n 1 file, 2 gained, 1 lost\n", {"x": "a\n"}]}
    yield {"args": [{"x": "A\nB\n"}, one, "-R"], "expect": [0, "x\n", {"x": "a\n"}]}
    yield {"args": [{"a/x": "a\n", "b/x": "q\n"}, one, "-p", "0"], "expect": [0, "a/x\nb/x\n", {"b/x": "A\nB\n"}]}
    yield {"args": [{"x": "a\n"}, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"], "expect": [0, "x\n", {}]}
    yield {"args": [{"x": "a\nb\n"}, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"], "expect": [1, "", {"x": "a\nb\n"}]}
    yield {"args": [{"x": "a\n"}, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n"], "expect": [2, "", {"x": "a\n"}]}
    yield {"args": [{"x": "a\r\nb"}, "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\r\n b\n\\ No newline at end of file\n"], "expect": [0, "x\n", {"x": "b"}]}
    yield {"args": [{}, "--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+1\n--- a/y\n+++ b/z\n@@ -1 +1 @@\n-1\n+2\n"], "expect": [0, "y\nz\n", {"z": "2\n"}]}
    yield {"args": [{"x": "1\n"}, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"], "expect": [1, "", {"x": "1\n"}]}
    yield {"args": [{"a/b/x": "1\n"}, "--- u/v/a/b/x\n+++ u/v/a/b/x\n@@ -1 +1 @@\n-1\n+2\n", "-p2"], "expect": [0, "a/b/x\n", {"a/b/x": "2\n"}]}
    yield {"args": [{"x": "1\n"}, "--- x\n+++ x\n@@ -1 +1 @@\n-1\n+2\n"], "expect": [1, "", {"x": "1\n"}]}
    yield {"args": [{"x": "\u00e9\n"}, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\u00e9\n+\u00fc\n"], "expect": [0, "x\n", {"x": "\u00fc\n"}]}


def suite(random):
    names = ["tests/test_parse.py", "tests/test_apply.py", "tests/test_folder.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 12 and set(seen.values()) == {"passed"}}
