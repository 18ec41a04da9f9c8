import posixpath


def safe(path):
    return bool(path) and not posixpath.isabs(path) and "\\" not in path and "\0" not in path and not posixpath.normpath(path).startswith("..")


def allowed(members):
    kept = []
    for name, kind, target in members:
        if safe(name) and (kind != "link" or safe(posixpath.join(posixpath.dirname(name), target))):
            kept.append(name)
    return kept
