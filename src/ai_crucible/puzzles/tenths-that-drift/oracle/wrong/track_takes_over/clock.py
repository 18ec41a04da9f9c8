def microseconds(ticks):
    return ticks * 100000
