import math


def wrap(degrees):
    if not math.isfinite(degrees):
        raise ValueError(degrees)
    return 180 - (180 - degrees) % 360


def turn(start, end):
    return wrap(end - start)


def middle(start, end):
    return wrap(start + turn(start, end) / 2)


def turn_text(start, end):
    return turn(float(start), float(end))
