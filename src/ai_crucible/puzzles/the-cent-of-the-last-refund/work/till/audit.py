"""Whether the entries of a ledger are right."""

from till.ledger import Ledger, RefundError


def audit(order, entries):
    """Return the position, from 1, of the first entry that is wrong; 0 where all are right."""
    ledger = Ledger(order)
    for position, entry in enumerate(entries, 1):
        try:
            if ask(ledger, entry) != entry:
                return position
        except RefundError:
            return position
    return 0


def ask(ledger, entry):
    """Ask a ledger for what an entry says was asked for; return its own entry."""
    if entry.kind == "units":
        return ledger.refund_units(entry.line, entry.count)
    if entry.kind == "amount":
        return ledger.refund_amount(entry.amount)
    return ledger.void(entry.count)
