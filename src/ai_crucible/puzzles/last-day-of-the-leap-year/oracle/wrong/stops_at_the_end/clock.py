def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def convert(days):
    year = 1980
    while days > 365:
        if is_leap(year):
            if days <= 366:
                return year + 1, 0
            days -= 366
        else:
            days -= 365
        year += 1
    return year, days
