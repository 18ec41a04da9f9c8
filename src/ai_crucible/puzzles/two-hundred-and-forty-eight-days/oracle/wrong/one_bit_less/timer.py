def elapsed(first, last):
    return (last - first) % 2**31


def due(now, start, period):
    return elapsed(start, now) >= period
