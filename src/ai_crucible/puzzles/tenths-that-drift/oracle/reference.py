"""Right answers by a way of their own, and the inputs that they are asked for."""

def microseconds(random):
    for ticks in (1, 2, 10, 36_000, 3_600_000, 10**15, 2**53 + 1, 10**30 + 7, -1, -2, -10, -36_001, -(2**53) - 1, -(10**30) - 7, 10**400 + 3, -(10**4000) - 9):
        yield {"args": [ticks], "expect": ticks * 100_000}
    while True:
        ticks = random.choice([1, 1, 1, -1]) * random.randint(1, 10 ** random.randint(1, 25))
        yield {"args": [ticks], "expect": ticks * 100_000}


def elapsed(random):
    while True:
        first, more = random.randint(0, 10**20), random.choice([1, 1, -1]) * random.randint(0, 10 ** random.randint(1, 20))
        yield {"args": [first, first + more], "expect": more * 100_000}


def zero(random):
    while True:
        yield {"args": [0], "expect": 0}


def huge(random):
    # More figures than a text of a number may have: powers of ten and a little, asked for in base 16.
    for power in (4295, 4299, 4300, 4301, 5000, 20_000):
        for sign in (1, -1):
            more = random.randint(0, 9)
            yield {"args": [power, sign, more], "expect": hex(sign * (10**power + more) * 100_000)}
