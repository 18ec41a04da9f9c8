from datetime import datetime, timedelta

START = datetime(1900, 1, 1)


def to_iso(serial):
    if serial not in range(1, 60) and serial < 61:
        raise ValueError(serial)
    return (START + timedelta(days=serial - 1 if serial < 60 else serial - 2)).date().isoformat()


def to_serial(iso):
    gone = (datetime.strptime(iso, "%Y-%m-%d") - START).days + 1
    if gone < 1:
        raise ValueError(iso)
    return gone + 1 if gone > 59 else gone
