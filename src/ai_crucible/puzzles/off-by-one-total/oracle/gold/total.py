def total(n):
    return n * (n + 1) // 2 if n > 0 else 0
