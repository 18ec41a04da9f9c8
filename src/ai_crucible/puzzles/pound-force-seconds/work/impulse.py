import csv
import io


def total_impulse(text):
    total = 0.0
    for row in csv.DictReader(io.StringIO(text)):
        total += float(row["impulse"])
    return round(total, 6)
