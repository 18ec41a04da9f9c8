"""Right answers by a way of their own, and the inputs that they are asked for."""

from datetime import date, timedelta


CYCLE = 146_097  # days of any 400 years


def known(days):
    cycles, rest = divmod(days - 1, CYCLE)
    day = date(1980, 1, 1) + timedelta(days=rest)
    return day.year + 400 * cycles, day.timetuple().tm_yday


def leap(year):
    return date(year, 12, 31).timetuple().tm_yday == 366


def last_days(random):
    while True:
        for cycle in (1, 2, 10, random.randint(3, 21), random.randint(100, 300)):
            day = CYCLE * cycle + (date(random.choice([1980, 2000, 2376]), 12, 31) - date(1979, 12, 31)).days
            yield {"args": [day], "expect": known(day)}
        for year in [1980, 2000, 2008, 2400, *random.sample(range(1980, 3000), 20)]:
            if leap(year):
                days = (date(year, 12, 31) - date(1979, 12, 31)).days
                yield {"args": [days], "expect": (year, 366)}


def days(random):
    for year in (1980, 1981, 2000, 2001, 2099, 2100, 2101, 2200, 2300, 2400, 2999):
        first = (date(year, 1, 1) - date(1979, 12, 31)).days
        for day in (first, first + 58, first + 59, first + 60, first + 364):
            yield {"args": [day], "expect": known(day)}
    # The first and the last day of each year until all begins anew, and days about every multiple of a cycle.
    for year in range(1980, 2390):
        first = (date(year, 1, 1) - date(1979, 12, 31)).days
        for day in (first, first + 364 + leap(year)):
            if known(day)[1] != 366:
                yield {"args": [day], "expect": known(day)}
    multiples = [CYCLE * n for n in range(1, 8)] + [36_524 * n for n in range(1, 28)] + [1461 * n for n in [1, 2, 3, *random.sample(range(4, 700), 20)]]
    for middle in multiples:
        for day in range(middle - 2, middle + 3):
            if known(day)[1] != 366:
                yield {"args": [day], "expect": known(day)}
    # Years of five digits, and more of them than a program may call itself.
    for least, most in ((760_000, 1_000_000), (999_999, 999_999), (2_929_519, 2_929_522), (3_000_000, 3_300_000), (10_000_000, 40_000_000), (10_000_000, 40_000_000)):
        day = random.randint(least, most)
        yield {"args": [day - (known(day)[1] == 366)], "expect": known(day - (known(day)[1] == 366))}
    while True:
        day = random.randint(1, 500_000)
        if known(day)[1] != 366:
            yield {"args": [day], "expect": known(day)}
