"""Right answers by a way of their own, and the inputs that they are asked for."""

def sums(random):
    for n in (1, 2, 3, 10, 100):
        yield {"args": [n], "expect": n * (n + 1) // 2}
    while True:
        n = random.randint(1, 300)
        yield {"args": [n], "expect": n * (n + 1) // 2}


def nothing(random):
    while True:
        yield {"args": [0], "expect": 0}
