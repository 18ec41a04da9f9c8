"""Tables of a report on terminals of every width: no word and no number is broken, and nothing is left out."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from assay.report.story import Column, Table
from assay.report.terminal import block_view

HEADS = ("Solver", "Framing", "Passed", "Died", "Rate", "95% interval", "pass@k", "pass^k", "k", "Tokens", "Cost")
ROW = ("mockllm/a-b", "neutral", "2 of 4", "0", "50%", "15% to 85%", "50%", "50%", "2", "61.1k", "$1,234.50")
COLUMNS = tuple(Column(head, "text" if place < 2 else "number") for place, head in enumerate(HEADS))


def drawn(table: Table, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as held:
        console.print(block_view(table))
    return held.get()


@pytest.mark.parametrize("width", [20, 40, 60, 80, 90, 120, 200])
@pytest.mark.parametrize("total", [None, ("Sum", *ROW[1:])])
def test_no_word_and_no_number_is_broken_at_any_width(width: int, total: tuple[str, ...] | None) -> None:
    text = drawn(Table(COLUMNS, (ROW, ("größe 日本", *ROW[1:])), total), width)
    words = text.split()
    for cell in (*HEADS, *ROW, "größe", "日本", *(total or ())):
        assert all(word in words for word in cell.split()), (cell, text)
    assert all(cell_len(line) <= width for line in text.splitlines())


def test_a_table_that_fits_is_no_wider_than_it_needs_to_be_and_else_gives_its_texts_what_is_over() -> None:
    table = Table((Column("Claim"), Column("Calls", "number")), (("a b " * 12, "1,709"), ("short", "3")))
    assert max(map(cell_len, map(str.rstrip, drawn(table, 200).splitlines()))) <= 63
    assert [line.split()[-1] for line in drawn(table, 40).splitlines() if "1,709" in line or "short" in line] == [
        "1,709",
        "3",
    ]


def test_an_empty_row_and_a_long_word_are_shown_too() -> None:
    word = "x" * 60
    assert drawn(Table(COLUMNS, (("",) * len(COLUMNS),)), 40)
    assert drawn(Table((Column("A"), Column("B")), ((word, "y"),)), 30).count("x") == 60
