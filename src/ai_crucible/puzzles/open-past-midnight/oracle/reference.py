"""Right answers by a way of their own: a week as one mark for each of its minutes."""

DAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
WEEK = 7 * 1440


def marks(rules):
    """Return the minutes of a week that are open; a rule is days and pairs of minutes."""
    own = {day: [] for day in range(7)}
    for days, spans in rules:
        for day in days:
            own[day] = spans
    week = bytearray(WEEK)
    for day, spans in own.items():
        for start, end in spans:
            length = end - start if end > start else end + 1440 - start
            first = day * 1440 + start
            week[first : first + length] = b"\1" * len(week[first : first + length])
            if first + length > WEEK:
                week[: first + length - WEEK] = b"\1" * (first + length - WEEK)
    return bytes(week)


def asked(random, text, rules, extra=()):
    week = marks(rules)
    edges = [at for at in range(WEEK) if week[at] != week[at - 1]]
    times = [*extra, random.randint(-(10**6), 10**6), 0, WEEK - 1]
    for edge in random.sample(edges, min(3, len(edges))):
        times += [edge, edge - 1 - WEEK * random.randint(0, 2)]
    answers = []
    for at in times:
        here = week[at % WEEK]
        place = (week + week).find(1 - here, at % WEEK)
        answers.append([bool(here), None if place < 0 else place - at % WEEK])
    return {"args": [text, times], "expect": [sum(week), answers]}


def clock(minute):
    return "%02d:%02d" % divmod(minute, 60)


def written(random, rules_of_days):
    """Return a text, and its rules; blanks where they may stand."""
    gap = lambda: random.choice(["", "", "", " ", "  "])
    rules, texts = [], []
    for parts, spans in rules_of_days:
        days, words = [], []
        for first, last in parts:
            days += [(first + step) % 7 for step in range((last - first) % 7 + 1)]
            one = first == last and random.random() < 0.8
            words.append(DAYS[first] if one else f"{DAYS[first]}{gap()}-{gap()}{DAYS[last]}")
        times = "closed" if not spans else f"{gap()},{gap()}".join(f"{clock(a)}{gap()}-{gap()}{clock(b)}" for a, b in spans)
        texts.append(gap() + f"{gap()},{gap()}".join(words) + random.choice([" ", " ", "   "]) + times + gap())
        rules.append((days, spans))
    return ";".join(texts), rules


def some(random, late=False):
    at = lambda: random.choice([0, 1, 540, 720, 1439, random.randrange(1440), random.randrange(24) * 60])
    spans = []
    for _ in range(random.choice([0, 1, 1, 2, 3])):
        start = random.randint(1080, 1439) if late else at()
        end = random.choice([0, 60, 180, start, 1440]) if late else random.choice([at(), at(), 1440, start + 1])
        spans.append((start, end))
    parts = [(first, random.choice([first, first, random.randrange(7)])) for first in [random.randrange(7) for _ in range(random.choice([1, 1, 2, 3]))]]
    return parts, spans


