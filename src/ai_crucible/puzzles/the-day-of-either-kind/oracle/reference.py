"""Right answers by a way of their own: what a field means is drawn first, and every day is looked at."""

from datetime import datetime, timedelta

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEK = "SUN MON TUE WED THU FRI SAT".split()
RANGES = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)]


def field(random, place, simple=False, star=0.4):
    """Return a field's text, its numbers, and whether it is a star alone."""
    low, high = RANGES[place]
    if random.random() < star:
        return "*", set(range(low, high + 1)), True
    texts, numbers = [], set()

    def word(number):
        if place == 3 and random.random() < 0.4:
            return random.choice([str.upper, str.lower, str.title])(MONTHS[number - 1])
        if place == 4 and number < 7 and random.random() < 0.4:
            return random.choice([str.upper, str.lower])(WEEK[number])
        return random.choice([str, str, "{:02}".format, "{:04}".format])(number)

    for _ in range(random.choice([1, 1, 1, 2, 3])):
        kind = random.choice(["one", "range", "steps", "star"]) if simple else random.choice(["one", "one", "range", "steps", "star", "from"])
        top = 7 if place == 4 and not simple else high
        a, b, step = random.randint(low, top), random.randint(low, top), random.choice([1, 2, 3, 5, 7, 15, 40, 10**12])
        a, b = min(a, b), max(a, b)
        if random.random() < 0.08 and not simple:
            kind = random.choice(["stars", "whole"] if random.random() < 0.5 or texts else ["whole"])
            kind = "whole" if kind == "stars" and not texts else kind
        if kind == "one":
            text, own = word(a), [a]
        elif kind == "stars":
            text, own = "*", range(low, high + 1)
        elif kind == "whole":
            text, own = f"{low}-{high}" + random.choice(["", "/1"]), range(low, high + 1)
        elif kind == "range":
            text, own = f"{word(a)}-{word(b)}", [number for number in range(low, top + 1) if a <= number <= b]
        elif kind == "steps":
            text, own = f"{word(a)}-{word(b)}/{step}", [number for number in range(low, top + 1) if a <= number <= b and (number - a) % step == 0]
        elif kind == "star":
            text, own = f"*/{step}", [number for number in range(low, high + 1) if (number - low) % step == 0]
        else:
            a = min(a, high)
            while place == 4 and a and (7 - a) % step == 0:
                a, step = random.randint(low, high), random.choice([2, 3, 5, 7, 15])  # whether it reaches 7 is left open
            text, own = f"{word(a)}/{step}", [number for number in range(low, high + 1) if number >= a and (number - a) % step == 0]
        texts.append(text)
        numbers |= {0 if place == 4 and number == 7 else number for number in own}
    return ",".join(texts), numbers, False


def schedule(random, days="any", simple=False):
    star = {"any": (0.4, 0.4), "both": (0, 0), "date": (0, 1), "week": (1, 0), "one": random.choice([(0, 1), (1, 0), (1, 1)])}[days]
    fields = [field(random, place, simple, (0.4, 0.4, star[0], 0.6, star[1])[place]) for place in range(5)]
    return random.choice([" ", " ", "  ", "\t"]).join(text for text, _, _ in fields), fields


def falls(fields, day):
    (_, days, any_day), (_, months, _), (_, week, any_weekday) = fields[2:]
    if day.month not in months:
        return False
    one, other = day.day in days, (day.weekday() + 1) % 7 in week
    if any_day and any_weekday:
        return True
    return other if any_day else one if any_weekday else one or other


def come(fields, moment, count, reach=3000):
    """Return the next moments, looking at each day of some years."""
    times = sorted(hour * 60 + minute for hour in fields[1][1] for minute in fields[0][1])
    day, seen = moment.replace(hour=0, minute=0, second=0, microsecond=0), []
    for _ in range(reach):
        if falls(fields, day):
            for time in times:
                at = day + timedelta(minutes=time)
                if at > moment:
                    seen.append(at)
                    if len(seen) == count:
                        return seen
        day += timedelta(days=1)
    return [*seen, None]


def moments(random):
    year = random.choice([2026, 2027, 2028, 2000, 1999])
    at = datetime(year, random.randint(1, 12), random.randint(1, 28), random.choice([0, 23, random.randrange(24)]), random.choice([0, 59, random.randrange(60)]))
    return random.choice([at, at, at.replace(second=30), at.replace(month=12, day=31, hour=23, minute=59), at.replace(second=59, microsecond=999999)])


