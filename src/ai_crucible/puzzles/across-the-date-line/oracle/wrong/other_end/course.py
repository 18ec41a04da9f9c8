from fractions import Fraction
from math import isfinite


def wrap(degrees):
    return (degrees + 180) % 360 - 180


def exact_turn(start, end):
    if not isfinite(start) or not isfinite(end):
        raise ValueError("not finite")
    return wrap(Fraction(end) - Fraction(start))


def turn(start, end):
    return float(exact_turn(start, end))


def middle(start, end):
    half = exact_turn(start, end) / 2
    return float(wrap(Fraction(start) + half))


def turn_text(start, end):
    return turn(float(start), float(end))
