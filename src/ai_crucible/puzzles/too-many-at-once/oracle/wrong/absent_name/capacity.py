from fnmatch import fnmatchcase


def remove(pool, pattern, minimum):
    if not any(sign in pattern for sign in "*?["):
        if len(pool) - 1 < minimum and pattern in pool or len(pool) < minimum:
            raise ValueError("too few would be left")
        pool.remove(pattern)
        return [pattern]
    gone = [name for name in pool if fnmatchcase(name, pattern)]
    if len(pool) - len(gone) < minimum:
        raise ValueError("too few would be left")
    if len(gone) > (len(pool) + 9) // 10:
        raise ValueError("too many at once")
    for name in gone:
        pool.remove(name)
    return sorted(gone)
