import csv
import io
from decimal import Decimal


def factor(unit):
    match unit:
        case "N*s":
            return Decimal(1)
        case "kN*s":
            return Decimal(1000)
        case "lbf*s":
            return Decimal("4.4482216152605")
    raise ValueError(f"unknown unit {unit!r}")


def total_impulse(text):
    rows = csv.DictReader(io.StringIO(text))
    return float(round(sum((Decimal(r["impulse"]) * factor(r["unit"]) for r in rows), Decimal(0)), 6))
