from functools import reduce


def total(n):
    return reduce(lambda a, b: a + b, range(n + 1), 0)
