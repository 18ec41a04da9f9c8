"""Right answers by a way of their own, and the inputs that they are asked for."""

MOST = 2**31 - 1


def squares(random):
    for size in (MOST, MOST - 1, 2**30 + 2, 2_000_000_000):
        for place in (0, 1, size // 2, size - 2, size - 1):
            yield {"args": [size, place * place], "expect": place}
            yield {"args": [size, place * place + 2], "expect": -1}
        yield {"args": [size, -1], "expect": -1}
    while True:
        size = random.randint(2**30 + 2, MOST)
        place = random.randint(0, size - 1)
        yield {"args": [size, place * place], "expect": place}


def small(random):
    for size, key, place in ((10, 49, 7), (10, 50, -1), (1, 0, 0), (0, 0, -1), (1, 1, -1), (2, 1, 1), (2, 0, 0), (3, 4, 2), (0, 5, -1), (1, -1, -1)):
        yield {"args": [size, key], "expect": place}
    while True:
        size, place = random.randint(1, 60), random.randint(0, 80)
        yield {"args": [size, place * place], "expect": place if place < size else -1}


def lines(random):
    while True:
        size = random.choice([0, 1, 2, 3, random.randint(1, 40), random.randint(2**30, MOST), MOST])
        step, first = random.choice([1, 2, 7]), random.randint(-(10**10), 10**10)
        place = random.choice([0, size - 1, size, -1, random.randint(0, max(1, size))])
        off = random.choice([0, 0, 1]) if step > 1 else 0
        there = place if 0 <= place < size and not off else -1
        yield {"args": [size, step, first, first + step * place + off], "expect": [there, False]}


def equal(random):
    """Tables with many entries alike, of which any will do."""

    def any_of(first, last):
        return lambda answer: len(answer) == 2 and first <= answer[0] < last and not answer[1]

    while True:
        for size, run in ((10**6, 10**6), (MOST, MOST), (MOST, random.randint(2**20, 2**30)), (random.randint(2**30, MOST), 2**29), (10**6, random.randint(1000, 10**5)), (random.randint(200, 900), 190), (3, 2), (2, 2)):
            base = random.randint(-(10**6), 10**6)
            place = random.choice([0, size - 1, random.randrange(size)])
            number = place // run
            yield {"args": [size, 2, base, base + 2 * number, 80, run], "holds": any_of(number * run, min(size, (number + 1) * run))}
            yield {"args": [size, 2, base, base + 2 * number + random.choice([-1, 1]), 80, run], "expect": [-1, False]}


def lists(random):
    while True:
        table = sorted({random.choice("abcdefghijklmnop") * random.randint(1, 2) for _ in range(random.randint(0, 12))})
        key = random.choice([*table, "c", "zz", ""])
        yield {"args": [table, key], "expect": table.index(key) if key in table else -1}
