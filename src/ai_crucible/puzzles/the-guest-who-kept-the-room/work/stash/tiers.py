"""One tier of a cache."""


class Tier:
    """Entries, and how much room there is for them."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = []

    @property
    def used(self):
        """What its entries take."""
        return sum(entry.size for entry in self.entries)

    def fits(self, entry):
        """Tell whether an entry could lie here."""
        return entry.size <= self.capacity

    def in_order(self):
        """Return its entries, the least recently used first."""
        return sorted(self.entries, key=lambda entry: entry.use)
