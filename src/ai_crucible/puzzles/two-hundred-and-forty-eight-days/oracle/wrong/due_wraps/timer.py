def elapsed(first, last):
    return (last - first) % 2**32


def due(now, start, period):
    return now >= (start + period + 2**31) % 2**32 - 2**31
