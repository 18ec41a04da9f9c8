import math


def _wrap(degrees):
    degrees = round(math.fmod(degrees, 360), 6)
    if degrees > 180:
        degrees -= 360
    elif degrees <= -180:
        degrees += 360
    return round(degrees, 6)


def _finite(value):
    if not math.isfinite(value):
        raise ValueError(f"{value} is no longitude")
    return math.fmod(value, 360)


def turn(start, end):
    return _wrap(_finite(end) - _finite(start))


def middle(start, end):
    return _wrap(_finite(start) + turn(start, end) / 2)


def turn_text(start, end):
    return turn(float(start), float(end))
