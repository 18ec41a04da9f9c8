"""Right answers by a way of their own, and the inputs that they are asked for."""

def microseconds(random):
    for ticks in (1, 2, 10, 36_000, 3_600_000, 10**15, 2**53 + 1, 10**30 + 7):
        yield {"args": [ticks], "expect": ticks * 100_000}
    while True:
        ticks = random.randint(1, 10 ** random.randint(1, 25))
        yield {"args": [ticks], "expect": ticks * 100_000}


def elapsed(random):
    while True:
        first, more = random.randint(0, 10**20), random.randint(0, 10 ** random.randint(1, 20))
        yield {"args": [first, first + more], "expect": more * 100_000}


def zero(random):
    while True:
        yield {"args": [0], "expect": 0}
