def update(index, changes):
    value = float(index)
    for change in changes:
        value = round(value + float(change), 3)
    return f"{value:.3f}"


def many(count):
    return update("1000.000", ["0.0009"] * count)
