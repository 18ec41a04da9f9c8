TENTH = 209715  # 0.1 in units of 2**-21


def microseconds(ticks):
    return ticks * TENTH * 1000000 >> 21
