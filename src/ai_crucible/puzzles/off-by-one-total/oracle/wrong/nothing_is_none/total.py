def total(n):
    if n:
        return n + total(n - 1)
