from fractions import Fraction
from math import isfinite


def wrap(degrees):
    return 180 - (180 - degrees) % 360


def exact_turn(start, end):
    if not isfinite(start) or not isfinite(end):
        raise ValueError("not finite")
    return wrap(Fraction(end) - Fraction(start))


def turn(start, end):
    return float(exact_turn(start, end))


def middle(start, end):
    half = exact_turn(start, end) / 2
    return float(Fraction(start) + half)


def turn_text(start, end):
    return turn(float(start), float(end))
