"""Orders as they were made."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """Units of one thing: how many, the price of one in cents, the tax rate in thousandths, a category."""

    units: int
    each: int
    rate: int = 0
    category: str = ""

    @property
    def full(self):
        """What all units cost without a discount."""
        return self.units * self.each


@dataclass(frozen=True)
class Discount:
    """So many thousandths, or so many cents, of all lines or of those of a category."""

    thousandths: int = 0
    amount: int = 0
    category: str = ""

    def covers(self, line):
        """Tell whether a line has a part in it."""
        return self.category in ("", line.category)


@dataclass(frozen=True)
class Order:
    """Lines, discounts in their order, and what shipping costs."""

    lines: tuple
    discounts: tuple = ()
    shipping: int = 0
