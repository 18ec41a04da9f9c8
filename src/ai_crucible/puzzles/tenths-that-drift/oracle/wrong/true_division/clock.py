def microseconds(ticks):
    return int(ticks / 10 * 1000000)
