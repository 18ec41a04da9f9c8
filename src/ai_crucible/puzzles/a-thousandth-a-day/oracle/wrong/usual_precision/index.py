from decimal import ROUND_HALF_UP, Decimal


def update(index, changes):
    value = Decimal(index)
    for change in changes:
        value = (value + Decimal(change)).quantize(Decimal("0.001"), ROUND_HALF_UP)
    return f"{abs(value) if value == 0 else value:.3f}"


def many(count):
    return update("1000.000", ["0.0009"] * count)
