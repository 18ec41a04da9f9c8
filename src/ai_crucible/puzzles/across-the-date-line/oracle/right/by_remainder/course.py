import math


def turn(start, end):
    if math.isinf(start) or math.isinf(end) or math.isnan(start) or math.isnan(end):
        raise ValueError("finite degrees are needed")
    way = math.remainder(math.remainder(end, 360) - math.remainder(start, 360), 360)
    return 180.0 if way == -180 else way


def middle(start, end):
    way = turn(start, end)
    place = math.remainder(math.remainder(start, 360) + way / 2, 360)
    return 180.0 if place == -180 else place


def turn_text(start, end):
    return turn(float(start), float(end))
