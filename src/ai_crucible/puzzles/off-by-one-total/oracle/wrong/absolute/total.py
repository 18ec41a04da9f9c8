def total(n):
    return sum(range(1, abs(n) + 1))
