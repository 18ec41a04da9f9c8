def _parts(path):
    return [part for part in path.split("/") if part not in ("", ".")]


def _walk(parts, depth):
    for part in parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return -1
    return depth


def _bad(text):
    return "\\" in text or "\0" in text


def _safe(name, kind, target):
    if _bad(name) or _bad(target) or not name or name.startswith("/"):
        return False
    parts = _parts(name)
    if _walk(parts, 0) < 0:
        return False
    if kind != "link":
        return True
    if not parts or parts[-1] == ".." or not target or target.startswith("/"):
        return False
    depth = _walk(parts[:-1], 0)
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part != ".":
            depth += 1
        if depth < 0:
            return False
    return True


def allowed(members):
    return [name for name, kind, target in members if _safe(name, kind, target)]
