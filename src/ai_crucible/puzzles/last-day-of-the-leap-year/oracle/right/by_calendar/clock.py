from calendar import isleap


def convert(days):
    year = 1980
    while True:
        length = 365 + isleap(year)
        if days <= length:
            return (year, days)
        days, year = days - length, year + 1
