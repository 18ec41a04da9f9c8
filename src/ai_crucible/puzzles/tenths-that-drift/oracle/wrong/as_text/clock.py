def microseconds(ticks):
    # shift the decimal point: exact, no multiplication by 0.1
    return int(str(ticks) + "00000")
