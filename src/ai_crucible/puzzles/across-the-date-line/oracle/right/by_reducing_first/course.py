import math


def reduce(degrees):
    if not math.isfinite(degrees):
        raise ValueError(f"{degrees} is no longitude")
    return math.fmod(degrees, 360)


def wrap(degrees):
    while degrees > 180:
        degrees -= 360
    while degrees <= -180:
        degrees += 360
    return degrees


def turn(start, end):
    return wrap(reduce(end) - reduce(start))


def middle(start, end):
    return wrap(reduce(start) + turn(start, end) / 2)


def turn_text(start, end):
    return turn(float(start), float(end))
