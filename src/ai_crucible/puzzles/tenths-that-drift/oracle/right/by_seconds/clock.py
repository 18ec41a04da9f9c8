def microseconds(ticks):
    seconds, tenths = divmod(ticks, 10)
    return seconds * 1_000_000 + tenths * 100_000
