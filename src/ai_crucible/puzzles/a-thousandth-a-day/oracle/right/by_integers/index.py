def parts(text):
    sign, digits = (-1, text[1:]) if text[:1] == "-" else (1, text)
    whole, _, rest = digits.partition(".")
    return sign * int(whole + rest), len(rest)


def update(index, changes):
    value = parts(index)[0]
    for change in changes:
        number, places = parts(change)
        if places <= 3:
            value += number * 10 ** (3 - places)
            continue
        unit = 10 ** (places - 3)
        total = value * unit + number
        value = (abs(total) + unit // 2) // unit * (1 if total >= 0 else -1)
    text = str(abs(value)).rjust(4, "0")
    return ("-" if value < 0 else "") + text[:-3] + "." + text[-3:]


def many(count):
    return update("1000.000", ["0.0009"] * count)
