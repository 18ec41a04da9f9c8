"""Tables as lines."""

from itertools import zip_longest

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
    missing = len(widths) - sum(cell.span for cell in row)
    blocks, wides, at = [], [], 0
    for cell in [*row, *[Cell("")] * missing]:
        wide = room(widths, at, cell.span)
        wides.append(wide)
        blocks.append([fit(line, wide, cell.align) for line in wrap(cell.text, max(1, wide))])
        at += cell.span
    lines = []
    for parts in zip_longest(*blocks):
        full = [" " * wide if part is None else part for part, wide in zip(parts, wides)]
        lines.append(" | ".join(full).rstrip(" "))
    return lines
