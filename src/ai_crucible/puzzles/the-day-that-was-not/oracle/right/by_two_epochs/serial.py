import datetime


def to_iso(serial):
    if serial == 60 or serial <= 0:
        raise ValueError("no such day")
    epoch = datetime.date(1899, 12, 31) if serial < 60 else datetime.date(1899, 12, 30)
    return str(epoch + datetime.timedelta(serial))


def to_serial(iso):
    day = datetime.date.fromisoformat(iso)
    if day < datetime.date(1900, 1, 1):
        raise ValueError("too early")
    epoch = datetime.date(1899, 12, 31) if day < datetime.date(1900, 3, 1) else datetime.date(1899, 12, 30)
    return (day - epoch).days
