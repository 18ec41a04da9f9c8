"""`assay trial regrade`: the verdicts of a bundle, made again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from assay.protocols.ai_crucible.commands.bundling import verify_file
from assay.protocols.ai_crucible.trials import need_box
from assay.report.clean import one_line

if TYPE_CHECKING:
    from ai_crucible.regrading import Regraded

OTHER_VERDICTS = 7
"""The exit code where a verdict is not the one that was told."""


@click.command("regrade")
@declares(__package__ or "", "options.toml")("regrade")
def regrade_(file: str, keys: tuple[str, ...], tasks: tuple[str, ...], box_root: str, as_json: bool) -> int:
    """Make every verdict of FILE, a bundle from anywhere, again: on this machine, with the tasks that are here.

    The bundle is verified first. What each attempt left is laid over its task and graded by the task's oracle, or by a
    mended one of the same id (--tasks). No model is asked. 0 where all verdicts are those that were told, 7 where one
    is not or cannot be made again, 1 where the bundle is not what was signed.
    """
    from ai_crucible.bundle import verify_bundle
    from assay.console.verifying import trusted_keys

    path, key = Path(file), b"".join(trusted_keys(keys)[:1])
    if not verify_bundle(path, key).ok:
        return verify_file(path, key, as_json)
    need_box(box_root)
    found = asyncio.run(_regraded(path, tasks, box_root))
    same = sum(one.same for one in found)
    if as_json:
        rows = [{**asdict(one), "same": one.same} for one in found]
        click.echo(json.dumps({"verdicts": rows, "same": same}, ensure_ascii=False))
    else:
        _show(found, same)
    return 0 if same == len(found) else OTHER_VERDICTS


def _show(found: list[Regraded], same: int) -> None:
    rows = [("attempt", "told", "now"), *map(_row, found)]
    widths = [max(len(row[at]) for row in rows) for at in range(2)]
    for attempt, told, now in rows:
        click.echo(f"{attempt:<{widths[0]}}  {told:<{widths[1]}}  {now}")
    click.echo(f"{same} of {len(found)} verdicts are those that were told")


async def _regraded(path: Path, folders: tuple[str, ...], box_root: str) -> list[Regraded]:
    from ai_crucible.puzzle_box import root_at
    from ai_crucible.regrading import others, planned_in, regraded, tasks_for

    trials, root = planned_in(path), root_at(box_root)
    plans = [plan for plan, _ in trials]
    tasks = tasks_for(plans, folders)
    for line in others(plans, tasks, root):
        click.echo(line, err=True)
    return [one for plan, graded in trials async for one in regraded(path, plan, graded, tasks, root)]


def _row(one: Regraded) -> tuple[str, str, str]:
    told, now = (f"failed: {', '.join(failed)}" if failed else "passed" for failed in (one.told, one.now))
    now = one_line(one.unknown, 300) if one.unknown else now if one.same else f"{now}  <- another verdict"
    return f"{one.trial}: {one.puzzle}, attempt {one.epoch}", told, now