def following(random, days, simple=False, count=3):
    while True:
        text, fields = schedule(random, days, simple)
        at = moments(random)
        seen = come(fields, at, count)
        if None in seen:
            continue  # what comes too rarely is asked for by hand
        yield {"args": [text, at.isoformat(), count], "expect": [one.isoformat() for one in seen]}


def usual(random):
    yield from following(random, "one", simple=True)


def either(random):
    for text, at, seen in (("0 9 1 * MON", "2026-03-02T09:00:00", ["2026-03-09T09:00:00", "2026-03-16T09:00:00", "2026-03-23T09:00:00", "2026-03-30T09:00:00", "2026-04-01T09:00:00"]), ("0 0 */2 * 1", "2026-03-01T00:00:00", ["2026-03-02T00:00:00", "2026-03-03T00:00:00", "2026-03-05T00:00:00"]), ("0 0 30 2 1", "2026-01-01T00:00:00", ["2026-02-02T00:00:00"])):
        yield {"args": [text, at, len(seen)], "expect": seen}
    yield from following(random, "both")


def steps(random):
    for text, at, seen in (("5/15 * * * *", "2026-03-01T00:06:00", ["2026-03-01T00:20:00", "2026-03-01T00:35:00", "2026-03-01T00:50:00", "2026-03-01T01:05:00"]), ("0 0 * * 7", "2026-03-01T00:00:00", ["2026-03-08T00:00:00"]), ("0 0 * * 5-7", "2026-03-01T00:00:00", ["2026-03-06T00:00:00", "2026-03-07T00:00:00", "2026-03-08T00:00:00"]), ("0 0 * * 7-7", "2026-03-01T00:00:00", ["2026-03-08T00:00:00"]), ("0 0 * * SUN-TUE", "2026-03-01T00:00:00", ["2026-03-02T00:00:00", "2026-03-03T00:00:00", "2026-03-08T00:00:00"]), ("0 0 28/1 2 *", "2026-03-01T00:00:00", ["2027-02-28T00:00:00"]), ("0 0 1 OCT/2 *", "2026-03-01T00:00:00", ["2026-10-01T00:00:00", "2026-12-01T00:00:00", "2027-10-01T00:00:00"])):
        yield {"args": [text, at, len(seen)], "expect": seen}
    yield from following(random, "one")


