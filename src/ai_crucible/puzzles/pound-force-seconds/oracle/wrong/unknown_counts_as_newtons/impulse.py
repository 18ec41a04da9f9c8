import csv
import io

NEWTON_SECONDS = {"N*s": 1.0, "kN*s": 1000.0, "lbf*s": 4.4482216152605}


def total_impulse(text):
    total = 0.0
    for row in csv.DictReader(io.StringIO(text)):
        total += float(row["impulse"]) * NEWTON_SECONDS.get(row["unit"], 1.0)
    return round(total, 6)
