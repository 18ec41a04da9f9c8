from datetime import date

ZERO = 693595


def to_iso(serial):
    if serial < 1:
        raise ValueError("below 1")
    if serial == 60:
        raise ValueError("never was")
    return date.fromordinal(ZERO + serial - (1 if serial > 60 else 0)).strftime("%Y-%m-%d")


def to_serial(iso):
    serial = date.fromisoformat(iso).toordinal() - ZERO
    if serial <= 0:
        raise ValueError("before 1900")
    return serial if serial < 60 else serial + 1
