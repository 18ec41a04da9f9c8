"""Names of cells: columns by letters, rows by numbers from 1."""

import re

NAME = re.compile(r"([A-Za-z]{1,2})([1-9][0-9]{0,4})")


def place(name):
    """Return column and row of a name, from 1; ValueError where it is none."""
    match = NAME.fullmatch(name.strip())
    if match is None:
        raise ValueError(f"{name!r} names no cell")
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return column, int(match[2])


def named(column, row):
    """Return the name of a column and row."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row}"


def normal(name):
    """Return a name as it is written everywhere else; ValueError where it is none."""
    return named(*place(name))


def within(first, last):
    """Return the names of the cells of a range, row by row."""
    (left, top), (right, bottom) = place(first), place(last)
    left, right = sorted((left, right))
    top, bottom = sorted((top, bottom))
    return [named(column, row) for row in range(top, bottom + 1) for column in range(left, right + 1)]
