"""How wide columns are."""

from dataclasses import dataclass

from galley.clusters import width

BETWEEN = 3


@dataclass(frozen=True)
class Cell:
    """A text over one column or several ones."""

    text: str
    span: int = 1
    align: str = "left"

    @property
    def widest(self):
        return max(width(line) for line in self.text.split("\n"))


def placed(rows):
    """Yield each cell with its first column, row by row."""
    for row in rows:
        at = 0
        for cell in row:
            yield at, cell
            at += cell.span


def room(widths, at, span):
    """Return how much room there is in columns, with what lies between them."""
    return sum(widths[at : at + span])


def columns(rows, limit):
    """Return the widths of columns."""
    count = max((sum(cell.span for cell in row) for row in rows), default=0)
    widths = [0] * count
    for at, cell in placed(rows):
        widths[at] = max(widths[at], cell.widest)
    while widths and room(widths, 0, count) > limit:
        widths[widths.index(max(widths))] -= 1
    return widths
