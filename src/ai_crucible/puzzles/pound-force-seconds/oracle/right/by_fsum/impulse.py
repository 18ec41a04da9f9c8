import csv
import io
import math

FACTORS = {"N*s": 1, "kN*s": 1000, "lbf*s": 4.4482216152605}


def total_impulse(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    if any(row.get("unit") not in FACTORS for row in rows):
        raise ValueError("unknown unit")
    return round(math.fsum(float(row["impulse"]) * FACTORS[row["unit"]] for row in rows), 6)
