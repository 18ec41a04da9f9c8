def elapsed(first, last):
    return abs(last - first)


def due(now, start, period):
    return elapsed(start, now) >= period
