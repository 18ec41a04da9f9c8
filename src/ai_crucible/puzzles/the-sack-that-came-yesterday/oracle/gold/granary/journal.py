"""What the outs cost, by day."""

from dataclasses import dataclass

from granary.replay import Replay
from granary.standing import standing


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
    fixed, closed = [], 0
    for close in standing(ledger.upto(known)):
        if close.kind == "close" and close.day > closed:
            fixed += [each for each in _open(ledger, close.number, fixed, closed) if each.day <= close.day]
            closed = close.day
    return sorted([*fixed, *_open(ledger, known, fixed, closed)])


def _open(ledger, known, fixed, closed):
    """Return the postings behind the last closed day: costs of outs, and what is not as it was fixed."""
    replay = Replay(ledger.upto(known))
    amounts = {}
    for number, out in replay.outs.items():
        day = max(out.day, closed + 1)
        amounts[day, number, out.good] = sum(qty * price for _, qty, price in replay.taken[number])
    for each in fixed:
        key = closed + 1, each.number, each.good
        amounts[key] = amounts.get(key, 0) - each.amount
    return [Posting(*key, amount) for key, amount in amounts.items() if amount]
