def is_leap(year):
    return not year % 4 and (bool(year % 100) or not year % 400)


def convert(days):
    cycles, rest = divmod(days - 1, 146097)
    year, day = 1980 + 400 * cycles, rest + 1
    while day > (366 if is_leap(year) else 365):
        day -= 366 if is_leap(year) else 365
        year += 1
    return year, day