def weeks(random):
    whole = [([(0, 6)], [(0, 1440)])]
    yield asked(random, "Mo-Su 00:00-24:00", [(range(7), [(0, 1440)])])
    yield asked(random, "Mo-Su 09:00-09:00", [(range(7), [(540, 540)])], [539, 540])
    yield asked(random, "Mo closed", [([0], [])])
    yield asked(random, "Su 22:00-02:00", [([6], [(1320, 120)])], [119, 120, -1, 6 * 1440 + 1319])
    yield asked(random, "Mo-Su 00:00-00:00;Fr 00:00-23:59", [(range(7), [(0, 0)]), ([4], [(0, 1439)])], [5 * 1440 - 1, 5 * 1440, 5 * 1440 - 2])
    for text, rules in (
        ("Su 22:00-24:00;Mo 00:00-02:00", [([6], [(1320, 1440)]), ([0], [(0, 120)])]), ("Mo-Su 00:00-12:00,12:00-24:00", [(range(7), [(0, 720), (720, 1440)])]), ("Mo-Su 06:00-18:00,17:00-06:00", [(range(7), [(360, 1080), (1020, 360)])]), ("Mo,Mo 09:00-10:00", [([0], [(540, 600)])]), ("Mo-Su 10:00-11:00;We closed;Mo-Su,We 09:00-09:01", [(range(7), [(540, 541)])]),
        ("We-We 00:00-24:00", [([2], [(0, 1440)])]), ("Tu-Mo 23:59-00:00", [(range(7), [(1439, 1440)])]), ("Su-Su 12:00-12:00", [([6], [(720, 720)])]), ("Mo 00:00-00:01", [([0], [(0, 1)])]), ("Su 23:59-24:00", [([6], [(1439, 1440)])]), ("Mo-Su closed", [(range(7), [])]), ("Mo 09:00-10:00,09:00-10:00,09:30-09:45", [([0], [(540, 600)])]), ("Sa-Mo 22:00-21:00", [([5, 6, 0], [(1320, 1260)])]), ("Mo 00:00-24:00;Mo closed", [([0], [])]),
        ("Mo" + " " * 2500 + "closed" + " " * 2500 + ";" + " " * 2500 + "Tu 09:00" + " " * 2500 + "-10:00", [([1], [(540, 600)])]), (";".join(["Mo 09:00-10:00"] * 2500), [([0], [(540, 600)])]), ("Mo " + ",".join(["09:00-10:00"] * 2500), [([0], [(540, 600)])]), (",".join(["Mo"] * 2500) + " 09:00-10:00", [([0], [(540, 600)])]),
    ):
        # Times as far away as one likes, too.
        yield asked(random, text, rules, [10**30 + random.randint(0, 10**5), -(10**30) - random.randint(0, 10**5), 2**53 + 1 + random.randint(0, 9999), -1, -WEEK, WEEK, 5 * 10**15 + 1])
    while True:
        text, rules = written(random, [*(whole if random.random() < 0.05 else []), *(some(random) for _ in range(random.choice([1, 1, 2, 3, 4])))])
        yield asked(random, text, rules)


def nights(random):
    yield asked(random, "Mo-Su 20:00-02:00; Tu closed", [(range(7), [(1200, 120)]), ([1], [])], [1440, 1440 + 119, 1440 + 120, 2880])
    while True:
        text, rules = written(random, [some(random, late=True) for _ in range(random.choice([1, 2, 3]))])
        yield asked(random, text, rules)


