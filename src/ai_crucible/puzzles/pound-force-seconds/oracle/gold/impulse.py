import csv
import io

NEWTON_SECONDS = {"N*s": 1.0, "kN*s": 1000.0, "lbf*s": 4.4482216152605}


def total_impulse(text):
    total = 0.0
    for row in csv.DictReader(io.StringIO(text)):
        unit = (row.get("unit") or "").strip()
        if unit not in NEWTON_SECONDS:
            raise ValueError(f"no unit: {unit!r}")
        total += float(row["impulse"]) * NEWTON_SECONDS[unit]
    return round(total, 6)
