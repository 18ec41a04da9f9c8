"""`assay circle study`: a circle over a data set, and what its dialogue is worth."""

from __future__ import annotations

import asyncio
import json
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.console.options import cap_options, caps_from, model_options, settings_from
from assay.protocols.fire_circle.commands.options import circle_options, engine_from
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.protocols.fire_circle.study.folder import Manifest, StudyFolder
    from assay.protocols.fire_circle.study.items import Source
    from assay.protocols.fire_circle.study.passes import Plan
    from llm_runtime.settings import Settings
    from llm_runtime.wrappers.budgeted import Caps

F = TypeVar("F", bound=Callable[..., Any])
_BY_DEFAULT = "lift,calibration,groupthink"


def _column_options(command: F) -> F:
    names = {
        "--id": "what the row is called in reports",
        "--history": "what was said before: a list of texts or messages, in CSV as JSON",
        "--turn": "the turn of the prompt",
        "--label": "whether the row is a violation",
        "--user": "the user layer",
        "--application": "the application layer",
        "--system": "the system layer",
    }
    for flag, text in names.items():
        command = click.option(flag, metavar="COLUMN", help=f"The column that holds {text}.")(command)
    return command


@click.command()
@click.argument("data")
@_column_options
@click.option(
    "--positive", metavar="A,B", help="Values of the label that mean a violation [default: the usual words]."
)
@click.option("--category", metavar="COLUMN", help="The column of families of harmless prompts, for over-defence.")
@click.option("--limit", type=click.IntRange(1), help="Judge at most this many rows, spread evenly over the data.")
@click.option(
    "--measure",
    default=_BY_DEFAULT,
    show_default=True,
    metavar="A,B",
    help="Of lift, control, ablation, calibration, overdefence, pairs, groupthink, hijack; or all.",
)
@click.option("--max-fpr", type=float, default=0.05, show_default=True, help="False-positive rate to compare at.")
@click.option("--calibrate-to", type=float, default=0.01, show_default=True, help="False-positive rate to fit to.")
@click.option("--threshold", type=float, metavar="F", help="Count alarms from this F, in place of a fitted one.")
@circle_options
@model_options
@cap_options
@click.option("--concurrency", type=click.IntRange(1, 256), default=4, show_default=True, help="Items at a time.")
@click.option("--retry-failed", is_flag=True, help="Ask again, and pay again, for items that had no verdict.")
@click.option("--dry-run", is_flag=True, help="Read and check every row, say what it may cost at most, ask nobody.")
@click.option("--out", metavar="FOLDER", help="Where the study goes [default: study-NAME].")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON object.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="The study's seed; drawn once where left out.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
def study(
    data: str,
    system: str | None,
    application: str | None,
    user: str | None,
    label: str | None,
    turn: str | None,
    history: str | None,
    id: str | None,
    positive: str | None,
    category: str | None,
    limit: int | None,
    measure: str,
    max_fpr: float,
    calibrate_to: float,
    threshold: float | None,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    concurrency: int,
    retry_failed: bool,
    dry_run: bool,
    out: str | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    **circle: Any,
) -> int:
    """Judge every row of DATA, a CSV, JSON or JSONL file, and measure whether the dialogue helps.

    DATA may also be one of our own sets: @pairs, @histories, @overdefence. The study goes into a folder: results
    line by line, the figures, a report. Interrupted, it goes on where it was when the same command is given again,
    and pays for no answer twice; --budget holds for the whole of it.

    \b
    assay circle study prompts.csv --user prompt --label label --positive unsafe --category type
    assay circle study @pairs --measure pairs,groupthink --models a/x,b/y,c/z --budget 5
    assay circle study data.jsonl --user text --label bad --measure all --dry-run
    """
    from assay.protocols.fire_circle.study.folder import StudyFolder
    from assay.protocols.fire_circle.study.items import Source
    from assay.protocols.fire_circle.study.passes import Plan
    from fire_circle.rows import Columns

    for name, share in (("--max-fpr", max_fpr), ("--calibrate-to", calibrate_to), ("--threshold", threshold)):
        if share is not None and not 0 <= share <= 1:
            raise ConfigurationError(f"{name} {share:g}: it is 0 to 1")
    settings = settings_from(model, seats, max_tokens)
    engine = engine_from("fire_circle", model=model, max_tokens=max_tokens, **circle)
    layers = {"system": system, "application": application, "user": user}
    given = {**layers, "label": label, "turn": turn, "history": history, "id": id}
    values = tuple(value.strip() for value in (positive or "").split(",") if value.strip())
    built_in = data.startswith("@")
    if built_in and (any(given.values()) or values or category):
        raise ConfigurationError(f"{data} has its own columns; leave the flags for columns out")
    columns = Columns() if built_in else Columns(**given, positive=values)
    source = Source(data, columns, category, limit)
    measures = _measures(measure)
    place = Path(out or f"study-{Path(data.lstrip('@')).stem}")
    routes = {**settings.config.seats, **({"": settings.config.model} if settings.config.model else {})}
    folder = StudyFolder(place)
    if dry_run:
        return _dry_run(folder, source, engine, routes, settings, measures, seed, as_json)
    manifest = folder.open(source, engine, routes, seed, secrets.randbelow(2**53))
    plan = Plan(manifest, measures, concurrency, retry_failed)
    code = _ask(folder, plan, settings, caps_from(budget, max_calls, deadline), quiet)
    figures = _report(folder, manifest, measures, max_fpr, calibrate_to, threshold)
    if as_json:
        click.echo(json.dumps(figures, indent=1, ensure_ascii=False))
    else:
        _summarise(figures, place)
    return code


