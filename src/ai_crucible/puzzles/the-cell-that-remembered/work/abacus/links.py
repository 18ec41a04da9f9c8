"""Which cells are read by which."""


class Links:
    """From each cell to the formulas that read it."""

    def __init__(self):
        self._readers = {}

    def note(self, reader, name):
        """Remember that a formula reads a cell."""
        self._readers.setdefault(name, set()).add(reader)

    def forget(self, reader):
        """Remember nothing more of what a formula reads."""
        for readers in self._readers.values():
            readers.discard(reader)

    def behind(self, name):
        """Return all formulas that read a cell, or one that reads it, and so on."""
        found, left = set(), [name]
        while left:
            for reader in self._readers.get(left.pop(), ()):
                if reader not in found:
                    found.add(reader)
                    left.append(reader)
        return found
