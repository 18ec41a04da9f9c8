def _thousandths(text):
    whole, _, part = text.lstrip("-").partition(".")
    places = max(len(part), 3)
    number = int(whole + part.ljust(3, "0"))
    unit = 10 ** (places - 3)
    size = (2 * number + unit) // (2 * unit)
    return -size if text.startswith("-") else size


def update(index, changes):
    value = _thousandths(index)
    for change in changes:
        value += _thousandths(change)
    digits = str(abs(value)).rjust(4, "0")
    return ("-" if value < 0 else "") + digits[:-3] + "." + digits[-3:]


def many(count):
    return update("1000.000", ["0.0009"] * count)
