from fractions import Fraction


def rounded(value):
    steps = (200000 * abs(value) + 1) // 2
    return Fraction(steps if value > 0 else -steps, 100000)


def update(index, changes):
    value = Fraction(index)
    for change in changes:
        value = rounded(value + Fraction(change))
    whole, rest = divmod(abs(value) * 1000, 1000)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{int(rest):03}"


def many(count):
    return update("1000.000", ["0.0009"] * count)
