"""`assay trial probe`: the framings one after another, compared with neutral."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from assay.protocols.ai_crucible.trials import need_box, need_inspect, plan_of, running_options, solver_of, workshop
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from ai_crucible.workshop import TrialReport


@click.command("probe")
@click.argument("puzzles", nargs=-1, required=True, metavar="PUZZLE...")
@running_options
def probe_(
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
) -> int:
    """Measure whether it matters how a PUZZLE is framed: neutral, by the model's own record, by others' standings.

    Each framing is a trial of its own. Standings are real results of other models; where none has been tried here,
    that framing is left out. --max-cost holds for each framing.
    """
    from ai_crucible.types import ARMS
    from assay.protocols.ai_crucible.commands.run import run_trial, tell
    from assay.protocols.ai_crucible.report.files import check_report_place

    check_report_place(out)
    need_inspect("probing framings")
    solver = solver_of(model)
    plans = [plan_of(puzzles, solver, k, arm, protocol, judges) for arm in ARMS]
    need_box()
    shop = workshop(log_dir)
    reports: list[TrialReport] = []
    for plan in plans:
        known = plan.unfinished(shop)
        try:
            report = run_trial(shop, puzzles, plan, known, max_cost=max_cost, at_once=at_once, quiet=quiet)
        except ConfigurationError as fault:
            if plan.arm != "social_standings":
                raise
            click.echo(f"no social standings: {fault}", err=True)
            continue
        reports.append(report)
        if report.status != "success":
            break
    return tell(reports, shop, as_json=as_json, out=out)
