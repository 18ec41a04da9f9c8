def microseconds(ticks):
    return ticks * 1_000_000 // 10
