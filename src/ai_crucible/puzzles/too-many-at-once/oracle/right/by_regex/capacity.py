import re
from fnmatch import translate


def remove(pool, pattern, minimum):
    match = re.compile(translate(pattern)).match
    left = [name for name in pool if not match(name)]
    gone = sorted(set(pool) - set(left))
    tenth, rest = divmod(len(pool), 10)
    if len(left) < minimum or (re.search(r"[*?\[]", pattern) and len(gone) > tenth + (rest > 0)):
        raise ValueError(pattern)
    pool.clear()
    pool.extend(left)
    return gone
