"""Right answers by a way of their own: both texts are known before the diff between them is written."""

import difflib

#: Lines that look like parts of a diff, or hold what other programs end a line at.
ODD = ["\\ No newline at end of file", "-- a/x", "++ b/x", "@ -1 +1 @@", "@@ -1 +1 @@", "a\u2028b", "a\x0cb\x85", "\x1c", " a ", "\u00e9\t", "diff"]
MARKER = "\\ No newline at end of file\n"


def lines_of(text):
    *ended, last = text.split("\n")
    return [part + "\n" for part in ended] + [last] * bool(last)


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
    lines = [random.choice([*letters, "", " x", "-y", "+z", "\\ w", "a\r", *ODD]) for _ in range(random.randint(0, most))]
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
        seen = step_by_step(lines, hunks)
        # Whether a hunk that was found where it says takes back what one before it said is left open.
        if seen == step_by_step(lines, hunks, kept=True):
            yield {"args": ["".join(lines), text], "expect": seen}


def step_by_step(lines, hunks, kept=False):
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
        away, fence = at - grown - place or away * kept, at + len(new)
        grown += len(new) - len(old)
    return "".join(text)


def moved_ends(random):
    """Yield texts whose last line has no end, or has one where the hunk has none, and hunks that say wrong places."""
    hunk = "--- a\n+++ b\n@@ -1 +1 @@\n-a\n"
    for text, more, seen in (
        ("a\na\na", MARKER + "+b\n", "a\na\nb\n"), ("a\na\na", "+b\n", "b\na\na"), ("a\na\na", MARKER + "+b\n" + MARKER, "a\na\nb"), ("a\na\n", MARKER + "+b\n", ["conflict", 1]), ("x\na", "+b\n", ["conflict", 1]),
        ("a", MARKER + "+a\n", "a\n"), ("a\n", "+a\n" + MARKER, "a"), ("x\na\r", MARKER, ["conflict", 1]), ("x\n\na", MARKER + "+\n", "x\n\n\n"), ("a\nz", "+b\n@@ -2 +2,2 @@\n-z\n" + MARKER + "+y\n+z\n" + MARKER, "b\ny\nz"),
    ):
        yield {"args": [text, hunk + more], "expect": seen} if "+" in more else {"args": [text, hunk.replace("+1 @@", "+0,0 @@") + more], "expect": seen}
    while True:
        lines = random.choices(["a\n", "b\n"], k=random.randint(2, 12))
        at = random.randint(0, len(lines) - 1)
        tail, shift = lines[at:], random.choice([-3, -1, 0, 1, 2, 9])
        bare, bare_new = random.random() < 0.7, random.random() < 0.5
        text = "".join(lines)[: -1 if bare else None]
        new = random.choices(["X\n", "a\n"], k=random.randint(1, 2))
        if not bare and any(lines[other : other + len(tail)] == tail for other in range(at)):
            continue  # a line without an end before others is left open
        body = "".join("-" + line for line in tail) + MARKER * bare + "".join("+" + line for line in new) + MARKER * bare_new
        patch = f"--- a\n+++ b\n@@ -{max(at + 1 + shift, 1)},{len(tail)} +1,{len(new)} @@\n{body}"
        if bare:
            yield {"args": [text, random.choice([patch, patch.removesuffix("\n") if bare_new else patch])], "expect": "".join(lines[:at] + new)[: -1 if bare_new else None]}
        else:
            yield {"args": [text, patch], "expect": "".join(lines[:at] + new)[: -1 if bare_new else None]}


