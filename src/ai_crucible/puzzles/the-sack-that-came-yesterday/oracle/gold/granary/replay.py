"""What comes of entries: lots, what was taken, what was missing."""

from granary.lots import Lot, Shelves
from granary.standing import standing

TURNS = {"in": 0, "move": 1, "out": 2}


class Replay:
    """What came of entries, told day by day, up to a day where one is said."""

    def __init__(self, entries, day=None):
        self.shelves = Shelves()
        self.taken = {}
        self.short = {}
        self.outs = {}
        happened = [entry for entry in standing(entries) if entry.kind in TURNS]
        for entry in sorted(happened, key=lambda entry: (entry.day, TURNS[entry.kind], entry.number)):
            if day is not None and entry.day > day:
                break
            if entry.kind != "in":
                self.take(entry)
            elif entry.qty:
                self.shelves.put(entry.store, entry.good, Lot(entry.day, entry.number, entry.qty, entry.price))

    def take(self, entry):
        """Take what goes out, or moves."""
        lots, missing = self.shelves.take(entry.store, entry.good, entry.qty)
        self.taken[entry.number] = [(lot.number, lot.qty, lot.price) for lot in lots]
        if missing:
            self.short[entry.number] = missing
        if entry.kind == "out":
            self.outs[entry.number] = entry
            return
        for lot in lots:
            self.shelves.put(entry.to, entry.good, lot)


def stock(ledger, day, known=None):
    """Return quantity and value by store and good at the end of a day."""
    return Replay(ledger.upto(known), day).shelves.total()


def taken(ledger, number, known=None):
    """Return what an out or a move took."""
    return Replay(ledger.upto(known)).taken.get(number, [])


def short(ledger, known=None):
    """Return by number what outs and moves could not take."""
    return Replay(ledger.upto(known)).short
