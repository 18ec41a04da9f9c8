"""Cents: rounded, split, read and written."""

import re

AMOUNT = re.compile(r"(-?)([0-9]+)\.([0-9]{2})")


def rounded(amount, parts, of):
    """Return so many parts of an amount, in whole cents, half up."""
    return (2 * amount * parts + of) // (2 * of)


def split(total, weights):
    """Return a total as shares by weight; the cents that are left go where the fractions are largest."""
    if total < 0:
        return [-share for share in split(-total, weights)]
    if not any(weights):
        weights = [1] * len(weights)
    whole = sum(weights)
    if not whole:
        if total:
            raise ValueError("there is nobody to share with")
        return []
    shares = [total * weight // whole for weight in weights]
    first = sorted(range(len(weights)), key=lambda at: -(total * weights[at] % whole))
    for at in first[: total - sum(shares)]:
        shares[at] += 1
    return shares


def cents(text):
    """Return an amount as whole cents; ValueError where it is none."""
    match = AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no amount (4.99)")
    number = int(match[2]) * 100 + int(match[3])
    return -number if match[1] else number


def written(number):
    """Return whole cents as an amount."""
    sign = "-" if number < 0 else ""
    return f"{sign}{abs(number) // 100}.{abs(number) % 100:02}"
