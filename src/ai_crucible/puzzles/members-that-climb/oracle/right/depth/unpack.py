def _parts(path):
    return [part for part in path.split("/") if part not in ("", ".")]


def _walk(parts, depth):
    """The depth at the end of the way, or -1 if it climbs above the folder."""
    for part in parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return -1
    return depth


def _safe(name, kind, target):
    if any(bad in text for bad in "\\\0" for text in (name, target)):
        return False
    if not name or name.startswith("/"):
        return False
    parts = _parts(name)
    if _walk(parts, 0) < 0:
        return False
    if kind != "link":
        return True
    if not parts or parts[-1] == ".." or not target or target.startswith("/"):
        return False
    return _walk(_parts(target), _walk(parts[:-1], 0)) >= 0


def allowed(members):
    return [name for name, kind, target in members if _safe(name, kind, target)]