def _measures(text: str) -> frozenset[str]:
    from assay.protocols.fire_circle.study.passes import MEASURES

    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if wanted == ["all"]:
        return frozenset(MEASURES)
    unknown = [name for name in wanted if name not in MEASURES]
    if unknown or not wanted:
        raise ConfigurationError(f"--measure {text}: choose of {', '.join(MEASURES)}, or all")
    return frozenset(wanted)


def _ask(folder: StudyFolder, plan: Plan, settings: Settings, caps: Caps | None, quiet: bool) -> int:
    """Hold the circles; the exit code. What was answered stays, whatever happens."""
    from contextlib import ExitStack

    from assay.console.live import LiveDisplay
    from assay.protocols.fire_circle.report.study_fold import StudyFold
    from assay.protocols.fire_circle.study.passes import Passes
    from llm_runtime.errors import BudgetExceeded, DeadlineExceeded
    from llm_runtime.events import Emit, silent

    spent = folder.spent()
    emit: Emit = silent
    with ExitStack() as stack:
        if not quiet:
            budget = caps.cost if caps else None
            emit = stack.enter_context(LiveDisplay(StudyFold(spent.cost), budget=budget))
        passes = Passes(folder, plan, emit)
        try:
            asyncio.run(_through_gateway(passes, plan.manifest, settings, caps, spent, emit))
        except (BudgetExceeded, DeadlineExceeded) as fault:
            stack.close()
            click.echo(f"assay: {fault}", err=True)
            click.echo(f"assay: what was answered is kept in {folder.path}; give the command again", err=True)
            return fault.exit_code
        except KeyboardInterrupt:
            stack.close()
            click.echo(f"\nassay: stopped; what was answered is kept in {folder.path}", err=True)
            raise
    return 0


async def _through_gateway(
    passes: Any, manifest: Manifest, settings: Settings, caps: Caps | None, spent: Any, emit: Any
) -> None:
    from llm_runtime.gateway import Gateway
    from llm_runtime.wrappers.budgeted import Budget, Caps

    budget = Budget(caps or Caps(), spent)
    async with Gateway(settings, budget=budget, emit=emit) as gateway:
        for name in manifest.engine["models"]:
            await gateway.ready(name)
        await passes.run(gateway.generate)


def _report(
    folder: StudyFolder,
    manifest: Manifest,
    measures: frozenset[str],
    max_fpr: float,
    calibrate_to: float,
    threshold: float | None,
) -> dict[str, Any]:
    from assay.protocols.fire_circle.report.study_files import write_study_report
    from assay.protocols.fire_circle.study.measuring import figures_of

    figures = figures_of(
        folder, manifest, measures, max_fpr=max_fpr, calibrated_fpr=calibrate_to, threshold=threshold
    )
    write_study_report(folder.path, figures)
    return figures.model_dump(mode="json")


def _summarise(figures: dict[str, Any], place: Path) -> None:
    own = figures["passes"][0]
    click.echo(f"{own['judged']} of {own['items']} judged, {own['failed']} without a verdict")
    if figures["lift"]:
        click.echo(figures["lift"]["summary"])
    for what, why in figures["absent"].items():
        click.echo(f"no {what}: {why}")
    click.echo(f"report: {place / 'report.html'}", err=True)


def _dry_run(
    folder: StudyFolder,
    source: Source,
    engine: dict[str, Any],
    routes: dict[str, str],
    settings: Settings,
    measures: frozenset[str],
    seed: int | None,
    as_json: bool,
) -> int:
    """What it would take, with the files of items made aside; a study that is there already is only read."""
    from assay.protocols.fire_circle.study.bound import bound_of
    from assay.protocols.fire_circle.study.folder import StudyFolder
    from llm_runtime.pricing import load_prices

    with tempfile.TemporaryDirectory() as aside:
        if folder.manifest() is not None:
            folder.open(source, engine, routes, seed, 0)
            asked = folder
        else:
            asked = StudyFolder(Path(aside) / "study")
        manifest = asked.open(source, engine, routes, seed, 0)
        bound = bound_of(asked, manifest, measures, load_prices(settings.prices_path), settings.config.model)
    if as_json:
        click.echo(json.dumps(bound.data(), indent=1))
    else:
        click.echo(bound.text())
    return 0
