"""The page of a matrix: rows of tasks, columns of methods or models, what people say of each output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from urllib.parse import urlencode

from assay.report.matrix import Agreement, ColumnSums, Matrix, Show
from assay.web.templating import render

_ROWS = 25
_USUAL = ("right", "wrong", "unclear")
_SHOW_WORDS = (
    ("failed", "Failed or wrong"),
    ("different", "Outputs differ"),
    ("unlabelled", "Without a label"),
    ("disputed", "Labels differ"),
)


@dataclass(frozen=True, slots=True)
class MatrixChoice:
    """What the reader looks at; it stands in the address.

    Args:
        show: which rows.
        find: a text that they hold.
        who: as whom the reader gives labels.
        page: 1 or more.
    """

    show: Show = ""
    find: str = ""
    who: str = ""
    page: int = 1

    def query(self, page: int) -> str:
        """Return the same on another page, as a query."""
        return urlencode({name: value for name, value in asdict(replace(self, page=page)).items() if value})


def matrix_page(
    address: str, title: str, matrix: Matrix, sums: Sequence[ColumnSums], agreed: Agreement, choice: MatrixChoice
) -> str:
    """Return the page.

    Args:
        address: of the batch or run that it belongs to, without its first slash.
        title: of that.
        matrix: all of it.
        sums: of its columns.
        agreed: how far people's labels agree.
        choice: what of it is shown.
    """
    chosen = [row for row in matrix.rows if row.fits(choice.show, choice.find)]
    pages = max(1, -(-len(chosen) // _ROWS))
    page = min(max(choice.page, 1), pages)
    labels = [label for column in sums for label in column.labels]
    return render(
        "matrix.html",
        address=address,
        title=title,
        columns=list(zip(matrix.columns, sums, strict=True)),
        rows=chosen[(page - 1) * _ROWS : page * _ROWS],
        total=len(matrix.rows),
        chosen=len(chosen),
        agreed=agreed,
        choice=choice,
        shows=_SHOW_WORDS,
        labels=list(dict.fromkeys((*_USUAL, *labels)))[:6],
        back=f"/{address}/matrix?{choice.query(page)}",
        before=choice.query(page - 1) if page > 1 else "",
        after=choice.query(page + 1) if page < pages else "",
        page=page,
        pages=pages,
    )
