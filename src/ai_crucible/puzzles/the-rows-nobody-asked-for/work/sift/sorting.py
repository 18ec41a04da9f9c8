"""The order of answers."""

from sift.conditions import rank


def in_order(rows, keys, value_of):
    """Return rows in the order of keys; ``value_of`` gives the value of a column in a row."""
    for key in reversed(keys):
        rows = sorted(rows, key=lambda row: _place(value_of(key.column, row), key), reverse=key.descending)
    return rows


def _place(value, key):
    if value is None:
        return (not key.nulls_first, rank(0))
    return (bool(key.nulls_first), rank(value))
