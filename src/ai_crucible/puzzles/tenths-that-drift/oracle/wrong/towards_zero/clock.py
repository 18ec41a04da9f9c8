def microseconds(ticks):
    tenths = ticks % 10
    seconds = ticks // 10 if ticks >= 0 else -(-ticks // 10)
    return seconds * 1000000 + tenths * 100000
