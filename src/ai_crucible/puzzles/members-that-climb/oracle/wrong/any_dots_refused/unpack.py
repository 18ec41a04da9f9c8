def parts_of(path):
    return [part for part in path.split("/") if part not in ("", ".")]


def climbs(parts):
    return ".." in parts


def plain(path):
    return bool(path) and not path.startswith("/") and "\\" not in path and "\0" not in path


def safe(name, kind, target):
    parts = parts_of(name)
    if not plain(name) or climbs(parts):
        return False
    if kind != "link":
        return True
    if not parts or parts[-1] == ".." or not plain(target):
        return False
    return not climbs(parts[:-1] + parts_of(target))


def allowed(members):
    return [name for name, kind, target in members if safe(name, kind, target)]
