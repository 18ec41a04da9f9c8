def total(n):
    return n * (n + 2) // 2
