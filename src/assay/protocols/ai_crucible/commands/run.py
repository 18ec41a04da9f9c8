"""`assay trial run`: a model attempts puzzles, each attempt in a box of its own."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from assay.protocols.ai_crucible.trials import (
    Plan,
    need_box,
    need_inspect,
    plan_of,
    running_options,
    solver_of,
    workshop,
)
from assay.report.units import several
from llm_runtime.errors import BudgetExceeded, ConfigurationError

if TYPE_CHECKING:
    from ai_crucible.types import Arm
    from ai_crucible.workshop import TrialReport, Workshop


@click.command("run")
@click.argument("puzzles", nargs=-1, required=True, metavar="PUZZLE...")
@running_options
@click.option(
    "--arm",
    type=click.Choice(["neutral", "self_referential", "social_standings"]),
    default="neutral",
    show_default=True,
    help="The framing; the others need earlier trials to refer to.",
)
@click.option("--trial", "trial", metavar="ID", help="Go on with this trial.")
@click.option("--fresh", is_flag=True, help="Begin anew although the same trial was cut off before.")
def run_(
    puzzles: tuple[str, ...],
    log_dir: str | None,
    model: str | None,
    k: int,
    max_cost: float | None,
    at_once: int,
    protocol: Literal["native", "text"],
    judges: tuple[str, ...],
    as_json: bool,
    out: str | None,
    quiet: bool,
    arm: Arm,
    trial: str | None,
    fresh: bool,
) -> int:
    """Let MODEL attempt each PUZZLE k times: ids, folders, or `all`.

    What each attempt came to is told with its interval; the report shows every attempt from prompt to signed head.
    A trial that was cut off goes on when the same command is given again, and repeats no finished attempt.

    \b
    assay trial run all --model openrouter/vendor/model --k 5 --max-cost 4 --out trial.html
    assay trial run ./my-puzzle --model ollama:qwen3 --protocol text
    assay trial run all --model assay/crucible/vendor/model --k 3
    """
    from assay.protocols.ai_crucible.report.files import check_report_place

    check_report_place(out)
    need_inspect("running a trial")
    solver = solver_of(model)
    plan = plan_of(puzzles, solver, k, arm, protocol, judges)
    need_box()
    shop = workshop(log_dir)
    if trial and fresh:
        raise ConfigurationError("--trial goes on with a trial and --fresh begins one; choose one")
    known = trial or ("" if fresh else plan.unfinished(shop))
    report = run_trial(shop, puzzles, plan, known, max_cost=max_cost, at_once=at_once, quiet=quiet)
    return tell([report], shop, as_json=as_json, out=out)


def run_trial(
    shop: Workshop,
    puzzles: Sequence[str],
    plan: Plan,
    known: str,
    *,
    max_cost: float | None,
    at_once: int,
    quiet: bool,
) -> TrialReport:
    """Run one trial with its progress; ``known`` is the id of one to go on with, or empty.

    Raises:
        ConfigurationError: the model cannot be made, or nobody knows its price under a cap.
    """
    from assay.protocols.ai_crucible.commands.progress import TrialProgress
    from assay.protocols.ai_crucible.inspect.trials import (
        finished_attempts,
        inspect_faults,
        tell_price,
        used_by_this_attempt,
    )
    from llm_runtime.pricing import load_prices
    from llm_runtime.settings import load_settings

    trial = known or f"{plan.arm.replace('_', '-')}-{secrets.token_hex(4)}"
    if max_cost is not None:
        prices = load_prices(load_settings().prices_path)
        for model in (plan.model, *plan.judges):
            tell_price(model, prices)
    there = finished_attempts(shop.folder / "logs" / trial) if known else 0
    total = len(plan.puzzles) * plan.k
    plan.keep(shop, trial)
    if not quiet:
        said = f"going on with {there} of {total} done" if known else f"{total} attempts"
        click.echo(f"trial {trial}: {len(plan.puzzles)} puzzles, k = {plan.k}, {plan.model}; {said}", err=True)
    progress = TrialProgress(total - there, limit=max_cost, used=used_by_this_attempt, quiet=quiet)
    try:
        with inspect_faults(), progress:
            return shop.run(
                puzzles,
                model=plan.model,
                k=plan.k,
                arm=plan.arm,  # pyright: ignore[reportArgumentType] - click admits only arms
                trial=trial,
                protocol=plan.protocol,
                judges=plan.judges,
                at_once=at_once,
                total_cost=max_cost,
                on_attempt=progress,
            )
    except KeyboardInterrupt:
        click.echo(f"\nassay: trial {trial} was stopped before any attempt was made", err=True)
        raise


def tell(reports: Sequence[TrialReport], shop: Workshop, *, as_json: bool, out: str | None) -> int:
    """Say what trials came to, write the report that was asked for; the exit code."""
    from assay.protocols.ai_crucible.report import read_trials
    from assay.protocols.ai_crucible.report.files import write_trials_report

    records = read_trials(shop, [report.trial for report in reports])
    if as_json:
        click.echo(json.dumps(records.data(), ensure_ascii=False, default=str))
    else:
        for line in summary(records.models):
            click.echo(line)
        for name, effect in records.arms:
            click.echo(arm_line(name, effect))
    if out is not None:
        click.echo(f"report: {write_trials_report(records, Path(out))}", err=True)
    else:
        names = " ".join(report.trial for report in reports)
        click.echo(f"report: assay trial report {names} --out trial.html", err=True)
    return _ending(reports)


def summary(models: Iterable[Any]) -> list[str]:
    """A line for each model: attempts passed with their interval, and reliability over k."""
    from assay.protocols.ai_crucible.report.pictures import solver_name
    from assay.protocols.ai_crucible.report.words import percent, reach

    lines: list[str] = []
    for model in models:
        name = solver_name(model.model, model.arm)
        if model.rate is None:
            passed = ", ".join(f"{h.puzzle} {h.passed} of {h.attempts}" for h in model.puzzles)
            lines.append(f"{name}: no graded attempt at a puzzle that counts ({passed})")
            continue
        passed, attempts = (
            sum(getattr(h, field) for h in model.puzzles if not h.anchor) for field in ("passed", "attempts")
        )
        line = (
            f"{name}: {passed} of {attempts} attempts passed, {percent(model.rate.estimate)} ({reach(model.rate)})"
        )
        if model.reliability and model.reliability[0] > 1:
            k, value = model.reliability
            line += f"; pass^{k} {percent(value)}"
        lines.append(line)
    return lines


def arm_line(name: str, effect: Any) -> str:
    """A framing's effect in a line."""
    from assay.protocols.ai_crucible.report.words import ARM_NAMES, signed

    bounds = f"{signed(effect.difference.low)} to {signed(effect.difference.high)}"
    said = "" if effect.shown else "; no difference shown"
    return f"{name}: {ARM_NAMES[effect.arm]} against neutral {signed(effect.difference.estimate)} ({bounds}){said}"


def _ending(reports: Sequence[TrialReport]) -> int:
    """Say what is missing, and how to go on; the exit code."""
    for report in reports:
        if report.status != "success":
            told, code = _missing(report)
            click.echo(f"assay: trial {report.trial} {told}", err=True)
            return code
    return 0


def _missing(report: TrialReport) -> tuple[str, int]:
    made = sum(attempt.passed is not None for attempt in report.attempts)
    if report.status in ("cancelled", "started"):
        return f"was stopped with {several(made, 'attempt')} made, which are kept; go on with the same command", 130
    without = several(len(report.errors), "attempt")
    if report.unpaid:
        return (
            f"has used up its money with {made} attempts made; go on with a higher --max-cost",
            BudgetExceeded.exit_code,
        )
    first = next(iter(report.errors), None)
    reason = ((first.error if first else "") or "no reason given").splitlines()[0][:300]
    where = f"; the first: {first.puzzle}: {reason}" if first else ""
    return f"has {without} without a verdict{where}; go on with the same command", 1
