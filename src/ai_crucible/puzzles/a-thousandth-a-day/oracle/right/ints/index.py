def _parse(text):
    """The digits as a whole number, and how many of them are decimals."""
    whole, _, part = text.lstrip("-").partition(".")
    number = int(whole + part)
    return (-number if text.startswith("-") else number), len(part)


def update(index, changes):
    value = _parse(index)[0]
    for change in changes:
        number, have = _parse(change)
        places = max(have, 3)
        total = value * 10 ** (places - 3) + number * 10 ** (places - have)
        unit = 10 ** (places - 3)
        size = (2 * abs(total) + unit) // (2 * unit)
        value = -size if total < 0 else size
    digits = str(abs(value)).rjust(4, "0")
    return ("-" if value < 0 else "") + digits[:-3] + "." + digits[-3:]


def many(count):
    return update("1000.000", ["0.0009"] * count)
