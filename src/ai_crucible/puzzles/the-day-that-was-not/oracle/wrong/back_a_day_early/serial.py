from datetime import date, timedelta

EPOCH = date(1899, 12, 31)
FALSE_DAY = 60


def to_iso(serial):
    if serial < 1 or serial == FALSE_DAY:
        raise ValueError(serial)
    return (EPOCH + timedelta(days=serial - (serial > FALSE_DAY))).isoformat()


def to_serial(iso):
    days = (date.fromisoformat(iso) - EPOCH).days
    if days < 1:
        raise ValueError(iso)
    return days + (days > FALSE_DAY)
