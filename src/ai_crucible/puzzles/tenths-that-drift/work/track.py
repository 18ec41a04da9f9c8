from clock import microseconds


def elapsed(first, last):
    return microseconds(last) - microseconds(first)
