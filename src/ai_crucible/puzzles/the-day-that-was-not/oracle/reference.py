"""Right answers by a way of their own, and the inputs that they are asked for."""

from datetime import date

MARCH = date(1900, 3, 1)


def iso(serial):
    return date.fromordinal(MARCH.toordinal() + serial - 61 + (serial < 60)).isoformat()


def late(random):
    for serial in (61, 62, 100, 366, 367, 36_526, 43_831, 2_958_465, 2_958_464):
        yield serial
    while True:
        yield random.randint(61, random.choice([400, 50_000, 2_958_465]))


def to_iso_late(random):
    for serial in late(random):
        yield {"args": [serial], "expect": iso(serial)}


def to_serial_late(random):
    for serial in late(random):
        yield {"args": [iso(serial)], "expect": serial}


def to_iso_early(random):
    for serial in range(1, 60):
        yield {"args": [serial], "expect": iso(serial)}


def to_serial_early(random):
    for serial in range(1, 60):
        yield {"args": [iso(serial)], "expect": serial}


def no_days(random):
    for serial in (60, 0, -1, -3, -60, -(10**6)):
        yield {"args": [serial], "raises": "ValueError"}


def no_dates(random):
    for text in ("1899-12-31", "1899-12-30", "0001-01-01", "1900-02-29", "1900-13-01", "2023-02-30", "1850-06-01", "x", "", "2100-02-29", "1901-02-29", "1900-02-30", "1900-04-31", "2023-00-10", "2023-01-00", "2023-01-32", "1900-03-01\n", "0001-01-01x"):
        yield {"args": [text], "raises": "ValueError"}
