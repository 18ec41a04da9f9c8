from datetime import date, timedelta

EPOCH = date(1899, 12, 31)


def to_iso(serial):
    if serial < 1 or serial == 60:
        raise ValueError(serial)
    return (EPOCH + timedelta(days=serial - (serial > 60))).isoformat()


def to_serial(iso):
    days = (date.fromisoformat(iso) - EPOCH).days
    if days < 1:
        raise ValueError(iso)
    return days + (days > 59)
