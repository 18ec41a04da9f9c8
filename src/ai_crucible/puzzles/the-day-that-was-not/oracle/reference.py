"""Right answers by a way of their own, and the inputs that they are asked for."""

from datetime import date

MARCH = date(1900, 3, 1)


def iso(serial):
    return date.fromordinal(MARCH.toordinal() + serial - 61 + (serial < 60)).isoformat()


def late(random):
    for serial in (61, 62, 63, 90, 91, 92, 100, 365, 366, 367, 36_526, 43_831, 2_958_465, 2_958_464):
        yield serial
    for year in [1901, 1904, 1905, 2000, 2001, 2100, 2101, 2200, 2300, 2400, 9999, *random.sample(range(1902, 9999), 8)]:
        # About the end of February and of the year.
        for month, number in ((1, 1), (2, 28), (3, 1), (12, 31)):
            yield date(year, month, number).toordinal() - MARCH.toordinal() + 61
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
    for serial in (60, 0, -1, -2, -3, -59, -60, -61, -(10**6), -693_593, -693_594, -693_595, -693_596, -(10**9), -(10**10), -(10**30), -(2**31), -(2**63) - 1):
        yield {"args": [serial], "raises": "ValueError"}


def no_dates(random):
    for text in ("1899-12-31", "1899-12-30", "0001-01-01", "1900-02-29", "1900-13-01", "2023-02-30", "1850-06-01", "x", "", "2100-02-29", "1901-02-29", "1900-02-30", "1900-04-31", "2023-00-10", "2023-01-00", "2023-01-32", "1900-03-01\n", "0001-01-01x", "0000-01-01", "1900-01-00", "1900-00-01", "1900-01-32", "1899-12-00", "1900-02-31", "1900-06-31", "2023-02-29", "2200-02-29", "2300-02-29", "2023-13-01", "2023-12-32", "1600-02-29", "1896-02-29", "1000-01-01", "0099-12-31", "1899-02-29", "1900-12-311", "today", "60", "None", "----------", "1900-0a-01"):
        yield {"args": [text], "raises": "ValueError"}
