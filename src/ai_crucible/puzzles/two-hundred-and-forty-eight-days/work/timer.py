def elapsed(first, last):
    return last - first


def due(now, start, period):
    return now >= start + period
