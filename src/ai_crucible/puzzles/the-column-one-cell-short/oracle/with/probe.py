"""Asks the galley of a solution what the checks compare."""

import contextlib
import io

from galley import Cell, clusters, columns, fit, table, width, wrap
from galley.__main__ import main


def torn(text):
    return [clusters(text), width(text)]


def wrapped(text, room):
    return wrap(text, room)


def fitted(text, room, *align):
    return fit(text, room, *align)


def of(rows):
    return [[Cell(*cell) for cell in row] for row in rows]


def widths(rows, limit):
    return columns(of(rows), limit)


def tabled(rows, limit):
    return table(of(rows), limit)


def printed(given, *words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main(list(words), given)
    return [code, out.getvalue()]
