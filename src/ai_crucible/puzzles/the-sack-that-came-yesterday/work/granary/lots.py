"""Lots in stores."""

from dataclasses import dataclass


@dataclass
class Lot:
    """Pieces that came in by one entry."""

    number: int
    day: int
    qty: int
    price: int


class Shelves:
    """The lots of each store and good, the oldest first."""

    def __init__(self):
        self.lots = {}

    def put(self, store, good, lot):
        """Put a lot behind the others."""
        self.lots.setdefault((store, good), []).append(lot)

    def take(self, store, good, qty):
        """Take the oldest pieces; return the lots that they were, and how many are missing."""
        found, lots = [], self.lots.get((store, good), [])
        while lots and qty:
            count = min(qty, lots[0].qty)
            found.append(Lot(lots[0].number, lots[0].day, count, lots[0].price))
            lots[0].qty -= count
            qty -= count
            if not lots[0].qty:
                lots.pop(0)
        return found, qty

    def total(self):
        """Return quantity and value by store and good, where there is anything."""
        sums = {}
        for key, lots in self.lots.items():
            if lots:
                sums[key] = (sum(lot.qty for lot in lots), sum(lot.qty * lot.price for lot in lots))
        return sums
