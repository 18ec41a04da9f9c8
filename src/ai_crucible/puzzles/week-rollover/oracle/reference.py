"""Right answers by a way of their own, and the inputs that they are asked for."""

def known(broadcast, built):
    week = built
    while week % 1024 != broadcast:
        week += 1
    return week


def weeks(random):
    for broadcast, built in ((0, 2048), (0, 2047), (1023, 2048), (1023, 1023), (0, 1024), (0, 1023), (1023, 1024), (0, 2**53 + 1), (0, 2**63 + 1), (5, 10**30), (1023, 10**16 + 1), (0, 10**400), (1023, 10**400 + 1023), (7, 10**4000), (1023, 2**70 - 1), (0, 2**70), (0, 2**70 - 1), (1, 2**70), (512, 2047), (1023, 2047), (1022, 2047), (0, 1025), (0, 3071), (0, 3072)):
        yield {"args": [broadcast, built], "expect": known(broadcast, built)}
    while True:
        built = random.choice([random.randint(1024, 20_000), random.randint(1024, 20_000), 10 ** random.randint(5, 30) + random.randint(0, 3000)])
        broadcast = random.choice([built % 1024, (built - 1) % 1024, (built + 1) % 1024, random.randint(0, 1023)])
        yield {"args": [broadcast, built], "expect": known(broadcast, built)}


def early(random):
    yield {"args": [0, 0], "expect": 0}
    yield {"args": [1023, 0], "expect": 1023}
    yield {"args": [0, 1], "expect": 1024}
    for built in (0, 1, 511, 1022, 1023):
        for broadcast in (0, 1, 510, 511, 512, 1022, 1023):
            yield {"args": [broadcast, built], "expect": known(broadcast, built)}
    while True:
        broadcast, built = random.randint(0, 1023), random.randint(0, 1023)
        yield {"args": [broadcast, built], "expect": known(broadcast, built)}


def none(random):
    for broadcast in (1024, -1, -1024, 2048, 1025, 10**30, -(10**30), 2**64):
        yield {"args": [broadcast, 500], "raises": "ValueError"}
    while True:
        yield {"args": [random.choice([-1, 1]) * random.randint(1024, 9000), random.randint(0, 5000)], "raises": "ValueError"}
