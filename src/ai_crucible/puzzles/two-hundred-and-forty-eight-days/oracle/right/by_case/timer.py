def elapsed(first, last):
    if last >= first:
        return last - first
    return (2147483647 - first) + 1 + (last - -2147483648)


def due(now, start, period):
    return not elapsed(start, now) < period
