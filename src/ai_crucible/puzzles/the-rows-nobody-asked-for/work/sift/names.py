"""Whether what a query speaks of is there."""

from sift.conditions import columns_of
from sift.errors import QueryError


def check(query, shelves):
    """Refuse a query that speaks of what is not there."""
    known = {}
    for source in query.sources:
        if source.shelf not in shelves:
            raise QueryError(f"there is no shelf {source.shelf}")
        if source.alias in known:
            raise QueryError(f"{source.alias} stands for two shelves")
        known[source.alias] = shelves[source.shelf].columns
        _check(columns_of(source.on) if source.on else [], known)
    _check(columns_of(query.where) if query.where else [], known)
    _check([*(query.columns or []), *(key.column for key in query.keys)], known)


def _check(columns, known):
    for column in columns:
        if column.name not in known.get(column.alias, ()):
            raise QueryError(f"there is no column {column.alias}.{column.name} here")
