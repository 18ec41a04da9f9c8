"""What the outs cost, by day."""

from dataclasses import dataclass

from granary.replay import Replay


@dataclass(frozen=True, order=True)
class Posting:
    """An amount in cents that stands on a day for an out."""

    day: int
    number: int
    good: str
    amount: int

    def __str__(self):
        return f"{self.day} {self.number} {self.good} {self.amount}"


def journal(ledger, known=None):
    """Return the postings that a ledger has."""
    entries = ledger.upto(known)
    replay = Replay(entries)
    closed = max((entry.day for entry in entries if entry.kind == "close"), default=0)
    postings = []
    for number, out in replay.outs.items():
        amount = sum(qty * price for _, qty, price in replay.taken[number])
        if amount:
            postings.append(Posting(max(out.day, closed + 1), number, out.good, amount))
    return sorted(postings)
