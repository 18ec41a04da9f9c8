from fnmatch import fnmatchcase


def remove(pool, pattern, minimum):
    gone = [name for name in pool if fnmatchcase(name, pattern)]
    if len(pool) - len(gone) < minimum:
        raise ValueError("below the minimum")
    # A plain name matches one server, which a tenth rounded up always is.
    if len(gone) > -(-len(pool) // 10):
        raise ValueError("more than a tenth")
    pool[:] = [name for name in pool if name not in gone]
    return sorted(gone)
