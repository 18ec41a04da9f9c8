"""The routes of the matrix: outputs of a batch or comparison side by side, with people's labels, and as tables."""

from __future__ import annotations

import asyncio
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from assay.batch.export import WRITERS
from assay.batch.ledger import Batch, Ledger, Result
from assay.batch.purses import Purses
from assay.batch.report.story import labels
from assay.registry import verdict_of
from assay.report.clean import one_line
from assay.report.matrix import (
    SHOWS,
    Agreement,
    Cell,
    CellState,
    ColumnSums,
    Matrix,
    MatrixRow,
    Show,
    agreement,
    column_sums,
    matrix_lines,
)
from assay.web.app_state import download, respond, run_id_of, site_of
from assay.web.forms import one_of, whole_number
from assay.web.listing import with_ledger
from assay.web.noting import my_name
from assay.web.templating import render
from llm_runtime.errors import RunNotFound
from llm_runtime.store import RunStore
from llm_runtime.store.notes import notes_of

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


_LONGEST = 300
_STATES: dict[str, CellState] = {"done": "done", "dead": "failed"}
_MEDIA = {".csv": "text/csv", ".jsonl": "application/jsonl"}


async def batch_matrix(request: Request) -> Response:
    """Show what each configuration of a batch made of each row, with failures, cost and labels."""
    return _shown(request, *await _of_batch(request))


async def batch_table(request: Request) -> Response:
    """Export the matrix of a batch with its labels, ``csv`` or ``jsonl``."""
    return _table(request, *await _of_batch(request))


async def run_matrix(request: Request) -> Response:
    """Show what each method of a comparison made of each task."""
    return _shown(request, *await _of_run(request))


async def run_table(request: Request) -> Response:
    """Export the matrix of a comparison with its labels, ``csv`` or ``jsonl``."""
    return _table(request, *await _of_run(request))


async def _of_batch(request: Request) -> tuple[str, str, Matrix]:
    """Return the address of a batch, its title and its matrix; of a run below."""
    batch_id: str = request.path_params["batch_id"]

    def read(ledger: Ledger, purses: Purses) -> tuple[Batch, Matrix]:
        batch = ledger.batch(batch_id)
        return batch, _batch_matrix(batch, ledger.results(batch_id))

    made = await with_ledger(request, read)
    if made is None:
        raise RunNotFound(f"there is no batch {batch_id[:80]!r}")
    batch, matrix = made
    matrix = await asyncio.to_thread(labelled, site_of(request).store, matrix)
    return f"batches/{batch_id}", batch.title, matrix


async def _of_run(request: Request) -> tuple[str, str, Matrix]:
    site, run_id = site_of(request), run_id_of(request)
    story = site.hub.watch(run_id).story()
    if story.matrix is None:
        raise RunNotFound(f"run {run_id} has no matrix: only comparisons and batches have one")
    return f"runs/{run_id}", story.title, await asyncio.to_thread(labelled, site.store, story.matrix)


def _batch_matrix(batch: Batch, results: Iterable[Result]) -> Matrix:
    columns = labels(batch)
    rows: defaultdict[tuple[int, int], dict[int, Result]] = defaultdict(dict)
    for result in results:
        rows[result.row, result.repetition][result.configuration] = result
    return Matrix(tuple(columns), tuple(_row(batch, cells, len(columns)) for cells in rows.values()))


def _row(batch: Batch, results: dict[int, Result], columns: int) -> MatrixRow:
    task = next(iter(results.values())).task
    cells = (_cell(batch, result) if (result := results.get(at)) else None for at in range(columns))
    return MatrixRow(_asked(task), tuple(cells))


def _cell(batch: Batch, result: Result) -> Cell:
    state = _STATES.get(result.state, "waiting")
    text = result.state
    if state == "failed":
        text = f"{result.error}: {result.message}"
    elif result.result is not None:
        data = json.loads(result.result)
        came = verdict_of(batch.protocol, data)
        text = came.gist or came.words if came else json.dumps(data, ensure_ascii=False)
    return Cell(result.run_id, "", one_line(text, _LONGEST), state, None, result.cost if result.run_id else None)


def _asked(task: str) -> str:
    """Return the first text of a task: what a person asked."""
    try:
        data: Any = json.loads(task)
    except ValueError:
        return one_line(task, _LONGEST)
    values = list(cast("dict[str, Any]", data).values()) if isinstance(data, dict) else [data]
    return one_line(next((value for value in values if isinstance(value, str) and value.strip()), task), _LONGEST)


def labelled(store: RunStore, matrix: Matrix) -> Matrix:
    """Return the matrix with the labels that people gave its cells."""
    runs = dict.fromkeys(cell.run_id for row in matrix.rows for cell in row.cells if cell and cell.run_id)
    labels: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for run_id, notes in notes_of(store, list(runs)).items():
        for note in notes:
            if note.label:
                labels[run_id, note.place][note.who] = note.label

    def with_labels(cell: Cell | None) -> Cell | None:
        return replace(cell, labels=labels[cell.run_id, cell.place]) if cell and cell.run_id else cell

    rows = (replace(row, cells=tuple(map(with_labels, row.cells))) for row in matrix.rows)
    return replace(matrix, rows=tuple(rows))


def _shown(request: Request, address: str, title: str, matrix: Matrix) -> Response:
    query = request.query_params
    page = whole_number(query.get("page") or "1", "page")
    who = my_name(query.get("who", "")[:64])
    choice = MatrixChoice(one_of(query.get("show", ""), SHOWS, "show is"), query.get("find", "")[:200], who, page)
    sums, agreed = column_sums(matrix), agreement(matrix)
    return respond(
        request,
        lambda: {"columns": list(matrix.columns), "cells": list(matrix_lines(matrix)), "alpha": agreed.alpha},
        lambda: matrix_page(address, title, matrix, sums, agreed, choice),
    )


def _table(request: Request, address: str, _: str, matrix: Matrix) -> Response:
    ending = f".{request.path_params['kind']}"
    if ending not in _MEDIA:
        raise RunNotFound(f"there is no such table; there are: {', '.join(_MEDIA)}")
    out = io.BytesIO()
    WRITERS[ending](matrix_lines(matrix), out)
    return download(out.getvalue(), _MEDIA[ending], f"{address.rpartition('/')[2]}-matrix{ending}")
