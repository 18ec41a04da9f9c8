from decimal import ROUND_HALF_UP, Decimal


def update(index, changes):
    place = Decimal("0.001")
    value = Decimal(index).quantize(place, ROUND_HALF_UP)
    for change in changes:
        value = (value + Decimal(change)).quantize(place, ROUND_HALF_UP)
    return f"{value:.3f}"


def many(count):
    return update("1000.000", ["0.0009"] * count)
