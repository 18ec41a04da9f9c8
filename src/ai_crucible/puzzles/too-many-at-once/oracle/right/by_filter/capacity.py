import fnmatch
import math


def remove(pool, pattern, minimum):
    gone = fnmatch.filter(pool, pattern)
    if len(pool) - len(gone) < minimum:
        raise ValueError(f"fewer than {minimum} would be left")
    if any(mark in pattern for mark in "*?[") and len(gone) > math.ceil(len(pool) / 10):
        raise ValueError("that is more than a tenth")
    for name in gone:
        pool.remove(name)
    gone.sort()
    return gone
