"""What comes of entries: lots, what was taken, what was missing."""

from granary.lots import Lot, Shelves


class Replay:
    """What came of entries, each taken as it was added."""

    def __init__(self, entries):
        self.shelves = Shelves()
        self.taken = {}
        self.short = {}
        self.outs = {}
        by_number = {entry.number: entry for entry in entries}
        void = {entry.target for entry in entries if entry.kind == "void"}
        for entry in entries:
            if entry.number in void:
                continue
            if entry.kind == "fix" and entry.target in by_number:
                setattr(by_number[entry.target], entry.field, entry.value)
            elif entry.kind == "in":
                self.shelves.put(entry.store, entry.good, Lot(entry.number, entry.day, entry.qty, entry.price))
            elif entry.kind in ("out", "move"):
                self.take(entry)

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
            self.shelves.put(entry.to, entry.good, Lot(entry.number, entry.day, lot.qty, lot.price))


def stock(ledger, day, known=None):
    """Return quantity and value by store and good at the end of a day."""
    return Replay([entry for entry in ledger.upto(known) if entry.day <= day]).shelves.total()


def taken(ledger, number, known=None):
    """Return what an out or a move took."""
    return Replay(ledger.upto(known)).taken.get(number, [])


def short(ledger, known=None):
    """Return by number what outs and moves could not take."""
    return Replay(ledger.upto(known)).short
