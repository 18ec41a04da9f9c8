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
        self._refunds = []
        self._void = set()
        self.left = [Left(*each) for each in zip((line.units for line in order.lines), bill.totals, bill.taxes)]

    def refund_units(self, line, count):
        """Refund units of a line, counted from 0; return the entry."""
        if not 0 <= line < len(self.left):
            raise RefundError(f"there is no line {line}")
        left = self.left[line]
        if not 1 <= count <= left.units:
            raise RefundError(f"line {line} has {left.units} units left, not {count}")
        shares = [0] * len(self.left)
        shares[line] = rounded(left.cents, count, left.units)
        left.units -= count
        return self._pay("units", line, count, shares)

    def refund_amount(self, amount):
        """Refund an amount without any units; return the entry."""
        if not 1 <= amount <= sum(left.cents for left in self.left):
            raise RefundError(f"{amount} is not what can be paid of what is left")
        return self._pay("amount", 0, 0, split(amount, [left.cents for left in self.left]))

    def void(self, number):
        """Take a refund back; return the entry."""
        if not 1 <= number <= len(self._refunds) or number in self._void:
            raise RefundError(f"there is no refund {number} to take back")
        entry = self._refunds[number - 1]
        self._void.add(number)
        if entry.kind == "units":
            self.left[entry.line].units += entry.count
        return self._enter("void", 0, number, [-share for share in entry.shares], [-tax for tax in entry.taxes])

    def _pay(self, kind, line, count, shares):
        taxes = [rounded(left.tax, share, left.cents) if share else 0 for left, share in zip(self.left, shares)]
        self._refunds.append(self._enter(kind, line, count, shares, taxes))
        return self._refunds[-1]

    def _enter(self, kind, line, count, shares, taxes):
        for left, share, tax in zip(self.left, shares, taxes):
            left.cents -= share
            left.tax -= tax
        self.entries.append(Entry(kind, line, count, sum(shares), tuple(shares), tuple(taxes)))
        return self.entries[-1]
