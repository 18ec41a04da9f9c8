def update(index, changes):
    value = float(index)
    for change in changes:
        value = int((value + float(change)) * 1000) / 1000
    return f"{value:.3f}"


def many(count):
    return update("1000.000", ["0.0009"] * count)
