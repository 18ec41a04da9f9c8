from decimal import MAX_PREC, ROUND_HALF_UP, Context, Decimal, localcontext

STEP = Decimal("0.001")


def update(index, changes):
    longest = max(map(len, [index, *changes]))
    with localcontext(Context(prec=min(MAX_PREC, 2 * longest + len(changes) + 20))):
        value = Decimal(index)
        for change in changes:
            value = (value + Decimal(change)).quantize(STEP, rounding=ROUND_HALF_UP)
        return f"{value:.3f}" if value else "0.000"


def many(count):
    return update("1000.000", ["0.0009"] * count)
