"""Taxes that are in prices."""

from till.money import rounded, split


def included(amount, rate):
    """Return the tax that is in an amount, by a rate in thousandths."""
    return rounded(amount, rate, 1000 + rate)


def line_taxes(lines, totals):
    """Return the tax in each line's total; that of all lines of one rate is rounded once."""
    taxes = [0] * len(lines)
    for rate in {line.rate for line in lines}:
        places = [at for at, line in enumerate(lines) if line.rate == rate]
        amounts = [totals[at] for at in places]
        for at, tax in zip(places, split(included(sum(amounts), rate), amounts)):
            taxes[at] = tax
    return taxes


def shipping_tax(lines, totals, shipping):
    """Return the tax in what shipping costs, by the highest rate of what is paid for."""
    return included(shipping, max((line.rate for line, total in zip(lines, totals) if total > 0), default=0))
