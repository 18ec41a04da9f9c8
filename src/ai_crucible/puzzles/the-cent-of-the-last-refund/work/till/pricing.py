"""The price of an order."""

from dataclasses import dataclass

from till.discounts import discounted
from till.taxes import line_taxes, shipping_tax


@dataclass(frozen=True)
class Bill:
    """What each line costs and the tax in it, by line; the tax in shipping; and all of it together."""

    totals: tuple
    taxes: tuple
    shipping: int
    shipping_tax: int

    @property
    def total(self):
        return sum(self.totals) + self.shipping

    @property
    def tax(self):
        return sum(self.taxes) + self.shipping_tax


def price(order):
    """Return the bill of an order."""
    totals = discounted(order)
    taxes = line_taxes(order.lines, totals)
    return Bill(tuple(totals), tuple(taxes), order.shipping, shipping_tax(order.lines, totals, order.shipping))
