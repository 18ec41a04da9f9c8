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
    "Mo 09:00-17:00; tu closed", "Mo 09:00-17:00, 18:00-24:01", "Mo closed closed", "Mo -09:00-10:00", "Mo 30:00-31:00", "Mo 0a:00-10:00",
]


def not_so(random):
    for text in BAD:
        yield {"args": [text, []], "expect": "ValueError"}
    while True:
        text, rules = written(random, [some(random) for _ in range(2)])
        broken = random.choice([text + ";", text.replace("-", "\u2013", 1), text.lower(), text + " x", text.replace(" ", "\t", 1), "; " + text, text.replace(":", "", 1)])
        good = broken == text
        yield asked(random, text, rules) if good else {"args": [broken, []], "expect": "ValueError"}

