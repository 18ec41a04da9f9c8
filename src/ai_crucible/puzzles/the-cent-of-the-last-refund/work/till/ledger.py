"""Refunds of an order, one after another."""

from dataclasses import dataclass

from till.money import rounded, split
from till.pricing import price


class RefundError(ValueError):
    """A refund that cannot be."""


@dataclass(frozen=True)
class Entry:
    """What was asked for, and what came of it: cents and taxes by line."""

    kind: str
    line: int
    count: int
    amount: int
    shares: tuple
    taxes: tuple


@dataclass
class Left:
    """What is not refunded yet of a line."""

    units: int
    cents: int
    tax: int


class Ledger:
    """The refunds of an order."""

    def __init__(self, order):
        bill = price(order)
        self.order = order
        self.entries = []
        self.left = [Left(*each) for each in zip((line.units for line in order.lines), bill.totals, bill.taxes)]

    def refund_units(self, line, count):
        """Refund units of a line, counted from 0; return the entry."""
        left = self.left[line]
        left.units -= count
        if left.units < 0:
            raise RefundError(f"line {line} has not so many units left")
        shares = [0] * len(self.left)
        shares[line] = rounded(self.order.lines[line].each, count, 1)
        return self._pay("units", line, count, shares)

    def refund_amount(self, amount):
        """Refund an amount without any units; return the entry."""
        if amount > sum(left.cents for left in self.left):
            raise RefundError(f"{amount} is more than what is left")
        return self._pay("amount", 0, 0, split(amount, [left.cents for left in self.left]))

    def void(self, number):
        """Take a refund back; return the entry."""
        entry = self.entries[number - 1]
        self.left[entry.line].units += entry.count
        return self._enter("void", 0, number, [-share for share in entry.shares], [-tax for tax in entry.taxes])

    def _pay(self, kind, line, count, shares):
        taxes = [rounded(left.tax, share, left.cents or 1) for left, share in zip(self.left, shares)]
        return self._enter(kind, line, count, shares, taxes)

    def _enter(self, kind, line, count, shares, taxes):
        for left, share, tax in zip(self.left, shares, taxes):
            left.cents -= share
            left.tax -= tax
        self.entries.append(Entry(kind, line, count, sum(shares), tuple(shares), tuple(taxes)))
        return self.entries[-1]
