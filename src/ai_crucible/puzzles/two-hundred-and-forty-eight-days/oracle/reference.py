"""Right answers by a way of their own, and the inputs that they are asked for."""

TURN = 2**32
EDGES = [-(2**31), -(2**31) + 1, -(2**30), -2, -1, 0, 1, 2, 2**30, 2**31 - 2, 2**31 - 1]


def passed(first, last):
    gone = last - first
    return gone + TURN if gone < 0 else gone


def pairs(random):
    for first in EDGES:
        for last in EDGES:
            yield first, last
    while True:
        first = random.randint(-(2**31), 2**31 - 1)
        near = (first + random.randint(0, 500) + 2**31) % TURN - 2**31
        yield first, random.choice([near, random.randint(-(2**31), 2**31 - 1)])


def elapsed(random):
    for first, last in pairs(random):
        if last < first:
            yield {"args": [first, last], "expect": passed(first, last)}


def elapsed_plain(random):
    for first, last in pairs(random):
        if first <= last:
            yield {"args": [first, last], "expect": last - first}


def due(random):
    for start, now in pairs(random):
        gone = passed(start, now)
        for period in (gone - 1, gone, gone + 1, 0, random.randint(0, TURN - 1), TURN, TURN + gone, TURN + gone + 1, 2 * TURN, 2**31, 2**31 - 1, 10**30, 2**64 + gone):
            if period >= 0:
                yield {"args": [now, start, period], "expect": gone >= period}


def due_plain(random):
    while True:
        start = random.randint(-1000, 1000)
        now = start + random.randint(0, 300)
        period = random.choice([now - start, now - start + 1, random.randint(0, 300)])
        yield {"args": [now, start, period], "expect": now - start >= period}
