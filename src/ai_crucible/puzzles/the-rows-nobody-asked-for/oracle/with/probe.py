"""Asks the engine of a solution what the checks compare, over shelves of its own that count what they hand out."""

import sift
from sift import QueryError, answer


def shelf(columns, rows, indexed):
    """Return a shelf, and what tells how many rows it has handed out."""
    rows, count = [tuple(row) for row in rows], [0]
    size = len(rows)
    at = {name: place for place, name in enumerate(columns)}
    known = {}
    for name in indexed:
        for number, row in enumerate(rows):
            if row[at[name]] is not None:
                known.setdefault((name, row[at[name]]), []).append(number)

    def handed(numbers):
        for number in numbers:
            count[0] += 1
            yield number * 3 + 1, rows[number]

    class Counting:
        def __init__(self):
            self.size = size
            self.columns, self.indexed = tuple(columns), frozenset(indexed)

        def count(self, column, value):
            if column not in indexed:
                raise KeyError(column)
            return len(known.get((column, value), ()))

        def rows(self):
            return handed(range(size))

        def find(self, column, value):
            if column not in indexed:
                raise KeyError(column)
            return handed(known.get((column, value), ()))

    return Counting(), lambda: count[0]


def answered(shelves, query):
    """The rows of the answer, and how many rows each shelf has handed out for it."""
    made = {name: shelf(*one) for name, one in shelves.items()}
    try:
        found = answer({name: one for name, (one, _) in made.items()}, query)
    except QueryError:
        found = ["fault"]
    return [found if found == ["fault"] else [tuple(row) for row in found], {name: count() for name, (_, count) in made.items()}]


def large(indexed, query):
    """Two shelves of 6,000 rows, of which each has one partner in the other."""
    rows = [(number, number * 7 % 6000, number % 5) for number in range(6000)]
    return answered({"r": [["k", "x", "y"], rows, indexed], "s": [["k", "x", "y"], rows[::-1], indexed]}, query)


def again(one, other, query):
    """One query over different shelves of the same names."""
    return [answered(one, query), answered(other, query), answered(one, query)]


def own(columns, rows, indexed, query):
    """Over the library's own shelf."""
    made = sift.Shelf(columns, rows, indexed)
    return [answer({"a": made}, query), made.handed]
