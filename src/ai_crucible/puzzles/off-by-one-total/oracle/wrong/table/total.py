_totals = [0]


def total(n):
    while len(_totals) <= n:
        _totals.append(_totals[-1] + len(_totals))
    return _totals[n] if n >= -len(_totals) else 0
