from datetime import date, timedelta


def convert(days):
    # A calendar of 400 years is always the same; `date` ends with the year 9999.
    cycles, rest = divmod(days - 1, 146_097)
    day = date(1980, 1, 1) + timedelta(days=rest)
    return day.year + 400 * cycles, day.timetuple().tm_yday
