def _step(value, change):
    places = max(3, len(change.partition(".")[2]))

    def scaled(text):
        whole, _, part = text.partition(".")
        return int(whole + part.ljust(places, "0"))

    total = scaled(value) + scaled(change)
    unit = 10 ** (places - 3)
    size = (2 * abs(total) + unit) // (2 * unit)
    digits = str(size).rjust(4, "0")
    return ("-" if total < 0 and size else "") + digits[:-3] + "." + digits[-3:]


def update(index, changes):
    value = _step(index, "0")
    for change in changes:
        value = _step(value, change)
    return value


def many(count):
    return update("1000.000", ["0.0009"] * count)
