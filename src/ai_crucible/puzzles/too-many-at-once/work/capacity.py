from fnmatch import fnmatch


def remove(pool, pattern, minimum):
    gone = [name for name in pool if fnmatch(name, pattern)]
    for name in gone:
        pool.remove(name)
    return gone
