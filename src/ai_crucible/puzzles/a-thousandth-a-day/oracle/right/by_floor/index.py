from fractions import Fraction
from math import ceil, floor

HALF = Fraction(1, 2)


def update(index, changes):
    steps = round(Fraction(index) * 1000)
    for change in changes:
        exact = steps + Fraction(change) * 1000
        steps = floor(exact + HALF) if exact >= 0 else ceil(exact - HALF)
    return "%s%d.%03d" % ("-" * (steps < 0), *divmod(abs(steps), 1000))


def many(count):
    return update("1000.000", ["0.0009"] * count)
