"""A sheet as a table of plain text."""

from abacus.refs import named, place
from abacus.values import written


def table(sheet):
    """Return the values of a sheet from A1 on, numbers to the right, all else to the left."""
    places = [place(name) for name in sheet.names()]
    if not places:
        return ""
    right, bottom = (max(each[axis] for each in places) for axis in (0, 1))
    rows = [[sheet.value(named(column, row)) for column in range(1, right + 1)] for row in range(1, bottom + 1)]
    heads = [named(column, 1)[:-1] for column in range(1, right + 1)]
    widths = [max(len(head), *(len(written(row[at])) for row in rows)) for at, head in enumerate(heads)]
    edge = len(str(bottom))
    lines = [" " * edge + "".join(f"  {head:<{width}}" for head, width in zip(heads, widths))]
    for number, row in enumerate(rows, 1):
        lines.append(f"{number:>{edge}}" + "".join(f"  {_aligned(value, width)}" for value, width in zip(row, widths)))
    return "".join(line.rstrip() + "\n" for line in lines)


def _aligned(value, width):
    return f"{value:>{width}}" if isinstance(value, int) else f"{written(value):<{width}}"
