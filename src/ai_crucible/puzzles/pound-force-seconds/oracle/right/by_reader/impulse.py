import csv
import io


def total_impulse(text):
    total = 0
    rows = csv.reader(io.StringIO(text))
    next(rows, None)
    for row in rows:
        if len(row) < 3:
            raise ValueError("no unit")
        _, value, unit = row
        try:
            total += float(value) * {"N*s": 1, "kN*s": 1e3, "lbf*s": 4.4482216152605}[unit]
        except KeyError:
            raise ValueError(unit) from None
    return round(total, 6)
