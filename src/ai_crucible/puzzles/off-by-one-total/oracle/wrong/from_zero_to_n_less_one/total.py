def total(n):
    return sum(range(0, n))
