from datetime import date, timedelta


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def convert(days):
    when = date(1979, 12, 31) + timedelta(days=days)
    return when.year, when.timetuple().tm_yday