def markers(random):
    """Yield places in which the marker speaks of something, or of nothing."""
    head, one = "--- a/x\n+++ b/x\n", "@@ -1 +1 @@\n"
    for text, patch, seen in (
        ("a\nz\n", head + one + "-a\n+b\n\nwords\n" + MARKER + "@@ -2 +2 @@\n-z\n+y\n", "b\ny\n"), ("a\n", head + MARKER + one + "-a\n+b\n", "b\n"), ("a\n", MARKER + head + one + "-a\n+b\n", "b\n"), ("a\n", "words\n" + MARKER, "a\n"),
        ("a\nz\n", head + one + "-a\n+b\n@@ -2 +2 @@\n" + MARKER + "-z\n+y\n", ["fault", 7]), ("a", head + one + "-a\n" + MARKER + "+b\n*c\n", "b\n"), ("a", head + "@@ -1,2 +1 @@\n-a\n" + MARKER + "+b\n*c\n", ["fault", 7]),
        ("a", head + "@@ -1,2 +1 @@\n-a\n" + MARKER + "+b\n", ["fault", 3]), ("a", head + "@@ -1 +1,0 @@\n-a\n" + MARKER + "+b\n", ""), ("a", head + one + "-a\n" + MARKER + "-b\n+c\n", ["fault", 3]), ("a", head + one + "-a\n" + MARKER + "+b\n" + MARKER + "@@ x\n", ["fault", 8]),
        ("q\na", head + "@@ -1,2 +1,2 @@\n-q\n+Q\n a\n" + MARKER, "Q\na"), ("a\nb", head + "@@ -1,2 +1 @@\n-a\n b\n" + MARKER, "b"), ("a\nb\n", head + "@@ -1,2 +1 @@\n a\n-b\n+b\n".replace("+1 @@", "+1,2 @@") + MARKER, "a\nb"),
        ("a\r\nb\r", head + "@@ -1,2 +1,2 @@\n-a\r\n+A\r\n b\r\n" + MARKER, "A\r\nb\r"), ("\\ No newline at end of file", head + one + "-\\ No newline at end of file\n" + MARKER + "+\\ x\n" + MARKER, "\\ x"), ("a ", head + one + "-a \n" + MARKER + "+b\t\n" + MARKER, "b\t"),
        ("", head + "@@ -0,0 +1 @@\n+a\n" + MARKER, "a"), ("a", head + "@@ -1 +0,0 @@\n-a\n" + MARKER, ""), ("x\n" * 5 + "a", head + "@@ -1 +1,2 @@\n-a\n" + MARKER + "+a\n+b\n" + MARKER, "x\n" * 5 + "a\nb"),
    ):
        yield {"args": [text, patch], "expect": seen}
    big = [f"{number % 7}\n" for number in range(4000)]
    yield {"args": ["".join(big) + "end", head + "@@ -1 +1 @@\n-end\n" + MARKER + "+END\n" + MARKER], "expect": "".join(big) + "END"}


def kept_as_they_are(random):
    """Yield patches that are read, applied and turned again and again: nothing is changed by that."""
    while True:
        old = some_text(random)
        new = changed(random, old)
        yield {"args": [old, write(old, new, random.choice([0, 1, 3]))], "expect": [new, new, old, new]}


def chains(random, back=False):
    """Yield patches that go on with what they have made; where the last fault stands, all is as it was."""
    for number in range(10**9):
        names = ["x", "n/y", "n/z", "deep/er/w", "b", "a name", "v"]
        before = {name: some_text(random, 6) or "q\n" for name in random.sample(names, random.randint(1, 4))}
        now, parts, touched = dict(before), [], []
        bad_at = None if back or random.random() < 0.5 else random.randint(0, 5)
        for place in range(random.randint(1, 6) if bad_at is None else bad_at + random.randint(1, 2)):
            if place == bad_at:
                parts.append(fault(random, before, now))
                continue
            kind = random.choice(["change", "change", "make", "remove", "rename", "bare", "swap"])
            name = random.choice(sorted(now)) if now else None
            free = [one for one in names if one not in now]
            if kind == "make" and free or name is None:
                target, text = random.choice(free), some_text(random, 4) or "k"
                parts.append(write("", text, 3, "/dev/null", "b/" + target))
                now[target] = text
                touched.append(target)
            elif kind == "remove":
                parts.append(write(now[name], "", 3, "a/" + name, "/dev/null") or f"--- a/{name}\n+++ /dev/null\n")
                del now[name]
                touched.append(name)
            elif kind in ("rename", "bare", "swap") and free:
                target = random.choice(free)
                text = now.pop(name)
                new = text if kind == "bare" else changed(random, text)
                parts.append(write(text, new, 1, "a/" + name, "b/" + target) or f"--- a/{name}\n+++ b/{target}\n")
                now[target] = new
                touched += [name, target]
            else:
                new = changed(random, now[name])
                if new != now[name]:
                    parts.append(write(now[name], new, random.choice([1, 3]), "a/" + name, "b/" + name))
                    now[name] = new
                    touched.append(name)
        if bad_at is not None:
            yield {"args": [before, "".join(parts)], "expect": [1, "", before, True]}
            continue
        if not parts or any(before.get(name) == now.get(name) for name in touched):
            continue  # whether what is as before is named is left open
        said = "".join(f"{name}\n" for name in sorted(set(touched)))
        yield {"args": [now, "".join(parts), "-R"] if back else [before, "".join(parts)], "expect": [0, said, before if back else now, True]}


