def total(n):
    return n * (n + 1) // 2
