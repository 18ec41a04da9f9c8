from decimal import Decimal, localcontext


def update(index, changes):
    with localcontext() as context:
        context.prec = 2000
        value = Decimal(index)
        for change in changes:
            value = (value + Decimal(change)).quantize(Decimal("0.001"))
        return f"{value:.3f}".replace("-0.000", "0.000") if value == 0 else f"{value:.3f}"


def many(count):
    return update("1000.000", ["0.0009"] * count)
