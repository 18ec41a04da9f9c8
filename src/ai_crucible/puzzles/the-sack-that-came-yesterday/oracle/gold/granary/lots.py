"""Lots in stores."""

from dataclasses import dataclass


@dataclass(order=True)
class Lot:
    """Pieces that came in by one entry."""

    day: int
    number: int
    qty: int
    price: int


class Shelves:
    """The lots of each store and good by the number of their entry."""

    def __init__(self):
        self.lots = {}

    def put(self, store, good, lot):
        """Put a lot to the others; pieces of one entry are one lot."""
        lots = self.lots.setdefault((store, good), {})
        if lot.number in lots:
            lots[lot.number].qty += lot.qty
        else:
            lots[lot.number] = lot

    def take(self, store, good, qty):
        """Take the oldest pieces; return the lots that they were, and how many are missing."""
        found, lots = [], self.lots.get((store, good), {})
        for lot in sorted(lots.values()):
            count = min(qty, lot.qty)
            if count:
                found.append(Lot(lot.day, lot.number, count, lot.price))
                lot.qty -= count
                qty -= count
            if not lot.qty:
                del lots[lot.number]
        return found, qty

    def total(self):
        """Return quantity and value by store and good, where there is anything."""
        sums = {}
        for key, lots in self.lots.items():
            if lots:
                sums[key] = (sum(lot.qty for lot in lots.values()), sum(lot.qty * lot.price for lot in lots.values()))
        return sums
