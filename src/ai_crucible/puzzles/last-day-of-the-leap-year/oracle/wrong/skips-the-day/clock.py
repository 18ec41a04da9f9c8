def is_leap(year):
    return year % 4 == 0


def convert(days):
    year = 1980
    while days > 365:
        days -= 366 if is_leap(year) else 365
        year += 1
    return year, days
