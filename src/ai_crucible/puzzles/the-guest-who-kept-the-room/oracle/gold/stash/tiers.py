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

    @property
    def held(self):
        """What is taken by what stays."""
        return sum(entry.size for entry in self.entries if entry.tickets)

    def fits(self, entry):
        """Tell whether an entry could lie here."""
        return entry.size <= self.capacity - self.held

    def clear(self, size):
        """Take out, and return, what has to leave for so much to have room."""
        left = []
        for entry in self.in_order():
            if self.used + size <= self.capacity:
                break
            if not entry.tickets:
                self.entries.remove(entry)
                left.append(entry)
        return left

    def in_order(self):
        """Return its entries, the least recently used first."""
        return sorted(self.entries, key=lambda entry: entry.use)
