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
        return random.choice([str, str, "{:02}".format])(number)

    for _ in range(random.choice([1, 1, 1, 2, 3])):
        kind = random.choice(["one", "range", "steps", "star"]) if simple else random.choice(["one", "one", "range", "steps", "star", "from"])
        top = 7 if place == 4 and not simple else high
        a, b, step = random.randint(low, top), random.randint(low, top), random.choice([1, 2, 3, 5, 7, 15, 40])
        a, b = min(a, b), max(a, b)
        if kind == "one":
            text, own = word(a), [a]
        elif kind == "range":
            text, own = f"{word(a)}-{word(b)}", [number for number in range(low, top + 1) if a <= number <= b]
        elif kind == "steps":
            text, own = f"{word(a)}-{word(b)}/{step}", [number for number in range(low, top + 1) if a <= number <= b and (number - a) % step == 0]
        elif kind == "star":
            text, own = f"*/{step}", [number for number in range(low, high + 1) if (number - low) % step == 0]
        else:
            a = min(a, high)
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
    for text, at, seen in (("5/15 * * * *", "2026-03-01T00:06:00", ["2026-03-01T00:20:00", "2026-03-01T00:35:00", "2026-03-01T00:50:00", "2026-03-01T01:05:00"]), ("0 0 * * 7", "2026-03-01T00:00:00", ["2026-03-08T00:00:00"]), ("0 0 * * 5-7", "2026-03-01T00:00:00", ["2026-03-06T00:00:00", "2026-03-07T00:00:00", "2026-03-08T00:00:00"]), ("0 0 * * 7-7", "2026-03-01T00:00:00", ["2026-03-08T00:00:00"]), ("0 0 * * SUN-TUE", "2026-03-01T00:00:00", ["2026-03-02T00:00:00", "2026-03-03T00:00:00", "2026-03-08T00:00:00"]), ("0 0 * * 5/1", "2026-03-01T00:00:00", ["2026-03-06T00:00:00", "2026-03-07T00:00:00", "2026-03-13T00:00:00"]), ("0 0 28/1 2 *", "2026-03-01T00:00:00", ["2027-02-28T00:00:00"]), ("0 0 1 OCT/2 *", "2026-03-01T00:00:00", ["2026-10-01T00:00:00", "2026-12-01T00:00:00", "2027-10-01T00:00:00"])):
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


def plans(random):
    yield {"args": ["a | 0 1 * * * | x\nb | 0 1 * * * | y\na | */30 1 * * * | x\n", "2026-01-01", "2026-01-02", 9], "expect": [["2026-01-01T01:00:00", "a", "x"], ["2026-01-01T01:00:00", "b", "y"], ["2026-01-01T01:30:00", "a", "x"]]}
    yield {"args": ["a | * * * * * | x\na | * * * * * | x\nb | 0 0 * * * | y\n", "2026-01-01", "2026-01-02", 3], "expect": [["2026-01-01T00:00:00", "a", "x"], ["2026-01-01T00:00:00", "b", "y"], ["2026-01-01T00:01:00", "a", "x"]]}
    yield {"args": ["a | * * * * * | x\n\na | 0 * * * * | y\n", "2026-01-01", "2026-01-02", 9], "expect": ["fault", 3]}
    yield {"args": ["a | 0 0 * * * | x\n", "2026-01-01T00:00:30", "2026-01-03T00:00:00", 9], "expect": [["2026-01-02T00:00:00", "a", "x"]]}
    yield {"args": ["a | * * * * * | x\n", "2026-01-01", "9000-01-01", 2], "expect": [["2026-01-01T00:00:00", "a", "x"], ["2026-01-01T00:01:00", "a", "x"]]}
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
    words = ["60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "*/ * * * *", "*/x * * * *", "a * * * *", ", * * * *", "1, * * * *", "-1 * * * *", "1- * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "* * * MON *", "* * * * JAN", "* * * *", "* * * * * *", "", "@often", "** * * * *", "*-5 * * * *", "\u0661 * * * *", "*/\u0662 * * * *", "+1 * * * *", "1.5 * * * *", "* * * * FRI-MON", "* * * * 7-1", "* * * SUNDAY *", "0/0 * * * *", "60/5 * * * *", "* * * * 7-8"]
    for word in words:
        yield {"args": [word, "2026-01-01T00:00:00"], "expect": "FieldError"}


def told(random):
    names = ["minute", "hour", "day of the month", "month", "day of the week"]
    for place, name in enumerate(names):
        for word in ("99", "x", "1/0", "5-2"):
            words = " ".join(word if other == place else "*" for other in range(5))
            yield {"args": [words], "holds": lambda seen, name=name: seen.startswith(name + ":")}


def is_due(random):
    while True:
        text, fields = schedule(random)
        seen = [moments(random).replace(day=random.randint(1, 28)) for _ in range(12)]
        right = [[falls(fields, at) and at.hour in fields[1][1] and at.minute in fields[0][1], falls(fields, at)] for at in seen]
        yield {"args": [text, [at.isoformat() for at in seen]], "expect": right}


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


def written(random):
    table = "# t\nbackup | 0 2  *  * * | run it | tee\nr-2|*/30 8 * * 1|r\n"
    yield {"args": [table], "expect": "backup | 0 2 * * *    | run it | tee\nr-2    | */30 8 * * 1 | r\n"}


def suite(random):
    names = ["tests/test_schedule.py", "tests/test_plan.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 9 and set(seen.values()) == {"passed"}}
