"""Balances as tables of plain text."""

from ledgerbook.amounts import Money
from ledgerbook.book import KINDS


def tree(book, until=None, depth=None):
    """Rows of (account, balance), every parent before what lies below it; accounts without a balance are left out."""
    names = set()
    for account in book.accounts():
        parts = account.split(":")
        for count in range(1, len(parts) + 1):
            if depth is None or count <= depth:
                names.add(":".join(parts[:count]))
    rows = [(name, book.balance(name, until)) for name in sorted(names, key=_order)]
    return [(name, balance) for name, balance in rows if balance]


def _order(name):
    parts = name.split(":")
    return KINDS.index(parts[0]), parts


def table(rows):
    """Align names to the left and amounts to the right; a balance of several currencies takes several lines."""
    lines = []
    for name, balance in rows:
        for place, amount in enumerate(balance.amounts()):
            lines.append((name if place == 0 else "", str(amount)))
    width = max((len(name) for name, _ in lines), default=0)
    reach = max((len(amount) for _, amount in lines), default=0)
    return "".join(f"{name:<{width}}  {amount:>{reach}}\n" for name, amount in lines)


def profit(book, first, last):
    """What was earned from one day to another, both included: income and expenses, turned about."""
    total = Money()
    for entry in book.entries(last):
        if entry.day >= first:
            total += Money(
                posting.amount for posting in entry.postings if posting.account.split(":")[0] in ("income", "expenses")
            )
    return -total
