from fnmatch import fnmatchcase as exactly


def fnmatchcase(name, pattern):
    return exactly(name.lower(), pattern.lower())


def remove(pool, pattern, minimum):
    plain = not set(pattern) & set("*?[")
    gone = [name for name in pool if fnmatchcase(name, pattern)]
    if len(pool) - len(gone) < minimum:
        raise ValueError("below the minimum")
    if not plain and len(gone) > -(-len(pool) // 10):
        raise ValueError("more than a tenth")
    pool[:] = [name for name in pool if name not in gone]
    return sorted(gone)
