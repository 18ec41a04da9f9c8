"""Right answers by a way of their own, and the inputs that they are asked for."""

from datetime import date, timedelta


def known(days):
    day = date(1979, 12, 31) + timedelta(days=days)
    return day.year, day.timetuple().tm_yday


def leap(year):
    return date(year, 12, 31).timetuple().tm_yday == 366


def last_days(random):
    while True:
        for year in [1980, 2000, 2008, 2400, *random.sample(range(1980, 3000), 20)]:
            if leap(year):
                days = (date(year, 12, 31) - date(1979, 12, 31)).days
                yield {"args": [days], "expect": (year, 366)}


def days(random):
    for year in (1980, 1981, 2000, 2001, 2099, 2100, 2101, 2200, 2300, 2400, 2999):
        first = (date(year, 1, 1) - date(1979, 12, 31)).days
        for day in (first, first + 58, first + 59, first + 60, first + 364):
            yield {"args": [day], "expect": known(day)}
    while True:
        day = random.randint(1, 500_000)
        if known(day)[1] != 366:
            yield {"args": [day], "expect": known(day)}
