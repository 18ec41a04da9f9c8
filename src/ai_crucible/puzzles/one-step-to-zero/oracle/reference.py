"""Right answers by a way of their own, and the inputs that they are asked for."""

def beams(positions):
    held, beam = False, []
    for position in positions:
        held = False if position is None else held or not position
        if position is not None:
            beam.append(not held)
    return beam


def after(random):
    for count in (256, 512, 1024, 255, 257, 511, 65_536, 3, 1):
        yield {"args": [count], "expect": [False, 1]}


def passes(random):
    yield {"args": [[]], "expect": []}
    yield {"args": [[None]], "expect": []}
    while True:
        positions = random.choices([True, False, None], [6, random.choice([0, 1, 6]), 2], k=random.randint(1, 30))
        yield {"args": [positions], "expect": beams(positions)}


def long_runs(random):
    for length in (2500, 20_000):
        positions = [False] * length + [True, None, True, False, True, None]
        yield {"args": [positions], "expect": beams(positions)}
    while True:
        run = [False] * (256 * random.randint(1, 3) + random.choice([0, 0, 0, 1, -1]))
        positions = [*run, True, None, True, *run[:300], True]
        yield {"args": [positions], "expect": beams(positions)}


def flags(random):
    while True:
        positions = [True, *random.choices([True, False, None], [4, 4, 2], k=random.randint(1, 300))]
        seen, held = [], False
        for position in positions:
            held = False if position is None else held or not position
            seen.append([None if position is None else not held, int(held)])
        yield {"args": [positions], "expect": seen}


def anew(random):
    while True:
        yield {"args": [[True, None, True]], "expect": [True, True]}


def side_by_side(random):
    """Several interlocks at once: which of them sees what, and what the flags are before and afterwards."""
    while True:
        count = random.randint(2, 3)
        steps = [[random.randrange(count), random.choice([True, False, False, None])] for _ in range(random.randint(2, 40))]
        held, seen = [False] * count, []
        for which, position in steps:
            held[which] = False if position is None else held[which] or not position
            seen.append([None if position is None else not held[which], [int(one) for one in held]])
        yield {"args": [count, steps], "expect": [[0] * count, seen]}
