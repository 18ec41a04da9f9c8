def is_leap(year):
    return year % 4 == 0 and year % 100 != 0


def length(year):
    return 366 if is_leap(year) else 365


def convert(days):
    year = 1980
    while days > length(year):
        days -= length(year)
        year += 1
    return year, days
