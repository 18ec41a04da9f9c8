from fractions import Fraction

TENTH = Fraction(1, 10)


def microseconds(ticks):
    return int(ticks * TENTH * 10**6)
