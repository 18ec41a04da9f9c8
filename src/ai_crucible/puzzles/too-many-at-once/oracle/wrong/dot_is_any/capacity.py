import math
import re


def remove(pool, pattern, minimum):
    expression = pattern.replace("[!", "[^").replace("?", ".").replace("*", ".*")
    gone = [name for name in pool if re.fullmatch(expression, name, re.DOTALL)]
    if len(pool) - len(gone) < minimum:
        raise ValueError("too few would be left")
    if re.search(r"[*?[]", pattern) and len(gone) > math.ceil(len(pool) / 10):
        raise ValueError("too many at once")
    for name in gone:
        pool.remove(name)
    return sorted(gone)
