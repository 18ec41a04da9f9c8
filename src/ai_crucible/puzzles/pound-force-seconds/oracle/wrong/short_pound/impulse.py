import csv
import io

NEWTON_SECONDS = {"N*s": 1.0, "kN*s": 1000.0, "lbf*s": 4.45}


def total_impulse(text):
    total = 0.0
    for row in csv.DictReader(io.StringIO(text)):
        if row["unit"] not in NEWTON_SECONDS:
            raise ValueError(row)
        total += float(row["impulse"]) * NEWTON_SECONDS[row["unit"]]
    return round(total, 6)
