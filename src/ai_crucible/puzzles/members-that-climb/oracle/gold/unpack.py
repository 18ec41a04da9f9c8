def climbs(path):
    depth = 0
    for part in path.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def safe(path):
    return bool(path) and not path.startswith("/") and "\\" not in path and "\0" not in path and not climbs(path)


def allowed(members):
    names = []
    for name, kind, target in members:
        if not safe(name):
            continue
        if kind == "link":
            folder = name.rsplit("/", 1)[0] + "/" if "/" in name else ""
            if target.startswith("/") or not safe(folder + target):
                continue
        names.append(name)
    return names
