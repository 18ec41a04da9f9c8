"""Right answers by a way of their own, and the inputs that they are asked for."""

from fractions import Fraction

INF, NAN = float("inf"), float("nan")


def wrapped(value):
    rest = value % 360
    return rest - 360 if rest > 180 else rest


def near(args, exact):
    """Accept what is within 1e-9 of the exact answer, and in the range; either end where the answer is at the end."""

    def holds(answer):
        if isinstance(answer, bool) or not isinstance(answer, (int, float)) or not -180 <= answer <= 180:
            return False
        if answer == -180 and not -180 < exact < -180 + Fraction(1, 10**9):
            return False
        gap = abs(Fraction(answer) - exact)
        return min(gap, abs(gap - 360)) <= Fraction(1, 10**9)

    return {"args": args, "holds": holds}


def turned(start, end):
    return wrapped(Fraction(end) - Fraction(start))


def pairs(random):
    for pair in ((179, -179), (-179, 179), (170, -170), (0, 540), (10, -170), (-170, 10), (0, 180), (0, -180), (180, -180), (-180, 180), (90, -90), (1.5, -179.25), (0, 900), (0, -900), (720, 0), (-720, 361), (1e6, -1e6), (540, 180.5), (-541, 719), (1000, -1000)):
        yield pair
    for digits in range(3, 9):
        # Near the seam, and not at it.
        off, start = 10**-digits, random.choice([random.randint(-180, 180), round(random.uniform(-180, 180), 3)])
        yield (0, random.choice([-1, 1]) * (180 + random.choice([-1, 1]) * 5 * off))
        yield (0, -180 + off)
        yield (start, start + random.choice([-1, 1]) * 180 + random.choice([-1, 1]) * off)
    for digits in range(1, 13):
        yield (0, round(0.123456789123, digits))
        yield (round(-179.876543210987, digits), 179.5)
    for _ in range(12):
        # Opposite but for what a float leaves, and just beside a turn of nothing or of a whole.
        start = random.choice([random.uniform(-180, 180), round(random.uniform(-180, 180), random.randint(1, 6)), random.uniform(-(10**6), 10**6)])
        for step in (180, -180, 360, -360, 540):
            yield (start, max(-1e6, min(1e6, start + step)))
    for start, end in ((180.0, -180.0), (-180.0, 180.0), (180, 180), (-180, -180), (0.0, -0.0), (179.9999999999, -179.9999999999), (-179.9999999999, 179.9999999999), (1e-12, -1e-12), (0, 1e-300), (0, -1e-300), (180, 5e-324), (-180, -5e-324), (0, 179.99999999999997), (0, -179.99999999999997), (0, 180.00000000000003), (0, -180.00000000000003), (1e6, 1e6), (-1e6, 999999.9999999), (359.9999999999, 0), (180, 1e-11), (-180, -1e-11), (180, -1e-11)):
        yield (start, end)
    while True:
        size = random.choice([181, 360, 1000, 10**6])
        # As many digits as a float has, too.
        pair = tuple(random.choice([random.randint(-size, size), round(random.uniform(-size, size), random.randint(1, 9)), random.uniform(-size, size)]) for _ in range(2))
        yield pair


def turns(random):
    for start, end in pairs(random):
        yield near([start, end], turned(start, end))


def middles(random):
    for start, end in pairs(random):
        # Exactly opposite points have their middle by the turn of 180; just beside them either way is near.
        exact = turned(start, end)
        if exact == 180 or abs(exact) < Fraction("179.999"):
            yield near([start, end], wrapped(Fraction(start) + exact / 2))


def no_numbers(random):
    for one in ("NaN", "-nan", "Infinity", "-infinity", "+inf", " inf ", "1e309", "-1e400", "9" * 400):
        yield {"args": [one, "0"], "raises": "ValueError"}
        yield {"args": ["179.5", one], "raises": "ValueError"}
    for one in ("nan", "inf", "-inf"):
        for other in ("0", "12.5", "-179", "nan", "inf", "-inf"):
            yield {"args": [one, other], "raises": "ValueError"}
            yield {"args": [other, one], "raises": "ValueError"}


def no_floats(random):
    for one in (NAN, INF, -INF):
        for other in (0, 12.5, -179.0, NAN, INF, -INF):
            yield {"args": [one, other], "raises": "ValueError"}
            yield {"args": [other, one], "raises": "ValueError"}


def huge(random):
    for pair in ((-1e308, 1.7e308), (1.7e308, -1.7e308), (1e300, 0), (0.0, -1e300), (1e308, 1e308)):
        yield {"args": list(pair), "holds": lambda answer: -180 < answer <= 180}


def texts(random):
    for start, end in pairs(random):
        yield near([str(start), str(end)], turned(start, end))


def plain_turns(random):
    while True:
        start, end = (random.choice([random.randint(-89, 90), random.uniform(-89, 90)]) for _ in range(2))
        yield near([start, end], Fraction(end) - Fraction(start))


def plain_middles(random):
    while True:
        start, end = (random.choice([random.randint(-89, 90), random.uniform(-89, 90)]) for _ in range(2))
        yield near([start, end], (Fraction(end) + Fraction(start)) / 2)