def fault(random, before, now):
    """Return a part that does not fit now."""
    some = [
        "--- a/nobody\n+++ b/nobody\n@@ -1 +1 @@\n-1\n+2\n", "--- a/nobody\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", "--- a/nobody\n+++ b/else\n", "--- /dev/null\n+++ b/../up\n@@ -0,0 +1 @@\n+1\n", "--- /dev/null\n+++ /etc/up\n@@ -0,0 +1 @@\n+1\n".replace("/etc", "b/../etc"), "--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+1\n",
        "--- /dev/null\n+++ b/made/new\n@@ -1 +1 @@\n-1\n+2\n",
    ]
    gone = [name for name in before if name not in now]
    some += [f"--- a/{name}\n+++ b/{name}\n@@ -1,0 +2 @@\n+2\n" for name in gone]
    for name, text in now.items():
        some += [f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-nowhere\n+2\n", f"--- a/{name}\n+++ b/made/else\n@@ -1 +1 @@\n-nowhere\n+2\n", f"--- a/{name}\n+++ b/{name}\n@@ -99,0 +100 @@\n+2\n", f"--- a/{name}\n+++ b/../{name}\n"]
        if text:
            some.append(f"--- a/{name}\n+++ /dev/null\n")
            last = lines_of(text)[-1].removesuffix("\n")
            if text.endswith("\n") or last + "\n" not in lines_of(text):
                some.append(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{last}\n" + MARKER * text.endswith("\n") + "+2\n")
    return random.choice(some[-6:] + some)


def chains_back(random):
    yield from chains(random, back=True)


def chains_by_hand(random):
    one = "--- a/{0}\n+++ b/{1}\n@@ -1 +1 @@\n-{2}\n+{3}\n".format
    bad = one("x", "x", "nowhere", "1")
    for before, patch, seen in (
        ({"x": "1\n", "y": "2\n"}, one("x", "t", "1", "1") + one("y", "x", "2", "2") + one("t", "y", "1", "1"), {"x": "2\n", "y": "1\n"}), ({"x": "1\n"}, one("x", "y", "1", "2") + "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n", {"x": "new\n", "y": "2\n"}),
        ({"x": "1\n"}, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+2\n", {"x": "2\n"}), ({"x": "1\n2\n3\n"}, one("x", "x", "1", "A") + one("x", "x", "3", "C"), {"x": "A\n2\nC\n"}), ({"x": "1\n"}, one("x", "x", "1", "2") + one("x", "x", "1", "3"), None),
        ({"x": "1\n"}, one("x", "y", "1", "2") + one("x", "x", "1", "3"), None), ({"x": "1\n"}, "--- /dev/null\n+++ b/n/m/y\n@@ -0,0 +1 @@\n+1\n" + bad, None), ({"x": "1\n", "n/y": "1\n"}, "--- a/n/y\n+++ b/m/y\n" + bad, None), ({"x": "1\n", "y": "1\n2\n"}, one("x", "x", "1", "2") + "--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", None),
        ({"x": "1\n", "y": "1\n2\n"}, "--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n" + one("x", "x", "1", "2"), None), ({"x": "1\n", "d/y": "1\n"}, one("x", "x", "1", "2") + one("d", "d", "1", "2"), None), ({"x": "0\n0\na\n", "y": "a\n0\na\n"}, one("x", "x", "a", "A") + "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+A\n", {"x": "0\n0\nA\n", "y": "A\n0\na\n"}),
        ({"x": "1\n"}, one("x", "x", "1", "2") + "--- x\n+++ x\n@@ -1 +1 @@\n-2\n+3\n", None), ({"x": "1\n"}, one("x", "x", "1", "2") + "--- a/x\n+++ b\n@@ -1 +1 @@\n-2\n+3\n", None), ({"x": "1\n", "y": "1\n"}, one("x", "x", "1", "2") + one("y", "y", "1", "2") + one("x", "x", "2", "3") + one("y", "y", "9", "3"), None),
    ):
        yield {"args": [before, patch], "holds": lambda got, before=before, seen=seen: got[0] == (1 if seen is None else 0) and got[2:] == [before if seen is None else seen, True] and (seen is not None or got[1] == "")}


def plain_folders(random):
    """Yield what has always been so: files that are there are written over, and what they are stays."""
    one = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"
    for before, patch, words, seen in (
        ({"x": "1\n", "y": "9\n"}, "--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+1\n", [], [0, "y\n", {"x": "1\n", "y": "1\n"}, True]), ({"x": "1\n", "y": "9\n"}, "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n", [], [0, "x\ny\n", {"y": "2\n"}, True]), ({"x": "1\n"}, "", [], [0, "", {"x": "1\n"}, True]),
        ({}, "--- /dev/null\n+++ b/n/y\n", [], [0, "n/y\n", {"n/y": ""}, True]), ({"x": ""}, "--- a/x\n+++ /dev/null\n", [], [0, "x\n", {}, True]), ({"x": "1\n"}, one.replace("a/x", "../x"), [], [0, "x\n", {"x": "2\n"}, True]), ({"x": "1\n"}, one.replace("b/x", "b/./x"), [], [0, "x\n", {"x": "2\n"}, True]),
        ({"a name": "1\n"}, one.replace("/x\n", "/a name\t2026-01-01 00:00\n"), [], [0, "a name\n", {"a name": "2\n"}, True]), ({"x": "1\n"}, one, ["-p", "9"], [1, "", {"x": "1\n"}, True]), ({"x": "1\n"}, "@@ -1 +1 @@\n-1\n+2\n", [], [2, "", {"x": "1\n"}, True]), ({"x": "1\n"}, one + "@@ -1,3 +1 @@\n-a\n", [], [2, "", {"x": "1\n"}, True]),
        ({"x": "1\n"}, one, ["--table"], [0, " b/x | 2 +-\n 1 file, 1 gained, 1 lost\n", {"x": "1\n"}, True]), ({"x": "1\n"}, one.replace("+2\n", "+2\n" + MARKER), ["--table", "-R"], [0, " a/x | 2 +-\n 1 file, 1 gained, 1 lost\n", {"x": "1\n"}, True]), ({"x": "1\n"}, one + "--- a/z\n+++ /dev/null\n@@ -1,60 +0,0 @@\n" + "-z\n" * 60, ["--table"], [0, " b/x |  2 +-\n a/z | 60 " + "-" * 40 + "\n 2 files, 1 gained, 61 lost\n", {"x": "1\n"}, True]),
    ):
        yield {"args": [before, patch, *words], "expect": seen}


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
    yield {"args": [{}, "--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+1\n--- a/y\n+++ b/z\n@@ -1 +1 @@\n-1\n+2\n"], "holds": lambda seen: seen[0] == 0 and "z\n" in seen[1] and seen[2] == {"z": "2\n"}}
    yield {"args": [{"x": "1\n"}, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"], "expect": [1, "", {"x": "1\n"}]}
    yield {"args": [{"a/b/x": "1\n"}, "--- u/v/a/b/x\n+++ u/v/a/b/x\n@@ -1 +1 @@\n-1\n+2\n", "-p2"], "expect": [0, "a/b/x\n", {"a/b/x": "2\n"}]}
    yield {"args": [{"x": "1\n"}, "--- x\n+++ x\n@@ -1 +1 @@\n-1\n+2\n"], "expect": [1, "", {"x": "1\n"}]}
    yield {"args": [{"x": "\u00e9\n"}, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\u00e9\n+\u00fc\n"], "expect": [0, "x\n", {"x": "\u00fc\n"}]}


def suite(random):
    names = ["tests/test_parse.py", "tests/test_apply.py", "tests/test_folder.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 12 and set(seen.values()) == {"passed"}}
