def microseconds(ticks):
    return ticks * 429496730 * 1000000 >> 32
