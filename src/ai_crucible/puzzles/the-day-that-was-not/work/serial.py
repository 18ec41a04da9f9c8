from datetime import date, timedelta

EPOCH = date(1899, 12, 31)


def to_iso(serial):
    return (EPOCH + timedelta(days=serial)).isoformat()


def to_serial(iso):
    return (date.fromisoformat(iso) - EPOCH).days
