"""Taxes that are in prices."""

from till.money import rounded


def included(amount, rate):
    """Return the tax that is in an amount, by a rate in thousandths."""
    return rounded(amount, rate, 1000 + rate)


def line_taxes(lines, totals):
    """Return the tax in each line's total."""
    return [included(total, line.rate) for line, total in zip(lines, totals)]


def shipping_tax(lines, totals, shipping):
    """Return the tax in what shipping costs."""
    return included(shipping, max((line.rate for line in lines), default=0))
