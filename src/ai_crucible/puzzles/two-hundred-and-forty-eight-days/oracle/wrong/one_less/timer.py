def elapsed(first, last):
    return (last - first) % (2**32 - 1)


def due(now, start, period):
    return elapsed(start, now) >= period
