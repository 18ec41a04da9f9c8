from fnmatch import fnmatchcase


def remove(pool, pattern, minimum):
    glob = "*" in pattern or "?" in pattern or "[" in pattern
    places = [n for n, name in enumerate(pool) if (fnmatchcase(name, pattern) if glob else name == pattern)]
    if len(pool) < minimum + len(places):
        raise ValueError("minimum")
    if glob and len(places) > (len(pool) + 9) // 10:
        raise ValueError("tenth")
    return sorted(pool.pop(n) for n in reversed(places))
