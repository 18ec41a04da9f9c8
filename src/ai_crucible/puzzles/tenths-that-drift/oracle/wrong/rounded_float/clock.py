def microseconds(ticks):
    return round(ticks * 0.1 * 1000000)
