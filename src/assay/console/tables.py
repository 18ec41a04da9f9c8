"""Tables on the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from assay.report.clean import one_line
from assay.report.units import money, short_count, written_time

if TYPE_CHECKING:
    from assay.report.standing import RunStanding
    from llm_runtime.store import RunSummary

_WIDEST_TITLE = 120
_LEAST_BESIDE = 45
_HEAD = ("run", "started (UTC)", "protocol", "state", "tokens", "cost")


def print_runs(runs: Sequence[RunSummary], standings: Mapping[str, RunStanding]) -> None:
    """Print each run, its title and verdict last: below where a terminal is narrow, cut to it; whole for a pipe."""
    columns = shutil.get_terminal_size((1000, 24)).columns
    # Where there is little room the time is left out, which an id says too, and then the protocol.
    skipped = 1 if columns >= 140 else 2 if columns >= 70 else 3
    rows = [cells[:1] + cells[skipped:] for cells in (_HEAD, *map(_cells, runs))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    heads, *lines = ["  ".join(map(_padded, cells, widths, rows[0])) for cells in rows]
    beside = columns - len(heads) - 2
    between, left = ("\n    ", max(columns - 4, 12)) if beside < _LEAST_BESIDE else ("  ", beside)
    click.secho(heads + "  title" * (left == beside), bold=True)
    for run, line in zip(runs, lines, strict=True):
        verdict = standings[run.run_id].verdict
        words = f" · {verdict.words}" if verdict else ""
        title = one_line(run.title, min(max(left - len(words), left // 2), _WIDEST_TITLE))
        click.echo(f"{line}{between}{one_line(title + words, left)}")


def _cells(run: RunSummary) -> tuple[str, ...]:
    cost = "demo" if run.origin == "demo" else money(run.cost) + ("+?" if run.cost_unknown or run.unknown else "")
    tokens = short_count(run.input_tokens + run.output_tokens) if run.calls else "–"
    return run.run_id, written_time(run.started_at)[:16], run.protocol, run.state, tokens, cost


def _padded(cell: str, width: int, head: str) -> str:
    return cell.rjust(width) if head in _HEAD[-2:] else cell.ljust(width)
