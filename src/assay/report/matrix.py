"""What several methods or models made of the same tasks, as neutral data: a row a task, a column a method."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from llm_runtime.statistics.agreement import krippendorff_alpha, nominal_disagreement

CellState: TypeAlias = Literal["done", "failed", "waiting"]
Show: TypeAlias = Literal["", "failed", "different", "unlabelled", "disputed"]
SHOWS: tuple[Show, ...] = ("", "failed", "different", "unlabelled", "disputed")


@dataclass(frozen=True, slots=True)
class Cell:
    """What one method made of one task.

    Args:
        run_id: the run that people's labels stand beside.
        place: what in that run it is; empty for all of it.
        text: the output in short, or why there is none.
        right: whether it is right, where something tells.
        cost: micro-dollars; ``None`` where it is not known.
        labels: by who gave them.
    """

    run_id: str
    place: str
    text: str
    state: CellState = "done"
    right: bool | None = None
    cost: int | None = None
    labels: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One task, and a cell a column; ``None`` where there is none."""

    task: str
    cells: tuple[Cell | None, ...]

    def fits(self, show: Show, text: str) -> bool:
        """Tell whether a reader who wants only some rows wants this one."""
        cells = [cell for cell in self.cells if cell]
        if text and text.casefold() not in "\n".join((self.task, *(cell.text for cell in cells))).casefold():
            return False
        match show:
            case "failed":
                return any(cell.state == "failed" or cell.right is False for cell in cells)
            case "different":
                return len({(cell.text, cell.state) for cell in cells}) > 1
            case "unlabelled":
                return any(not cell.labels for cell in cells)
            case "disputed":
                return any(len(set(cell.labels.values())) > 1 for cell in cells)
            case _:
                return True


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of tasks over columns of methods or models."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """What a column adds up to; ``right`` are those of ``judged`` cells that are right."""

    done: int
    failed: int
    cost: int
    unpriced: bool
    right: int
    judged: int
    labels: dict[str, int]


def column_sums(matrix: Matrix) -> list[ColumnSums]:
    """Return the sums of each column."""
    return [_sums([cell for row in matrix.rows if (cell := row.cells[at])]) for at in range(len(matrix.columns))]


def _sums(cells: Sequence[Cell]) -> ColumnSums:
    labels: dict[str, int] = {}
    for label in (label for cell in cells for label in cell.labels.values()):
        labels[label] = labels.get(label, 0) + 1
    return ColumnSums(
        done=sum(cell.state == "done" for cell in cells),
        failed=sum(cell.state == "failed" for cell in cells),
        cost=sum(cell.cost or 0 for cell in cells),
        unpriced=any(cell.cost is None for cell in cells if cell.state == "done"),
        right=sum(cell.right is True for cell in cells),
        judged=sum(cell.right is not None for cell in cells),
        labels=labels,
    )


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people who labelled the same cells agree.

    Args:
        people: who gave labels.
        shared: cells that two or more of them labelled.
        same: those of them where all labels are the same.
        alpha: agreement beyond chance (Krippendorff); ``None`` where it cannot be told.
    """

    people: tuple[str, ...]
    shared: int
    same: int
    alpha: float | None


def agreement(matrix: Matrix) -> Agreement:
    """Return how far the labels of all cells agree."""
    cells = [cell for row in matrix.rows for cell in row.cells if cell and cell.labels]
    people = tuple(dict.fromkeys(who for cell in cells for who in cell.labels))
    shared = [cell for cell in cells if len(cell.labels) > 1]
    same = sum(len(set(cell.labels.values())) == 1 for cell in shared)
    ratings: list[list[Hashable | None]] = [[cell.labels.get(who) for cell in cells] for who in people]
    return Agreement(people, len(shared), same, krippendorff_alpha(ratings, nominal_disagreement) if cells else None)


def matrix_lines(matrix: Matrix) -> Iterable[dict[str, object]]:
    """Yield a line for each cell, for a table of data."""
    for row in matrix.rows:
        for column, cell in zip(matrix.columns, row.cells, strict=True):
            if cell:
                yield {
                    "task": row.task,
                    "column": column,
                    "state": cell.state,
                    "output": cell.text,
                    "right": cell.right,
                    "cost": cell.cost,
                    "run": cell.run_id,
                    "place": cell.place,
                    "labels": cell.labels,
                }
