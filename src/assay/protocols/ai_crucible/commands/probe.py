"""`assay trial probe`: the framings one after another, compared with neutral."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from assay.console.options import open_runs
from assay.protocols.ai_crucible.commands.trying import Ended, Trying, present_trials, running_options, try_model
from llm_runtime.errors import ConfigurationError


@click.command("probe")
@click.argument("puzzles", nargs=-1, required=True, metavar="PUZZLE...")
@running_options("arm", "against", "agent", "early")
def probe_(**flags: Any) -> int:
    """Measure whether it matters how a PUZZLE is framed: neutral, by the model's own record, by others' standings.

    Each framing is a trial of its own. Standings are real results of other models; where none has been tried here,
    that framing is left out. --max-cost holds for each framing.
    """
    from ai_crucible.types import ARMS

    asked = Trying(**flags)
    asked.check("probing framings")
    ended: list[Ended] = []
    with closing(open_runs(asked.store_path)) as store:
        for arm in ARMS:
            try:
                ended.append(try_model(asked, arm, asked.unfinished(arm), store))
            except ConfigurationError as fault:
                if arm != "social_standings":
                    raise
                click.echo(f"no social standings: {fault}", err=True)
                continue
            if ended[-1].message:
                break
    return present_trials(ended, asked)
