"""Sums that a text states in digits, calculated: whether ``17 * 23 = 391`` is so needs no model and no opinion."""

from __future__ import annotations

import re
from fractions import Fraction

_NUMBER = r"[$€£]?(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.\d{1,15})?"
_SUM = re.compile(
    rf"(?<![\w.,$€£]){_NUMBER}(?:(?: [-+/−–x] | ?[*×·÷] ?){_NUMBER}){{1,12}} ?= ?-?{_NUMBER}(?![\w%]|[.,]\d)"
)
_SIGN = re.compile(r"[-+/−–x*×·÷]")
#: What stands before or behind a sum that is a part of something longer, or is counted in another way.
_BEFORE, _BEHIND = re.compile(r"[-+*/×·÷^=<>−–%] ?[($€£]?$"), re.compile(r" ?(?:[-+*/×·÷^=−–]|\(?mod)")


def stated_sums(text: str) -> list[tuple[int, str]]:
    """Return the place behind each sum, and what is so: ``"✓"``, or ``"is 391"`` where something else is stated.

    Only plain ones in digits are read, outside of code. One rounded to the digits that it has is right.

    >>> stated_sums("17 * 23 = 390, and 100 / 3 = 33.3; f(x) + 2 * 3 = 6")
    [(13, 'is 391'), (33, '✓')]
    """
    found = (one for one in _SUM.finditer(text) if not text.count("`", 0, one.start()) % 2)
    alone = (
        one for one in found if not _BEFORE.search(text[: one.start()][-4:]) and not _BEHIND.match(text, one.end())
    )
    return [(one.end(), _told(*one[0].split("="))) for one in alone]


def _told(left: str, right: str) -> str:
    """Calculate: products before sums, each from the left."""
    first, *numbers = map(_number, re.findall(_NUMBER, left))
    total, product, rounded = Fraction(0), first, "." in right
    for sign, number in zip(_SIGN.findall(left), numbers, strict=True):
        if sign in "/÷" and not number:
            return "divides by zero"
        if sign in "*×·x/÷":
            product, rounded = (product / number, True) if sign in "/÷" else (product * number, rounded)
        else:
            total, product = total + product, number if sign == "+" else -number
    unit = Fraction(rounded, 2 * 10 ** len(right.partition(".")[2]))
    return "✓" if abs(total + product - _number(right)) <= unit else f"is {float(total + product):,.10g}"


def _number(written: str) -> Fraction:
    return Fraction(re.sub(r"[$€£, ]", "", written))
