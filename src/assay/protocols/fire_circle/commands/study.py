"""`assay circle study`: a circle over a data set, and what its dialogue is worth."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from assay.console.going_on import unfinished
from assay.console.running import RunCommand, resume_run, run_command
from assay.console.showing import report_and_code, show_run
from assay.report.units import count, money
from assay.terms import configured

if TYPE_CHECKING:
    from assay.launch import Outcome
    from assay.protocols.fire_circle.study_task import Options, Task
    from assay.registry import Prepared
    from fire_circle.studies.bound import Bound
    from fire_circle.studies.folder import Manifest


_KIND = "fire_circle.study"


@run_command(_KIND, "study", trace="Show the whole report after the summary.")
@declares(__package__ or "", "options.toml")("study")
def study(command: RunCommand, data: str, retry_failed: bool, dry_run: bool, out: str | None) -> int:
    """Judge every row of DATA, a CSV, JSON or JSONL file, and measure whether the dialogue helps.

    DATA may also be one of our own sets: @pairs, @histories, @overdefence. The study goes into a folder: results
    line by line, the figures, a report. Interrupted, it goes on where it was when the same command is given again,
    and pays for no answer twice; --budget holds for the whole of it.

    \b
    assay circle study prompts.csv --user prompt --label label --positive unsafe --category type
    assay circle study @pairs --measure pairs,groupthink --models a/x,b/y,c/z --budget 5
    assay circle study data.jsonl --user text --label bad --measure all --dry-run
    """
    command.task |= {"data": data, "out": out or ""}
    command.options["retry_failed"] = retry_failed
    if command.terms.max_tokens is not None:
        # A folder of before version 0.2 knows its answers by requests that hold the bound.
        command.options["calls"] = {"max_tokens": command.terms.max_tokens}
    if dry_run:
        return _dry_run(command)
    task, options = _asked(command)
    if (known := _known(command, task, options)) is not None:
        command.seed = known.seed
    begun = unfinished(command, _KIND, _asks_the_same)
    outcome = resume_run(begun, command.store, command.terms, command.output) if begun else command.go()
    if outcome.state != "failed" and not command.output.jsonl:
        _show(command, task, outcome)
    return report_and_code(outcome, command.store, command.output)


def _asked(command: RunCommand) -> tuple[Task, Options]:
    from assay.protocols.fire_circle.study_task import Options, Task

    task, options = command.prepared.task, command.prepared.options
    assert isinstance(task, Task) and isinstance(options, Options)
    return task, options


def _known(command: RunCommand, task: Task, options: Options) -> Manifest | None:
    """Return what the folder holds of this very study.

    Raises:
        ConfigurationError: it holds another.
    """
    terms = configured(command.settings)
    return task.folder.known(options.study_circle(terms), terms.routes, command.seed)


def _asks_the_same(command: RunCommand, run: Prepared, seed: int) -> bool:
    return run.data() == command.prepared.data() and command.seed in (None, seed)


def _show(command: RunCommand, task: Task, outcome: Outcome) -> None:
    from fire_circle.studies.figures import read_figures

    figures = read_figures(task.folder.path)
    if command.output.as_json:
        click.echo(json.dumps(figures.model_dump(mode="json"), indent=1, ensure_ascii=False))
        return
    own = figures.passes[0]
    click.echo(f"{own.judged} of {own.items} judged, {own.failed} without a verdict")
    if figures.lift:
        click.echo(figures.lift.summary)
    for what, why in figures.absent.items():
        click.echo(f"no {what}: {why}")
    if command.output.trace:
        show_run(command.store, outcome.run_id, trace=True)
    click.echo(f"report: {task.folder.path / 'report.html'}", err=True)


def _dry_run(command: RunCommand) -> int:
    """Say what it would take, with the files of items made aside; a study that is there already is only read."""
    from fire_circle.studies.bound import bound_of
    from fire_circle.studies.folder import StudyFolder
    from llm_runtime.pricing import load_prices

    (task, options), terms = _asked(command), configured(command.settings)
    with tempfile.TemporaryDirectory() as aside:
        folder, manifest = task.folder, _known(command, task, options)
        if manifest is None:
            folder = StudyFolder(Path(aside))
            manifest = folder.open(task.source, options.study_circle(terms), terms.routes, command.seed or 0)
        prices = load_prices(command.settings.prices_path)
        bound = bound_of(folder, manifest, frozenset(options.measures), prices, terms.model or None)
    click.echo(json.dumps(bound.data(), indent=1) if command.output.as_json else _told(bound))
    return 0


def _told(bound: Bound) -> str:
    """Return what a study may take at the most, for a person."""
    lines: list[str] = []
    for name, plan in bound.passes:
        done = f", {count(plan.finished)} finished before" if plan.finished else ""
        equal = f", {count(plan.duplicates)} rows repeat others" if plan.duplicates else ""
        cost = "price unknown" if plan.cost is None else money(plan.cost)
        lines.append(f"{name}: {count(plan.items)} items{done}{equal}; at most {count(plan.calls)} calls, {cost}")
    unpriced = sorted({model for _, plan in bound.passes for model in plan.unpriced})
    total = "not known" if bound.cost is None else money(bound.cost)
    dated = next((plan.priced_on for _, plan in bound.passes if plan.priced_on), "")
    lines.append(
        f"together at most {count(bound.calls)} calls (half of that if no answer has to be asked for again), "
        f"cost at most {total}" + (f" by prices of {dated}" if dated else "")
    )
    if unpriced:
        lines.append(f"no price is known for {', '.join(unpriced)}; see: assay models --prices")
    if bound.power:
        lines.append(f"{bound.power.summary} (simulated)")
    return "\n".join(lines)
