"""Asks the till of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile

from till import Discount, Entry, Ledger, Line, Order, OrderError, RefundError, audit, price, read_order, split


def shared(total, weights):
    return split(total, weights)


def made(lines, discounts, shipping=0):
    return Order(tuple(Line(*each) for each in lines), tuple(Discount(*each) for each in discounts), shipping)


def bill(lines, discounts, shipping):
    """The totals and taxes of an order."""
    found = price(made(lines, discounts, shipping))
    return [list(found.totals), list(found.taxes), found.shipping, found.shipping_tax, found.total, found.tax]


def follow(ledger, request):
    """What comes of a request: the entry as plain values, or that it is refused."""
    kind, *numbers = request
    ways = {"units": ledger.refund_units, "amount": ledger.refund_amount, "void": ledger.void}
    try:
        entry = ways[kind](*numbers)
    except RefundError:
        return "refused"
    return [entry.kind, entry.line, entry.count, entry.amount, list(entry.shares), list(entry.taxes)]


def refunds(lines, discounts, shipping, requests):
    """What comes of requests, one after another, what is left at the end, and whether the entries are what was returned."""
    ledger = Ledger(made(lines, discounts, shipping))
    seen = [follow(ledger, request) for request in requests]
    kept = [[e.kind, e.line, e.count, e.amount, list(e.shares), list(e.taxes)] for e in ledger.entries]
    same = kept == [each for each in seen if each != "refused"]
    return [seen, [[left.units, left.cents, left.tax] for left in ledger.left], same]


def audited(lines, discounts, shipping, entries):
    """Where an audit finds the first fault in entries that are given as plain values."""
    order = made(lines, discounts, shipping)
    return audit(order, [Entry(*numbers, tuple(shares), tuple(taxes)) for *numbers, shares, taxes in entries])


def read(text):
    """An order as plain values, or the line of its fault."""
    try:
        order = read_order(text)
    except OrderError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    lines = [[line.units, line.each, line.rate, line.category] for line in order.lines]
    return [lines, [[each.thousandths, each.amount, each.category] for each in order.discounts], order.shipping]


def firm():
    """Whether values stay as they were made."""
    order = made([(1, 100)], [(1,)])
    entry = Ledger(order).refund_units(0, 1)
    seen = []
    for value, name in ((order, "shipping"), (order.lines[0], "units"), (order.discounts[0], "amount"), (entry, "amount"), (price(order), "totals")):
        try:
            setattr(value, name, 0)
            seen.append(False)
        except AttributeError:
            seen.append(hash(value) is not None)
    return [*seen, Ledger(order).order == order]


def printed(text, *words):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        from till.__main__ import main

        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path, *words])
    return [code, out.getvalue()]
