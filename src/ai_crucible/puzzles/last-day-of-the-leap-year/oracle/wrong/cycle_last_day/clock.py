def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def convert(days):
    cycles, days = divmod(days, 146097)
    year = 1980 + 400 * cycles
    while days > 365 + is_leap(year):
        days -= 365 + is_leap(year)
        year += 1
    return year, days
