def total(n):
    return sum(range(2, n + 1))
