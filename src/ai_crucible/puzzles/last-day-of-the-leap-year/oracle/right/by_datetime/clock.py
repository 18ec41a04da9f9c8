from datetime import date, timedelta


def convert(days):
    day = date(1980, 1, 1) + timedelta(days=days - 1)
    return day.year, (day - date(day.year, 1, 1)).days + 1
