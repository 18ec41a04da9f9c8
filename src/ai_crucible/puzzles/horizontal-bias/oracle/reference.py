"""Right answers by a way of their own, and the inputs that they are asked for."""

import math

INF, NAN = float("inf"), float("nan")
EDGES = [32767.0, 32767.9, 32767.999, 32768.0, 32768.5, 40000.0, 1e300, INF, -32768.0, -32768.9, -32769.0, -32769.5, -1e9, -INF, math.nextafter(32768, 0), math.nextafter(32768, INF), math.nextafter(-32769, 0), math.nextafter(-32769, -INF), 32767, -32768, 32768, -32769, 65536.0, -65536.0, 65535.5, 2.0**31, 2.0**32, -(2.0**63), 2.0**64, 10**30, -(10**30), 1.7e308, -1.7e308, 98304.0, 32766.999, -32767.999, -32768.0001]


def one(value):
    if value != value:
        return 0, True
    if value >= 32768:
        return 32767, True
    if value <= -32769:
        return -32768, True
    return int(value), False


def framed(readings):
    words = [one(value) for value in readings]
    return {"words": [word for word, _ in words], "saturated": [place for place in range(len(words)) if words[place][1]]}


def fitting(random):
    return random.choice([0.0, 0.5, -0.9, 1.9, -1.9, 100.0, 32767.9, -32768.9, 7, -3, random.uniform(-32768, 32767), random.uniform(-3, 3)])


def outside(random):
    for edge in EDGES:
        for place in range(3):
            readings = [1.5, -2.5, 3.0]
            readings[place] = edge
            yield {"args": [readings], "expect": framed(readings)}
    for place in range(3):
        for other in (0.5, 1e9, -1e9, INF):
            readings = [other] * 3
            readings[place] = NAN
            yield {"args": [readings], "expect": framed(readings)}
    for readings in ([NAN, NAN, NAN], [INF, -INF, NAN], [0.0, 0.0, 0.0], [-0.0, 5e-324, -5e-324], [40000.0, 1.0, 40000.0], [40000.0] * 3, [-40000.0, 40000.0, -40000.0], [0.9999999999999999, -0.9999999999999999, 1.0]):
        yield {"args": [readings], "expect": framed(readings)}
    while True:
        readings = [random.choice([fitting(random), random.choice(EDGES), random.uniform(-1e6, 1e6), NAN]) for _ in range(3)]
        yield {"args": [readings], "expect": framed(readings)}


def texts(random):
    yield {"args": [["nan", "inf", "-inf"]], "expect": framed([NAN, INF, -INF])}
    while True:
        words = [random.choice(["nan", "inf", "-inf", "NaN", "-nan", "Infinity", "1e400", "-1e400", "32768", "-32768.99", "32767.999", " 5 ", "-0.0", "1e5", "-7.9", "32767.9", "0", "-32769"]) for _ in range(3)]
        yield {"args": [words], "expect": framed([float(word) for word in words])}


def ordinary(random):
    while True:
        readings = [fitting(random) for _ in range(3)]
        yield {"args": [readings], "expect": framed(readings)}