BAD = [
    "", " ", ";", "Mo 09:00-17:00;", ";Mo 09:00-17:00", "Mo 09:00-17:00;;Tu closed", "mo 09:00-17:00", "MO 09:00-17:00", "Mo",
    "09:00-17:00", "Mo 9:00-17:00", "Mo 09:00-17:0", "Mo 24:00-02:00", "Mo 24:30-02:00", "Mo 09:00-24:30", "Mo 09:60-17:00", "Mo 09:00-25:00",
    "Mo\t09:00-17:00", "Mo 09:00-17:00\n", "Mo09:00-17:00", "Moclosed", "Mo Closed", "Mo closed,09:00-10:00", "Mo 09:00-10:00,closed", "Mo,Tu", "Mo, 09:00-10:00",
    "Mo- 09:00-10:00", "Mo-Tu-We closed", "Mo 09:00", "Mo 09:00-10:00-11:00", "Mo 09:00-10:00,", "Mo 09:00 10:00", "Mo 09 :00-10:00", "Mo 09.00-10.00", "M o closed",
    "Xx closed", "Mo 09:00-10:00 Tu closed", "Mo \u0660\u0669:00-10:00", "Mo 0\u0669:00-10:00", "Mo 09:0\u0660-10:00", "Mo 09:00-1\u0660:00", "Mo\u00a009:00-10:00", "Mo Tu closed", ",Mo closed", "-Mo closed", "Mo 009:00-10:00",
    "Mo 24:00-24:00", "Mo 09:00-10:00,24:00-24:00", "Mo 24:00-00:00", "Mo 24:00-24:00,09:00-10:00", "Tu closed;Mo 24:00-24:00", "Mo 24:01-25:00", "Mo 00:00-24:60", "Mo 09:00-24:1", "Mo 00:60-01:00", "Mo 23:60-24:00", "Mo 99:99-10:00",
    "Mon 09:00-10:00", "Monday closed", "mO closed", "Mo--Tu closed", "Mo,,Tu closed", "Mo, closed", "Mo- closed", "Mo-Tu, closed", "Mo-Su-Mo closed", "M closed", "Mo-9 closed", "1 closed", "Mo:closed", "Mo; closed", "Mo 09:00-10:00,,11:00-12:00", "Mo ,09:00-10:00", "Mo 09:00--10:00", "Mo 09:00-", "Mo -10:00", "Mo 09:00,10:00", "Mo 09:00-10:00,11:00", "Mo 09:00-10:00;Tu", "Mo 09:00-10:00;11:00-12:00", "Mo 09: 00-10:00", "Mo 09:00-1 0:00", "Mo 0 9:00-10:00", "M o-Tu closed", "Mo clo sed", "Mo close", "Mo closed.", "Mo closedx", "Mo CLOSED", "Mo closed-closed", "Mo off",
    "Mo +9:00-10:00", "Mo +09:00-10:00", "Mo 09:+0-10:00", "Mo 09:-1-10:00", "Mo 1_0:00-11:00", "Mo 09:0-10:00", "Mo 0900-1000", "Mo 09:00:00-10:00:00", "Mo 9-17", "Mo 09h00-10h00", "Mo \uff10\uff19:00-10:00", "Mo 09\uff1a00-10:00", "Mo 09:00\u201310:00", "Mo\u2013Tu closed", "Mo 09:00-10:\u00b2\u00b2", "Mo \u0966\u096f:00-10:00", "\u041c\u043e closed", "Mo\uff0cTu closed", "Mo closed\uff1bTu closed", "Mo\0closed", "Mo closed\0", "\ufeffMo closed", "Mo closed|Tu closed", "Mo 09:00-10:00 ,", "Mo closed; ", " ; Mo closed", "Mo closed ; ; Tu closed", "Mo 09:00-10:00,9:00-10:00", "Tu closed;Mo 9:00-10:00",
    "Mo 09:00-17:00; tu closed", "Mo 09:00-17:00, 18:00-24:01", "Mo closed closed", "Mo -09:00-10:00", "Mo 30:00-31:00", "Mo 0a:00-10:00",
]


def not_so(random):
    for text in BAD:
        yield {"args": [text, []], "expect": "ValueError"}
    # White space of other kinds wherever a blank may stand or is needed.
    for blank in "\t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b":
        whole = "Mo{0}- Tu,{0}We{0} 09:00{0}-{0}10:00{0},11:00-12:00{0};{0}Th closed{0}"
        places = whole.count("{0}")
        for place in random.sample(range(places), 3):
            text = whole
            for number in range(places):
                text = text.replace("{0}", blank if number == place else "", 1)
            yield {"args": [text, []], "expect": "ValueError"}
        yield {"args": [f"Mo{blank}closed", []], "expect": "ValueError"}
    while True:
        text, rules = written(random, [some(random) for _ in range(2)])
        broken = random.choice([text + ";", text.replace("-", "\u2013", 1), text.lower(), text + " x", text.replace(" ", "\t", 1), "; " + text, text.replace(":", "", 1)])
        good = broken == text
        yield asked(random, text, rules) if good else {"args": [broken, []], "expect": "ValueError"}


def at_once(random):
    """Two hours side by side, asked in turn and again, in any order."""
    while True:
        texts, weeks = [], []
        for _ in range(2):
            text, rules = written(random, [some(random, late=random.random() < 0.5) for _ in range(random.choice([1, 2, 3]))])
            texts.append(text)
            weeks.append(marks(rules))
        asks, expect = [], []
        for _ in range(24):
            which, name, at = random.randrange(2), random.choice(["is_open", "next_change", "total"]), random.randint(-20_000, 20_000)
            week = weeks[which]
            here = week[at % WEEK]
            place = (week + week).find(1 - here, at % WEEK)
            asks.append([which, name, *([] if name == "total" else [at])])
            expect.append(bool(here) if name == "is_open" else sum(week) if name == "total" else None if place < 0 else place - at % WEEK)
        yield {"args": [texts, asks], "expect": expect}
