"""Answers queries."""

from sift.conditions import columns_of, holds
from sift.names import check
from sift.parser import parse
from sift.sorting import in_order
from sift.terms import And, Literal


def answer(shelves, text):
    """Return the rows that a query asks for."""
    query = parse(text)
    check(query, shelves)
    places = {source.alias: {name: at for at, name in enumerate(shelves[source.shelf].columns)} for source in query.sources}

    def value_of(operand, row):
        if isinstance(operand, Literal):
            return operand.value
        return row[operand.alias] and row[operand.alias][places[operand.alias][operand.name]]

    rows = [{}]
    for source in query.sources:
        rows = list(_joined(rows, source, shelves[source.shelf], _alone(query.where, source.alias), value_of))
    if query.where:
        rows = [row for row in rows if holds(query.where, lambda operand: value_of(operand, row))]
    rows = in_order(rows, query.keys, value_of)[: query.limit]
    if query.columns is None:
        return [tuple(value for source in query.sources for value in row[source.alias] or (None,) * len(places[source.alias])) for row in rows]
    return [tuple(value_of(column, row) for column in query.columns) for row in rows]


def _alone(where, alias):
    """Return the parts of a condition that speak of one shelf alone."""
    parts = where.parts if isinstance(where, And) else [where] if where else []
    return [part for part in parts if {column.alias for column in columns_of(part)} == {alias}]


def _joined(rows, source, shelf, alone, value_of):
    """Yield rows with those of a shelf; what ``where`` says of this shelf alone is looked at here already."""
    for row in rows:
        found = False
        for _, values in shelf.rows():
            both = {**row, source.alias: values}
            if all(holds(part, lambda operand: value_of(operand, both)) for part in [*alone, *([source.on] if source.on else [])]):
                found = True
                yield both
        if source.kind == "left" and not found:
            yield {**row, source.alias: None}
