"""Right answers by a way of their own, and the inputs that they are asked for."""

def parts_of(path):
    return [part for part in path.split("/") if part not in ("", ".")]


def stays(parts):
    held = []
    for part in parts:
        if part != "..":
            held.append(part)
        elif held:
            held.pop()
        else:
            return False
    return True


def plain(path):
    return path != "" and path[0] != "/" and not set(path) & {"\\", "\0"}


def safe(name, kind, target):
    parts = parts_of(name)
    if not plain(name) or not stays(parts):
        return False
    if kind != "link":
        return True
    return bool(parts) and parts[-1] != ".." and plain(target) and stays(parts[:-1] + parts_of(target))


def case(*members):
    members = [list(member) for member in members]
    return {"args": [members], "expect": [member[0] for member in members if safe(*member)]}


def path(random, most=5):
    pieces = [random.choice(["a", "b", "..", "..", ".", "", "..a", "...", "c d"]) for _ in range(random.randint(1, most))]
    return "/".join(pieces)


def names(random):
    for name in ("a/../../b", "x/../y", "..", "a/b/../../..", "a/../..", "./..", ".//..", "a/./../..", "a//../..", "..hidden", "...", "a..", "..a/b", ".", "./", "a/", "a/..", "a/../", "a/../b/../..", "a/b/c/../../../x", "a/b/c/../../../../x", "./a", "a/../../a", ". ./a", ".. /a"):
        for kind in ("file", "dir"):
            yield case((name, kind, ""))
    while True:
        yield case(*((path(random), random.choice(["file", "dir"]), "") for _ in range(random.randint(1, 4))))


def odd(random):
    for name in ("/etc/passwd", "a\\..\\b", "", "ok", "//a", "/", "a\\b", "\\", "C:\\x", "a\0", "\0", "a\0/../b", "a/\0b", "\0/.."):
        for kind in ("file", "dir", "link"):
            yield case((name, kind, "a" if kind == "link" else ""), ("ok", "file", ""))


def links(random):
    for member in (("l", "../x"), ("d/l", "../x"), ("m", "/etc"), ("d/e/n", "../../../x"), ("d/", ".."), ("d/.", ".."), ("d//", ".."), ("./d", ".."), ("./d", "."), ("d", "d/.."), ("a/..", "b"), ("a/b/..", "c"), (".", "a"), ("./", "a"), ("d/l", ".."), ("d/l/", ".."), ("d/l/", "../.."), ("d//l", "../.."), ("d/./l", "../.."), ("a/../l", ".."), ("a/../l", "x"), ("a/b/../l", ".."), ("a/b/../l", "../.."), ("l", ""), ("d/l", ""), ("l", "a\\b"), ("l", "a\0b"), ("d/l", "//x"), ("d/l", "a/../../x"), ("d/l", "a/../../../x"), ("../l", "x"), ("l", "..x"), ("l", "./../x"), ("l", "x/../.."), ("l", "x/../../l"), ("d/l", "a//../../../x"), ("d/l", "a/./../../../x"), ("l", "a//../.."), ("d/l", "a//../../x"), ("d//l", ".//../../x")):
        yield case((member[0], "link", member[1]))
    while True:
        yield case(*((path(random, 4), "link", random.choice([path(random, 4), path(random, 2), "/" + path(random, 2)])) for _ in range(random.randint(1, 3))))


def honest(random):
    yield case(("a", "file", ""), ("b/c", "dir", ""))
    yield case(("../a", "file", ""))
    yield case()
    yield case(("a", "file", ""), ("a", "file", ""), ("b/../c", "dir", ""))
    while True:
        pieces = lambda: "/".join(random.choice("abc") for _ in range(random.randint(1, 4)))
        yield case(*((pieces(), random.choice(["file", "dir"]), "") for _ in range(random.randint(1, 6))), ("l", "link", pieces()))
