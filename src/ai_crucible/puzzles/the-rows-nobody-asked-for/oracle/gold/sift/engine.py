"""Answers queries."""

from sift.conditions import columns_of, holds
from sift.names import check
from sift.outer import planned
from sift.parser import parse
from sift.reading import read
from sift.sorting import in_order
from sift.terms import Column, Compare, Literal


def answer(shelves, text):
    """Return the rows that a query asks for."""
    query = parse(text)
    check(query, shelves)
    places = {source.alias: {name: at for at, name in enumerate(shelves[source.shelf].columns)} for source in query.sources}

    def value_of(operand, row):
        if isinstance(operand, Literal):
            return operand.value
        values = row[operand.alias]
        return None if values is None else values[places[operand.alias][operand.name]]

    conditions, left = planned(query)
    rows, seen = _that_hold([{}], [part for part in conditions if not _aliases(part)], value_of), set()
    for source in query.sources:
        seen.add(source.alias)
        due = [part for part in conditions if source.alias in _aliases(part) <= seen]
        if source.alias in left:
            rows = _that_hold(_left(rows, source.alias, shelves[source.shelf], left[source.alias], value_of), due, value_of)
        else:
            handed = read(shelves[source.shelf], source.alias, due, rows, value_of)
            partners = _Partners(handed, source.alias, due, value_of)
            rows = [both for row in rows for both in partners.of(row)]
    rows = in_order(rows, query.keys, value_of)[: query.limit]
    if query.columns is None:
        return [tuple(value for source in query.sources for value in row[source.alias] or (None,) * len(places[source.alias])) for row in rows]
    return [tuple(value_of(column, row) for column in query.columns) for row in rows]


def _aliases(part):
    return {column.alias for column in columns_of(part)}


def _that_hold(rows, parts, value_of):
    return [row for row in rows if all(holds(part, lambda operand: value_of(operand, row)) for part in parts)]


def _left(rows, alias, shelf, parts, value_of):
    """Return rows with their partners in a shelf, or with none."""
    before = [part for part in parts if alias not in _aliases(part)]
    asking = _that_hold(rows, before, value_of)
    wanting = {id(row) for row in asking}
    partners = _Partners(read(shelf, alias, parts, asking, value_of), alias, [part for part in parts if part not in before], value_of)
    found = []
    for row in rows:
        both = partners.of(row) if id(row) in wanting else []
        found += both or [{**row, alias: None}]
    return found


class _Partners:
    """Rows of a shelf, by what has to be equal in rows so far."""

    def __init__(self, handed, alias, parts, value_of):
        self.alias, self.value_of = alias, value_of
        pairs = [(part, _sides(part, alias)) for part in parts]
        self.others = [other for _, (own, other) in pairs if own]
        self.rest = [part for part, (own, _) in pairs if not own]
        self.known = {}
        for values in handed:
            key = tuple(value_of(own, {alias: values}) for _, (own, _) in pairs if own)
            if None not in key:
                self.known.setdefault(key, []).append(values)

    def of(self, row):
        """Return a row with each of its partners."""
        key = tuple(self.value_of(other, row) for other in self.others)
        return _that_hold([{**row, self.alias: values} for values in self.known.get(key, [])], self.rest, self.value_of)


def _sides(part, alias):
    """Return the column of a shelf and what it has to equal, where a part says such a thing."""
    if isinstance(part, Compare) and part.sign == "=":
        for own, other in ((part.left, part.right), (part.right, part.left)):
            if isinstance(own, Column) and own.alias == alias and not (isinstance(other, Column) and other.alias == alias):
                return own, other
    return None, None
