from fnmatch import fnmatchcase


def remove(pool, pattern, minimum):
    size = len(pool)
    gone = [name for name in pool if fnmatchcase(name, pattern)]
    for name in gone:
        pool.remove(name)
    if len(pool) < minimum:
        raise ValueError("below the minimum")
    if set(pattern) & set("*?[") and len(gone) > -(-size // 10):
        raise ValueError("more than a tenth")
    return sorted(gone)
