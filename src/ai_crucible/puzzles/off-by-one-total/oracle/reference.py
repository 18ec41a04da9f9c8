"""Right answers by a way of their own, and the inputs that they are asked for."""

def sums(random):
    # Far more than a program may call itself, too.
    for n in (1, 2, 3, 10, 100, 1_000_000, random.randint(2_000, 5_000), random.randint(5_000, 100_000)):
        yield {"args": [n], "expect": n * (n + 1) // 2}
    while True:
        n = random.randint(1, 300)
        yield {"args": [n], "expect": n * (n + 1) // 2}


def nothing(random):
    for n in (0, -1, -2, -3, -1_000_000):
        yield {"args": [n], "expect": 0}
    while True:
        yield {"args": [-random.randint(1, 300)], "expect": 0}


def in_turn(random):
    # Numbers above and below 1 in turn, known and new ones, in one process.
    while True:
        known = random.randint(1, 40)
        for n in (known, -1, known + random.randint(1, 9), -known, random.randint(1, 400), -random.randint(1, 400), 0, known, 1, random.randint(1, known)):
            yield {"args": [n], "expect": n * (n + 1) // 2 if n > 0 else 0}
