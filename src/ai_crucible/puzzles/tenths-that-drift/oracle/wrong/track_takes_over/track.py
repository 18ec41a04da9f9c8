def elapsed(first, last):
    return (last - first) * 100000
