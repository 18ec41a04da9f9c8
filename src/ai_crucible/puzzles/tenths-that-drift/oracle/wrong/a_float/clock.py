def microseconds(ticks):
    return ticks * 0.1 * 1000000