def rare(random):
    """Yield what comes seldom or never; leap days by the rule of the calendar."""
    yield {"args": ["0 0 29 2 *", "2096-03-01T00:00:00"], "expect": ["2104-02-29T00:00:00"]}
    yield {"args": ["0 0 29 2 *", "1896-02-29T00:00:00"], "expect": ["1904-02-29T00:00:00"]}
    yield {"args": ["0 0 1 1 *", "9998-06-01T00:00:00"], "expect": ["9999-01-01T00:00:00"]}
    for text in ("0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "5 5 30-31 FEB *", "0 0 31 4/2 *"):
        never = text != "0 0 31 4/2 *"
        yield {"args": [text, "2026-01-01T00:00:00"], "expect": [None] if never else ["2026-08-31T00:00:00"]}
    leap = lambda year: year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    while True:
        year, hour, minute = random.randint(1600, 2900), random.randrange(24), random.randrange(60)
        found = next(one for one in range(year + 1, year + 9) if leap(one))
        yield {"args": [f"{minute} {hour} 29 {random.choice(['2', 'feb', '2-2'])} *", datetime(year, 3, random.randint(1, 31)).isoformat()], "expect": [datetime(found, 2, 29, hour, minute).isoformat()]}


def never(random):
    """Yield what never comes, and asks for it often enough that looking long is seen."""
    for words in ("0 0 30 2 *", "* * 30 2 *", "0 0 31 2,4,6,9,11 *", "59 23 31 APR,SEP *", "0 0 30-31 FEB *", "*/5 * 31 11 *", "0 0 30/1 2 *", "0 0 31 4-6/2 *", "0 0 31/1 6 *"):
        for moment in ("2026-01-01T00:00:00", "2028-02-29T23:59:00", "1900-03-01T00:00:00"):
            yield {"args": [words, moment], "expect": [None]}


def afar(random):
    """Yield what comes, however far away, more than once."""
    for words, moment, seen in (
        ("0 0 29 2 *", "2096-03-01T00:00:00", ["2104-02-29T00:00:00", "2108-02-29T00:00:00"]), ("30 12 29 2 *", "2096-02-29T12:30:00", ["2104-02-29T12:30:00"]), ("30 12 29 2 *", "2096-02-29T12:29:00", ["2096-02-29T12:30:00", "2104-02-29T12:30:00"]),
        ("0 0 29 2 *", "1896-02-29T00:00:00", ["1904-02-29T00:00:00"]), ("0 0 29 FEB *", "1996-02-29T00:00:59", ["2000-02-29T00:00:00", "2004-02-29T00:00:00"]), ("*/40 23 29 2 *", "2024-02-29T23:00:00", ["2024-02-29T23:40:00", "2028-02-29T23:00:00"]),
        ("0 0 30,29 2 *", "2097-01-01T00:00:00", ["2104-02-29T00:00:00"]), ("0 0 29/1 2 *", "2198-05-05T00:00:00", ["2204-02-29T00:00:00"]), ("0 0 31,29 2 *", "2025-01-01T00:00:00", ["2028-02-29T00:00:00", "2032-02-29T00:00:00"]), ("59 23 31 12 *", "2025-12-31T23:59:00", ["2026-12-31T23:59:00", "2027-12-31T23:59:00"]),
        ("0 0 29 2 *", "9991-03-01T00:00:00", ["9992-02-29T00:00:00", "9996-02-29T00:00:00"]), ("0 0 31 JAN *", "2026-01-31T00:00:00", ["2027-01-31T00:00:00"]), ("0 0 1 1 *", "0001-01-01T00:00:00", ["0002-01-01T00:00:00"]), ("0 0 29 2 *", "0097-01-01T00:00:00", ["0104-02-29T00:00:00"]),
        ("0 0 29 2 MON", "2099-01-30T00:00:00", ["2099-02-02T00:00:00", "2099-02-09T00:00:00"]), ("0 0 29 2 0-6", "2099-02-28T00:00:00", ["2100-02-01T00:00:00"]),
    ):
        yield {"args": [words, moment, len(seen)], "expect": seen}


def plans(random):
    yield {"args": ["a | 0 1 * * * | x\nb | 0 1 * * * | y\na | */30 1 * * * | x\n", "2026-01-01", "2026-01-02", 9], "expect": [["2026-01-01T01:00:00", "a", "x"], ["2026-01-01T01:00:00", "b", "y"], ["2026-01-01T01:30:00", "a", "x"]]}
    yield {"args": ["a | * * * * * | x\na | * * * * * | x\nb | 0 0 * * * | y\n", "2026-01-01", "2026-01-02", 3], "expect": [["2026-01-01T00:00:00", "a", "x"], ["2026-01-01T00:00:00", "b", "y"], ["2026-01-01T00:01:00", "a", "x"]]}
    yield {"args": ["a | * * * * * | x\n\na | 0 * * * * | y\n", "2026-01-01", "2026-01-02", 9], "expect": ["fault", 3]}
    yield {"args": ["a | 0 0 * * * | x\n", "2026-01-01T00:00:30", "2026-01-03T00:00:00", 9], "expect": [["2026-01-02T00:00:00", "a", "x"]]}
    yield {"args": ["a | * * * * * | x\n", "2026-01-01", "9000-01-01", 2], "expect": [["2026-01-01T00:00:00", "a", "x"], ["2026-01-01T00:01:00", "a", "x"]]}
    day = "2026-03-01"
    for table, until, most, seen in (
        ("a | 0 2 * * * | x\na | 0 2 * * SUN | x\n", "2026-03-02", 9, ["02:00 a x"]), ("a|0 2 * * *|x\na |  0 2 * * * | x  \na | @daily | x\n", "2026-03-02", 9, ["00:00 a x", "02:00 a x"]),
        ("a | 0 2 * * * | x\nb | 0 2 * * * | x\n", "2026-03-02", 9, ["02:00 a x", "02:00 b x"]), ("a | 0 * * * * | x\na | 0 * * * * | x\na | 0 * * * * | x\n", "2026-03-02", 3, ["00:00 a x", "01:00 a x", "02:00 a x"]),
        ("b | 5 1 * * * | y\na | 0 1 * * * | x\nb | 0 1 * * * | y\n", "2026-03-02", 9, ["01:00 b y", "01:00 a x", "01:05 b y"]), ("a | 0 2 30 2 * | x\n", "2060-01-01", 9, []), ("a | 0 1 * * * | x\n", "2026-03-02", 0, []), ("a | * * * * * | x\n", day, 9, []), ("", "2026-03-02", 9, []),
        ("a | 0 1 * * * | x | y\na | 0 1 * * * | x | y\n", "2026-03-02", 9, ["01:00 a x | y"]), ("a | 0 1 * * * | x\nb | 0 1 30 2 * | y\na | 30 0 * * * | x\nb | 0 1 * * * | y\n", "2026-03-02", 2, ["00:30 a x", "01:00 a x"]),
    ):
        yield {"args": [table, day, until, most], "expect": [[f"{day}T{one[:5]}:00", one[6], one[8:]] for one in seen]}
    yield {"args": ["a | 0 0 29 2 * | x\na | 0 0 29 2 * | x\n", day, "2105-01-01", 99], "expect": [[f"{year}-02-29T00:00:00", "a", "x"] for year in range(2028, 2105, 4) if year != 2100]}
    for table, line in (("a | @daily | x\n# a\n\na | @daily | x\n a | @hourly | X\n", 5), ("a | @daily | x\nb | @daily | x\nb | @daily | y\na | @daily | y\n", 3), ("a | @daily | x\na | * * | y\n", 2), ("a | @daily | x\na | * * | x\n", 2), ("a | @daily | x\na | @daily | x | y\n", 2), ("a | @daily | x\nA | @daily | x\n", 2), ("a | @daily\n", 1), ("a | @daily | \n", 1)):
        yield {"args": [table, day, "2026-03-02", 9], "expect": ["fault", line]}
    while True:
        names = random.choices(["a", "b", "c"], k=random.randint(1, 5))
        rows = [(name, *schedule(random, "any")) for name in names]
        since = datetime(2026, random.randint(1, 12), random.randint(1, 28), random.randrange(24), random.randrange(60))
        until, most = since + timedelta(minutes=random.choice([1, 60, 600])), random.choice([1, 5, 1000])
        order, seen, at = list(dict.fromkeys(names)), [], since
        while at < until:
            for name in order:
                if any(one == name and at.minute in fields[0][1] and at.hour in fields[1][1] and falls(fields, at) for one, _, fields in rows):
                    seen.append([at.isoformat(), name, "run " + name])
            at += timedelta(minutes=1)
        table = "".join(f"{name} | {text} | run {name}\n" for name, text, _ in rows)
        yield {"args": [table, since.isoformat(), until.isoformat(), most], "expect": seen[:most]}


def faults(random):
    words = ["60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "*/ * * * *", "*/x * * * *", "a * * * *", ", * * * *", "1, * * * *", "-1 * * * *", "1- * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "* * * MON *", "* * * * JAN", "* * * *", "* * * * * *", "", "@often", "** * * * *", "*-5 * * * *", "\u0661 * * * *", "*/\u0662 * * * *", "+1 * * * *", "1.5 * * * *", "* * * * FRI-MON", "* * * * 7-1", "* * * SUNDAY *", "0/0 * * * *", "60/5 * * * *", "* * * * 7-8", "* * * * 8/2", "* * * * 08", "* * * * 1-8", "* * * * 0-8", "* * * * SAT-SUN", "* * * * 7-0", "* * * * 7-SUN", "* * * * 7-SAT", "* 7-5 * * *", "* * 0/5 * *", "* * 32/1 * *", "* * * 0/2 *", "* * * 13/2 *", "* 24/2 * * *", "5/0 * * * *", "5/ * * * *", "/5 * * * *", "5/-1 * * * *", "5/+1 * * * *", "5//2 * * * *", "5/x * * * *", "*5 * * * *", "5* * * * *", "5/* * * * *", "5-/2 * * * *", "-5/2 * * * *", "* * * * MON/", "* * * * MO", "* * * * 77", "* * * * -7", "* * * * 7.", "5/1.5 * * * *", "5/\u0661 * * * *", "* * * * 1,8", "* * * * ,7", "@daily x", "@", "@reboot"]
    for word in words:
        yield {"args": [word, "2026-01-01T00:00:00"], "expect": "FieldError"}


def told(random):
    names = ["minute", "hour", "day of the month", "month", "day of the week"]
    for place, name in enumerate(names):
        for word in ("99", "x", "1/0", "5-2"):
            words = " ".join(word if other == place else "*" for other in range(5))
            yield {"args": [words], "holds": lambda seen, name=name: seen.startswith(name + ":")}


def is_due(random):
    for text, right in (
        ("0 9 1-31 * MON", [1, 2, 3, 4, 5, 6, 7, 8, 9]), ("0 9 * * MON", [2, 9]), ("0 9 */1 * MON", [1, 2, 3, 4, 5, 6, 7, 8, 9]), ("0 9 *,1 * MON", [1, 2, 3, 4, 5, 6, 7, 8, 9]), ("0 9 1,* * 2", [1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ("0 9 4 * 0-6", [1, 2, 3, 4, 5, 6, 7, 8, 9]), ("0 9 4 * 1-7", [1, 2, 3, 4, 5, 6, 7, 8, 9]), ("0 9 4 * */1", [1, 2, 3, 4, 5, 6, 7, 8, 9]), ("0 9 4 * */3", [1, 4, 7, 8]), ("0 9 */4 * *", [1, 5, 9]), ("0 9 * * */3", [1, 4, 7, 8]), ("0 9 4 * *", [4]), ("0 9 31 * 7", [1, 8]), ("0 9 1 4 MON", []),
    ):
        yield {"args": [text, [f"2026-03-0{day}T09:00:59" for day in range(1, 10)]], "expect": [[day in right, day in right] for day in range(1, 10)]}
    while True:
        text, fields = schedule(random)
        seen = [moments(random).replace(day=random.randint(1, 28)) for _ in range(12)]
        right = [[falls(fields, at) and at.hour in fields[1][1] and at.minute in fields[0][1], falls(fields, at)] for at in seen]
        yield {"args": [text, [at.isoformat() for at in seen]], "expect": right}


def numbers(random):
    """Yield fields and what they hold, by the place that they have."""
    for place, text, seen in (
        (4, "7", [0]), (4, "07", [0]), (4, "0-7", [0, 1, 2, 3, 4, 5, 6]), (4, "SUN-7", [0, 1, 2, 3, 4, 5, 6]), (4, "3-7/3", [3, 6]), (4, "3-7/4", [0, 3]), (4, "1-7/2", [0, 1, 3, 5]), (4, "1-7/6", [0, 1]), (4, "2-7/6", [2]), (4, "7-7/2", [0]), (4, "7,0,SUN", [0]), (4, "sat-7", [0, 6]), (4, "Fri-7", [0, 5, 6]),
        (4, "6-6/5", [6]), (4, "SUN-SUN", [0]), (4, "SUN-TUE/2", [0, 2]), (4, "0-6/6", [0, 6]), (4, "MON-SAT/5", [1, 6]), (4, "mon/2", None), (4, "2/2", [2, 4, 6]), (4, "WED/3", [3, 6]), (4, "6/3", [6]), (4, "0/3", [0, 3, 6]), (4, "SUN/2", [0, 2, 4, 6]), (4, "4,*/3", [0, 3, 4, 6]), (4, "0/7", [0]),
        (0, "5-5/15", [5]), (0, "5/100", [5]), (0, "59/1", [59]), (0, "0/59", [0, 59]), (0, "7", [7]), (0, "50-59/7", [50, 57]), (0, "50/7", [50, 57]), (0, "05/025", [5, 30, 55]), (0, "1,1,1", [1]), (0, "58/1,3", [3, 58, 59]), (0, "5/15,20/20", [5, 20, 35, 40, 50]), (1, "7", [7]), (1, "20/2", [20, 22]), (1, "0/12", [0, 12]), (1, "5-7", [5, 6, 7]),
        (2, "7", [7]), (2, "14", [14]), (2, "28/1", [28, 29, 30, 31]), (2, "1/10", [1, 11, 21, 31]), (2, "*/10", [1, 11, 21, 31]), (3, "7", [7]), (3, "JUL", [7]), (3, "5-7", [5, 6, 7]), (3, "jan/5", [1, 6, 11]), (3, "10/2", [10, 12]), (3, "DEC/3", [12]), (3, "*/5", [1, 6, 11]), (3, "Feb-4", [2, 3, 4]),
    ):
        if seen is not None:
            yield {"args": [place, text], "expect": seen}
    while True:
        place = random.randrange(5)
        text, own, _ = field(random, place, star=0.1)
        yield {"args": [place, text], "expect": sorted(own)}


def plain_numbers(random):
    while True:
        place = random.randrange(5)
        text, own, _ = field(random, place, simple=True, star=0.1)
        yield {"args": [place, text], "expect": sorted(own)}


def counted(random):
    for minutes, seen in ((999, 999), (1000, 1000), (1001, 1000)):
        until = datetime(2026, 1, 1) + timedelta(minutes=minutes)
        yield {"args": ["a | * * * * * | x\n", "2026-01-01", until.isoformat()], "expect": seen}


def values(random):
    for words in ("* * * * *", "0 9 1 * MON"):
        yield {"args": [words], "expect": [True, True, 3]}


def short(random):
    for word, seen in (("@hourly", "2026-05-06T08:00:00"), (" @Daily ", "2026-05-07T00:00:00"), ("@weekly", "2026-05-10T00:00:00"), ("@MONTHLY", "2026-06-01T00:00:00"), ("@yearly", "2027-01-01T00:00:00")):
        yield {"args": [word, "2026-05-06T07:08:09"], "expect": [seen]}


def commands(random):
    table = "# t\nbackup | 0 2 * * * | run it | tee\nreport|*/30 8 * * 1|r\n"
    yield {"args": [table, "--from", "2026-03-02"], "expect": [0, "2026-03-02 Mon\n  02:00  backup  run it | tee\n  08:00  report  r\n  08:30  report  r\n"]}
    yield {"args": [table, "--from", "2026-03-02", "--days", "8", "--counts"], "expect": [0, "    8  backup\n    4  report\n"]}
    yield {"args": ["", "--next", "0 0 1 * *", "--from", "2026-03-02"], "expect": [0, "2026-04-01 00:00:00\n"]}
    yield {"args": ["", "--next", "0 0 30 2 *", "--from", "2026-03-02"], "expect": [0, "never\n"]}
    yield {"args": ["x\n", "--from", "2026-03-02"], "expect": [1, ""]}


def rows(random):
    yield {"args": ["a | @daily | x\n#\nb|0  9\t1 * 6|y | z\n a | @daily | x\na | 5/15 * * * * | x\n"], "expect": [["a", "@daily", "x"], ["b", "0 9 1 * 6", "y | z"], ["a", "@daily", "x"], ["a", "5/15 * * * *", "x"]]}
    yield {"args": ["a | @daily | x\na | @daily | x\n"], "expect": [["a", "@daily", "x"]] * 2}
    yield {"args": ["  # a | b\n\n"], "expect": []}


def more_commands(random):
    """Yield what is told on the command line of what is new."""
    twice = "a | 0 2 1 * MON | x\nb | 0 2 * * 7 | y\na | 0 2 * * * | x\n"
    yield {"args": [twice, "--from", "2026-03-01", "--days", "2"], "expect": [0, "2026-03-01 Sun\n  02:00  a  x\n  02:00  b  y\n2026-03-02 Mon\n  02:00  a  x\n"]}
    yield {"args": [twice, "--counts", "--from", "2026-03-01T02:00", "--days", "8"], "expect": [0, "    8  a\n    2  b\n"]}
    yield {"args": ["", "--next", "0 0 29 2 *", "--from", "2096-02-29"], "expect": [0, "2104-02-29 00:00:00\n"]}
    yield {"args": ["", "--next", "5/15 * * * 5-7", "--from", "2026-03-02T10:00"], "expect": [0, "2026-03-06 00:05:00\n"]}


def plain_commands(random):
    ties = "b | 0 2 * * * | x\na | 0 1 * * * | y\n"
    yield {"args": [ties, "--counts", "--from", "2026-03-01"], "expect": [0, "    1  a\n    1  b\n"]}
    yield {"args": [ties, "--from", "2026-03-01", "--days", "0"], "expect": [0, ""]}
    yield {"args": [ties, "--from", "2026-03-01T01:00:30"], "expect": [0, "2026-03-01 Sun\n  02:00  b  x\n2026-03-02 Mon\n  01:00  a  y\n"]}
    yield {"args": ["a | @daily | x\na | @daily | y\n", "--from", "2026-03-01"], "expect": [1, ""]}
    yield {"args": ["", "--next", "* * * * 8"], "expect": [1, ""]}
    yield {"args": ["", "--from", "2026-03-01"], "expect": ["exit", 2]}
    yield {"args": ["# x\n", "--from", "2026-03-01"], "expect": [0, ""]}


def written(random):
    table = "# t\nbackup | 0 2  *  * * | run it | tee\nr-2|*/30 8 * * 1|r\n"
    yield {"args": [table], "expect": "backup | 0 2 * * *    | run it | tee\nr-2    | */30 8 * * 1 | r\n"}
    yield {"args": ["a | @daily | x\nb | 0 0 1 * mon | y\na|@daily|x"], "expect": "a | @daily      | x\nb | 0 0 1 * mon | y\na | @daily      | x\n"}
    yield {"args": [""], "expect": ""}


def suite(random):
    names = ["tests/test_schedule.py", "tests/test_plan.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 9 and set(seen.values()) == {"passed"}}
