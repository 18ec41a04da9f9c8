import csv
import io

NEWTON_SECONDS = {"N*s": 1.0, "kN*s": 1000.0, "lbf*s": 4.4482216152605}


def total_impulse(text):
    total = 0.0
    for row in csv.DictReader(io.StringIO(text)):
        if (row["unit"] or "").lower() not in ("n*s", "kn*s", "lbf*s"):
            raise ValueError(row)
        total += float(row["impulse"]) * {k.lower(): v for k, v in NEWTON_SECONDS.items()}[row["unit"].lower()]
    return round(total, 6)
