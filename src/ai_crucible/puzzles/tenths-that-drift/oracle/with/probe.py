from clock import microseconds


def huge(power, sign, more):
    """Microseconds of a count that has too many figures to be written here, in base 16."""
    return hex(microseconds(sign * (10**power + more)))
