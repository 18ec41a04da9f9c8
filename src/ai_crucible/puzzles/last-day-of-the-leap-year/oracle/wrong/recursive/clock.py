def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def convert(days, year=1980):
    length = 366 if is_leap(year) else 365
    if days <= length:
        return year, days
    return convert(days - length, year + 1)
