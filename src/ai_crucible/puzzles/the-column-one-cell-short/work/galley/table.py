"""Tables as lines."""

from galley.columns import Cell, columns, room
from galley.fit import fit
from galley.wrap import wrap


def table(rows, limit):
    """Return the lines of a table."""
    widths, lines = columns(rows, limit), []
    for row in rows:
        lines += row_lines(row, widths)
    return lines


def row_lines(row, widths):
    """Return the lines of one row."""
    blocks, at = [], 0
    for cell in [*row, *[Cell("")] * (len(widths) - len(row))]:
        wide = room(widths, at, cell.span)
        blocks.append([fit(line, wide, cell.align) for line in wrap(cell.text, max(1, wide))])
        at += cell.span
    return [" | ".join(parts) for parts in zip(*blocks)]
