"""Shelves in memory."""


class Shelf:
    """Rows under columns, some of which have an index; ``handed`` counts the rows that were handed out."""

    def __init__(self, columns, rows, indexed=()):
        self.columns = tuple(columns)
        self.indexed = frozenset(indexed)
        self.handed = 0
        self._rows = [tuple(row) for row in rows]
        self._index = {column: {} for column in self.indexed}
        for column, found in self._index.items():
            at = self.columns.index(column)
            for number, row in enumerate(self._rows):
                if row[at] is not None:
                    found.setdefault(row[at], []).append(number)

    @property
    def size(self):
        """Return how many rows there are."""
        return len(self._rows)

    def count(self, column, value):
        """Return how many rows have a value."""
        return len(self._index[column].get(value, ()))

    def rows(self):
        """Hand out all rows with their numbers."""
        for number, row in enumerate(self._rows):
            self.handed += 1
            yield number, row

    def find(self, column, value):
        """Hand out the rows that have a value with their numbers."""
        for number in self._index[column].get(value, ()):
            self.handed += 1
            yield number, self._rows[number]
