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


def print_runs(runs: Sequence[RunSummary], standings: Mapping[str, RunStanding]) -> None:
    """Print one line for each run, its verdict last; only the title is cut where the terminal is narrow."""
    id_width = max(len(run.run_id) for run in runs)
    kind_width = max(12, *(len(run.protocol) + 2 for run in runs))
    columns = shutil.get_terminal_size((160, 24)).columns
    times = 18 if columns > id_width + kind_width + 65 else 0  # an id says the time, too
    head = f"{'run':<{id_width}}  {'started (UTC)'[:times]:<{times}}{'protocol':<{kind_width}}"
    head += f"{'state':<12}{'tokens':>7}{'cost':>10}  title"
    left = max(columns - head.index("title"), 12)
    click.secho(head, bold=True)
    for run in runs:
        verdict = standings[run.run_id].verdict
        words = f" · {verdict.words}" if verdict else ""
        cost = "demo" if run.origin == "demo" else money(run.cost) + ("+?" if run.cost_unknown or run.unknown else "")
        when = written_time(run.started_at)[: min(times, 16)]
        click.echo(
            f"{run.run_id:<{id_width}}  {when:<{times}}{run.protocol:<{kind_width}}"
            f"{run.state:<12}{short_count(run.input_tokens + run.output_tokens) if run.calls else '–':>7}{cost:>10}  "
            f"{one_line(run.title, min(max(left - len(words), 12), _WIDEST_TITLE))}{words}"
        )
