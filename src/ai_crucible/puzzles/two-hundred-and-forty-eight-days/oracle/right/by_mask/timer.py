def elapsed(first, last):
    return (last - first) & 0xFFFFFFFF


def due(now, start, period):
    return elapsed(start, now) >= period
