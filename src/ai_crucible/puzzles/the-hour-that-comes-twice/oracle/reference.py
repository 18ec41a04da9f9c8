"""Right answers by a way of their own: every minute of some days is written down, with what the clock shows in it."""

from bisect import bisect_left
from datetime import datetime, timedelta
from itertools import accumulate

WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY = 1440
SPAN = 14


class Clock:
    """The minutes of some days from a beginning on."""

    def __init__(self, begin, offset, changes, span=SPAN):
        self.begin, self.offset, self.changes = begin, offset, changes
        self.shown, now = [], offset
        edges = [*(at for at, _ in changes), span * DAY]
        at = 0
        for edge, (_, to) in zip(edges, [*changes, (0, 0)]):
            self.shown += range(at + now, edge + now)
            at, now = edge, to
        self.highest = list(accumulate(self.shown, max))
        self.lowest = list(accumulate(reversed(self.shown), min))[::-1]
        self.span = span
        self.days = {minute // DAY for minute in self.shown}

    def first(self, local):
        return bisect_left(self.highest, local)

    def last(self, local):
        return bisect_left(self.lowest, local)

    def iso(self, minute):
        return (self.begin + timedelta(minutes=minute)).isoformat()

    def text(self, name):
        rest = "".join(f" {(self.begin + timedelta(minutes=at)):%Y-%m-%dT%H:%M} {to:+}" for at, to in self.changes)
        return f"zone {name} {self.offset:+}{rest}\n"


def clock(random, span=SPAN, begin=None):
    """Return a clock with some changes in the middle of its days, large and small, some close together."""
    begin = begin or some_day(random)
    if random.random() < 0.3:
        return leap(random, begin, span)
    offset, at, changes = random.choice([0, 60, -300, 345, 840, -720]), random.randint(4 * DAY, 7 * DAY), []
    now = offset
    for _ in range(random.choice([0, 1, 1, 2, 2, 3])):
        size = random.choice([60, -60, 60, -60, 30, 120, -120, 1440, -1440, 1, 725, -700, 600])
        to = max(-1439, min(1439, now + size))
        if to != now:
            changes.append((at, to))
            now = to
        at += random.choice([10, 60, 90, 180, 600, 1440, 2000])
        if random.random() < 0.3:
            at += -at % DAY - (now % DAY)
            at = max(at, changes[-1][0] + 1 if changes else at)
    return Clock(begin, offset, changes, span)


def leap(random, begin, span):
    """Return a clock that leaves a day out, or all of it but some minutes; it may come back to it soon."""
    offset = random.choice([-1, -60, -300, -720])
    at = random.randint(5, 7) * DAY - offset + random.choice([0, 0, 0, 1, -1, 30])
    changes = [(at, offset + random.choice([1440, 1440, 1440, 1439, 1410]))]
    if random.random() < 0.5:
        at += random.choice([1, 10, 30, 59, 60, 90])
        changes.append((at, changes[0][1] - random.choice([10, 30, 60, 120, 1440])))
    return Clock(begin, offset, changes, span)


def some_day(random):
    """Return a day some days before the end of a month."""
    after = datetime(random.choice([2026, 2028]), random.choice([1, 3, 3, 3, 5, 7, 8, 10]), 1)
    return after - timedelta(days=random.randint(5, 9))


def at_time(minute):
    return f"{minute // 60:02}:{minute % 60:02}"


def near(random, own):
    """Return a time of the day that is often near what a change leaves out or shows twice."""
    if own.changes and random.random() < 0.7:
        at, _ = random.choice(own.changes)
        return (random.choice([own.shown[at], own.shown[at - 1], own.shown[at] - 30, own.shown[at - 1] + 30]) + random.choice([0, 0, 0, -1, 1, 15, -20])) % DAY
    return random.choice([0, 0, 1439, random.randrange(DAY)])


def days(random, own, kinds=("daily", "daily", "weekly", "monthly")):
    """Return the words for days, and the days of the clock that are meant, from 0."""
    kind = random.choice(kinds)
    dates = {number: (own.begin + timedelta(days=number)).date() for number in range(-3, own.span + 3)}
    if kind == "daily":
        return kind, set(dates)
    if kind == "weekly":
        chosen = sorted(random.sample(range(7), random.randint(1, 5)))
        return "weekly " + ",".join(WEEK[one] for one in chosen), {number for number, date in dates.items() if date.weekday() in chosen}
    chosen = {random.choice([dates[number].day for number in range(3, 9)]) for _ in range(random.randint(0, 2))} | {random.choice([29, 30, 31])}
    meant = set()
    for number, date in dates.items():
        last = (date.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)
        if date.day in chosen or (date == last and max(chosen) > date.day):
            meant.add(number)
    return "monthly " + ",".join(map(str, sorted(chosen))), meant


def job(random, own, name, zone, windows=0.5, kinds=("daily", "daily", "weekly", "monthly")):
    """Return a job's line, and the minutes of its runs."""
    words, meant = days(random, own, kinds)
    meant = sorted(meant & own.days)
    runs = set()
    if random.random() < windows:
        step, begin, end = random.choice([1, 7, 20, 30, 45, 60, 600]), near(random, own), near(random, own)
        if random.random() < 0.5:
            end = (begin + random.choice([0, 1, 30, 60, 180, 1439])) % DAY
        for day in meant:
            low, high = own.first(day * DAY + begin), own.last(day * DAY + end + DAY * (end <= begin))
            runs |= set(range(low, high, step))
        what = f"every {step} from {at_time(begin)} to {at_time(end)}"
    else:
        times = [near(random, own) for _ in range(random.randint(1, 3))]
        runs = {own.first(day * DAY + time) for day in meant for time in times}
        what = ",".join(map(at_time, times))
    return f"job {name} {zone} {words} {what}", sorted(runs)


def ends(random, own):
    """Return two instants in the middle, often near a change."""
    if own.changes and random.random() < 0.8:
        at = random.choice(own.changes)[0]
        low = at + random.choice([0, 0, -1, 1, -60, -1440, -600])
        return max(4 * DAY, low), min(10 * DAY, max(4 * DAY, low) + random.choice([0, 1, 60, 600, 1440, 2880]))
    low = random.randint(4 * DAY, 8 * DAY)
    return low, low + random.choice([1, 60, 1440])


def clocks(random):
    while True:
        own = clock(random)
        instants, locals_ = [], []
        for _ in range(6):
            low, high = ends(random, own)
            instants += [low, high]
            day = own.shown[low] // DAY
            locals_ += [own.shown[low], day * DAY + near(random, own)]
        changes = [[own.iso(at), to] for at, to in own.changes]
        first = [[own.iso(own.first(one)), own.iso(own.last(one))] for one in locals_]
        yield {"args": [own.offset, changes, [own.iso(one) for one in instants], [own.iso(one) for one in locals_]], "expect": [[own.iso(own.shown[one]) for one in instants], first]}


def table(random, count, **how):
    """Return a table's text, its clock, and the runs of each job."""
    begin = some_day(random)
    zones = {name: clock(random, begin=begin) for name in ("one", "two")}
    text, jobs = "".join(own.text(name) for name, own in zones.items()), {}
    for number in range(count):
        zone = random.choice(["one", "one", "two"])
        name = random.choice("xyz") + str(number)
        line, jobs[name] = job(random, zones[zone], name, zone, **how)
        text += line + "\n"
    return text, zones["one"], jobs


def plans(random, **how):
    while True:
        text, own, jobs = table(random, random.randint(1, 3), **how)
        low, high = ends(random, own)
        runs = sorted((at, place, name) for place, (name, found) in enumerate(jobs.items()) for at in found if low <= at < high)
        yield {"args": [text, own.iso(low), own.iso(high)], "expect": [[own.iso(at), name] for at, _, name in runs]}


def times(random):
    yield from plans(random, windows=0)


def windows(random):
    yield from plans(random, windows=1, kinds=("daily", "weekly"))


def months(random):
    yield from plans(random, windows=0.3, kinds=("monthly",))


def upcoming(random):
    while True:
        text, own, jobs = table(random, 2, kinds=("daily", "daily", "weekly"))
        afters = [ends(random, own)[0] for _ in range(3)]
        found = [next((at for at in runs if at > after), None) for runs in jobs.values() for after in afters]
        if None in found or max(found) > 10 * DAY:
            continue  # it would lie behind the minutes that are written down
        yield {"args": [text, [own.iso(one) for one in afters]], "expect": [own.iso(one) for one in found]}


def seldom(random):
    """Yield what comes after many days, or after more than a hundred."""
    begin = datetime(2026, 1, 20)
    for number in range(20):
        own = clock(random, 125, begin)
        line, runs = job(random, own, "j", "z", 0.3, ("monthly",))
        after = random.randint(2 * DAY, 12 * DAY)
        found = next((at for at in runs if after < at), None)
        if found is None:
            continue
        yield {"args": [own.text("z") + line + "\n", [own.iso(after)]], "expect": [own.iso(found)]}
    for text, after, found in (
        ("zone z +0\njob j z monthly 31 00:00\n", "2026-02-28T00:00:00", "2026-03-31T00:00:00"),
        ("zone z +0\njob j z daily every 5 from 02:10 to 02:20\n", "2026-02-28T02:15:00", "2026-03-01T02:10:00"),
        ("zone z +0 2026-03-01T02:00 +60\njob j z weekly sun every 5 from 02:10 to 02:20\n", "2026-02-28T00:00:00", "2026-03-08T01:10:00"),
        ("zone z +0 2026-03-01T00:00 +1439 2026-03-01T00:01 +0 2026-03-01T12:00 +720\njob j z monthly 2 00:00\n", "2026-02-03T00:00:00", "2026-03-01T12:00:00"),
    ):
        yield {"args": [text, [after]], "expect": [found]}
    sundays = [datetime(2026, 3, 1, 2) + timedelta(days=7 * week) for week in range(14)]
    rest = "".join(f" {at:%Y-%m-%dT%H:%M} +60 {at + timedelta(hours=9):%Y-%m-%dT%H:%M} +0" for at in sundays)
    at = datetime(2026, 6, 7, 2, 10)
    far = at - timedelta(days=100)
    afters = [far.isoformat(), (far - timedelta(minutes=1)).isoformat(), at.isoformat()]
    yield {"args": [f"zone z +0{rest}\njob j z weekly sun every 5 from 02:10 to 02:20\n", afters], "expect": [at.isoformat(), None, at.replace(minute=15).isoformat()]}
    # Every hour the clock goes back: of 2 March it shows the first hour for longer than a hundred days.
    start = datetime(2026, 3, 2, 1)
    changes = [(start + timedelta(hours=hour), -60 * (hour + 1)) for hour in range(23)]
    rest = "".join(f" {at:%Y-%m-%dT%H:%M} {to:+}" for at, to in changes)
    yield {"args": [f"zone z +0{rest}\njob j z weekly mon 00:30,00:59\n", ["2026-03-02T00:30:00", "2026-03-02T00:59:00"]], "expect": ["2026-03-02T00:59:00", "2026-03-09T23:30:00"]}


def missed(random):
    while True:
        text, own, jobs = table(random, random.randint(1, 4))
        low, high = ends(random, own)
        lines, kept = text.splitlines(), []
        now = random.choice([high, *(at for runs in jobs.values() for at in runs if low < at <= high)])
        for place, (name, runs) in enumerate(jobs.items()):
            policy, grace = random.choice(["all", "once", "once", "once", "skip", "skip"]), random.choice([0, 0, 1, 20, 60, 300])
            inside = [at for at in runs if low < at <= now]
            if inside and random.random() < 0.5:
                grace = now - random.choice(inside) + random.choice([0, 0, -1])
            grace = max(grace, 0)
            lines[2 + place] += f" missed {policy}" + (f" {grace}" if grace or random.random() < 0.5 else "")
            early = [at for at in inside if now - at <= grace]
            late = [at for at in inside if now - at > grace]
            if policy == "once":
                late = late[-1:] if not early else []
            kept += [(at, place, name) for at in early + (late if policy != "skip" else [])]
        yield {"args": ["\n".join(lines), own.iso(low), own.iso(now)], "expect": [[own.iso(at), name] for at, _, name in sorted(kept)]}


def tables(random):
    head = "zone z +60\n"
    for text, line in (("x\n", 1), ("zone z\n", 1), ("zone z 60\n", 1), ("zone z +1440\n", 1), ("zone z +0 2026-01-01T00:00\n", 1), ("zone z +0 2026-01-32T00:00 +1\n", 1), ("zone z +0 2026-01-02T00:00 +1 2026-01-01T00:00 +2\n", 1), (head + head, 2), (head + "job j\n", 2), (head + "job j y daily 00:00\n", 2), (head + "job j z yearly 00:00\n", 2), (head + "job j z daily\n", 2), (head + "job j z daily 24:00\n", 2), (head + "job j z daily 1:00\n", 2), (head + "job j z weekly mon,xxx 01:00\n", 2), (head + "job j z weekly 01:00\n", 2), (head + "job j z monthly 0 01:00\n", 2), (head + "job j z monthly 32 01:00\n", 2), (head + "job j z daily every 0 from 01:00 to 02:00\n", 2), (head + "job j z daily every x from 01:00 to 02:00\n", 2), (head + "job j z daily every 1 to 01:00 from 02:00\n", 2), (head + "job j z daily every 1 from 01:00\n", 2), (head + "job j z daily 01:00 missed\n", 2), (head + "job j z daily 01:00 missed some\n", 2), (head + "job j z daily 01:00 missed all -1\n", 2), (head + "job j z daily 01:00 missed all 1 2\n", 2), (head + "job j z daily 01:00\n\njob j z daily 02:00\n", 4)):
        yield {"args": [text], "expect": ["fault", line, True]}
    text = "# x\n" + head + "job a z daily 00:00,23:59\n job b z weekly mon every 5 from 01:00 to 00:30 missed once 7\njob c z monthly 1,31 02:00 missed skip\n"
    yield {"args": [text], "expect": [["a", "z", ["0:00:00", "23:59:00"], None, "all", 0], ["b", "z", [], [5, "1:00:00", "0:30:00"], "once", 7], ["c", "z", ["2:00:00"], None, "skip", 0]]}


def firm(random):
    yield {"args": ["zone z +60\njob j z daily 00:00\njob w z daily every 5 from 01:00 to 02:00\n"], "expect": [True] * 9}


def commands(random):
    text = "zone z +60 2026-03-29T01:00 +120\njob j z daily 02:30\njob k z monthly 31 00:00\n"
    yield {"args": [text, "due", "2026-03-28T00:00", "2026-03-31T00:00"], "expect": [0, "2026-03-28T01:30  Sat 02:30  j\n2026-03-29T01:00  Sun 03:00  j\n2026-03-30T00:30  Mon 02:30  j\n2026-03-30T22:00  Tue 00:00  k\n"]}
    yield {"args": [text, "next", "k", "2026-04-01T00:00"], "expect": [0, "2026-04-29T22:00  Thu 00:00  k\n"]}
    yield {"args": [text, "next", "l", "2026-04-01T00:00"], "expect": [1, ""]}
    yield {"args": [text, "next", "k", "2026-04-01"], "expect": [1, ""]}
    yield {"args": [text, "next", "k"], "expect": [2, ""]}
    yield {"args": ["zone z +60 2026-03-29T01:00 +120\njob j z weekly sun every 5 from 02:00 to 02:00\n", "next", "j", "2026-03-23T00:00"], "expect": [0, "2026-03-23T00:05  Mon 01:05  j\n"]}


def suite(random):
    names = ["tests/test_table.py", "tests/test_plan.py"]
    yield {"args": names, "holds": lambda seen: len(seen) >= 6 and set(seen.values()) == {"passed"}}
