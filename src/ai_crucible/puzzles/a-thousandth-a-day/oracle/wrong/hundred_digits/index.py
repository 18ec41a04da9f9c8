from decimal import ROUND_HALF_UP, Decimal, localcontext

STEP = Decimal("0.001")


def update(index, changes):
    with localcontext() as context:
        context.prec = 100
        value = Decimal(index)
        for change in changes:
            value = (value + Decimal(change)).quantize(STEP, rounding=ROUND_HALF_UP)
        return f"{abs(value) if value == 0 else value:.3f}"


def many(count):
    return update("1000.000", ["0.0009"] * count)
