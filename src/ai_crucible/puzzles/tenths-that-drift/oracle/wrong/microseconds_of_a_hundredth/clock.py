def microseconds(ticks):
    return ticks * 10000
