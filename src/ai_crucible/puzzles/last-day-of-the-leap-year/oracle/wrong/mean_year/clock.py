def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _before(year):
    """Days from 1 January 1980 to the last day of the year before."""
    last = year - 1
    return 365 * (year - 1980) + last // 4 - last // 100 + last // 400 - 479


def convert(days):
    year = 1980 + int((days - 1) / 365.2425)
    if days <= _before(year):
        year -= 1
    return year, days - _before(year)
