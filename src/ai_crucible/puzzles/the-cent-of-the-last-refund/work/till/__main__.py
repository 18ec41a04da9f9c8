"""python3 -m till ORDER [units LINE COUNT | amount CENTS | void NUMBER]..."""

import sys
from pathlib import Path

from till.ledger import Ledger
from till.money import cents, written
from till.pricing import price
from till.text import read_order


def main(words=None):
    """Print a bill and refunds; 1 where something cannot be read or refunded."""
    words = list(sys.argv[1:] if words is None else words)
    if not words:
        print("usage: python3 -m till ORDER [units LINE COUNT | amount CENTS | void NUMBER]...", file=sys.stderr)
        return 2
    path = words.pop(0)
    try:
        order = read_order(Path(path).read_text(encoding="utf-8"))
        show(order)
        ledger = Ledger(order)
        while words:
            entry = follow(ledger, words)
            print(f"{entry.kind:<10}{written(entry.amount):>10}  tax {written(sum(entry.taxes))}")
    except (OSError, ValueError) as fault:
        print(f"{path}: {fault}", file=sys.stderr)
        return 1
    return 0


def show(order):
    """Print the bill of an order."""
    bill = price(order)
    for line, total, tax in zip(order.lines, bill.totals, bill.taxes):
        print(f"{line.units} x {line.category:<12}{written(total):>10}  tax {written(tax)}")
    if order.shipping:
        print(f"{'shipping':<16}{written(bill.shipping):>10}  tax {written(bill.shipping_tax)}")
    print(f"{'total':<16}{written(bill.total):>10}  tax {written(bill.tax)}")


def follow(ledger, words):
    """Take the next request from words; return its entry."""
    way = words.pop(0)
    if way == "units" and len(words) > 1:
        return ledger.refund_units(int(words.pop(0)), int(words.pop(0)))
    if way == "amount" and words:
        return ledger.refund_amount(cents(words.pop(0)))
    if way == "void" and words:
        return ledger.void(int(words.pop(0)))
    raise ValueError(f"{way!r} is no refund")


if __name__ == "__main__":
    sys.exit(main())
