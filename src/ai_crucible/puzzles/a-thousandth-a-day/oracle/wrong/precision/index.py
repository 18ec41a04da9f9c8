from decimal import ROUND_HALF_UP, Context, Decimal

_CONTEXT = Context(prec=4096, rounding=ROUND_HALF_UP, Emax=999999, Emin=-999999)
_STEP = Decimal("0.001")


def update(index, changes):
    value = Decimal(index)
    for change in changes:
        value = _CONTEXT.quantize(_CONTEXT.add(value, Decimal(change)), _STEP)
    if value == 0:
        return "0.000"
    return format(value, "f")


def many(count):
    return update("1000.000", ["0.0009"] * count)
