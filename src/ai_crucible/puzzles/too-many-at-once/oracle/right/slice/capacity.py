from fnmatch import fnmatchcase


def remove(pool, pattern, minimum):
    gone = [name for name in pool if fnmatchcase(name, pattern)]
    if len(pool) - len(gone) < minimum:
        raise ValueError("too few would be left")
    plain = not any(sign in pattern for sign in "*?[")
    if not plain and len(gone) > (len(pool) + 9) // 10:
        raise ValueError("too many at once")
    pool[:] = [name for name in pool if name not in set(gone)]
    return sorted(gone)
