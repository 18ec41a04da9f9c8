"""`assay trial from-history`: tasks out of the commits of one's own repository."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic_core import to_json

from assay.console.declared import declares
from assay.protocols.ai_crucible.trials import need_box
from assay.report.clean import one_line
from assay.report.units import count_noun

if TYPE_CHECKING:
    from ai_crucible.history import Mined

_ROW = "{:<10}  {:>15}  {:>14}  {}"


@click.command("from-history")
@declares(__package__ or "", "options.toml")("from-history")
def from_history_(
    repo: str, target: str, most: int, look: int, revision: str, origin: str, draft: str, as_json: bool
) -> int:
    """Make sealed tasks in TARGET of commits of REPO whose tests fail before them and pass after.

    A commit is tried where it changes Python files and their tests. The repository as it was is the task, the commit's
    message what is to be done, the tests that came with it are hidden. It is admitted where they pass twice after the
    commit and fail before it, refuse 8 of 10 slips in the lines that it wrote, and refuse every cheat. Nothing of the
    repository is run but in boxes. 1 where none is admitted.
    """
    need_box()
    name = origin or Path(repo).resolve().name
    show: Callable[[str], None] = (lambda row: None) if as_json else click.echo
    done = asyncio.run(_mine(Path(repo), Path(target), name, most, look, revision, draft, show))
    admitted = sum(not one.why for one in done)
    if as_json:
        click.echo(to_json({"commits": done, "admitted": admitted}).decode())
        return 0 if admitted else 1
    left_out = count_noun(len(done) - admitted, "commit")
    click.echo(f"{count_noun(admitted, 'task')} written to {target}, {left_out} left out")
    if admitted:
        click.echo(f"then: assay trial run {target} --model MODEL --against OTHER", err=True)
    return 0 if admitted else 1


async def _mine(
    repo: Path, target: Path, origin: str, most: int, look: int, revision: str, draft: str, show: Callable[[str], None]
) -> list[Mined]:
    from ai_crucible.history import commits_of, drafted, mined
    from assay.launch.asking import asking

    done: list[Mined] = []
    left = most
    async with AsyncExitStack() as stack:
        ask = partial(drafted, await stack.enter_async_context(asking(draft)), draft) if draft else None
        show(_ROW.format("commit", "mutants refused", "cheats refused", "task"))
        for commit in islice(commits_of(repo, revision), look):
            done.append(await mined(repo, commit, target, origin=origin, draft=ask))
            show(_row(done[-1]))
            left -= not done[-1].why
            if not left:
                break
    return done


def _row(one: Mined) -> str:
    tried = one.check.tried if one.check else None
    mutants = f"{tried.mutants - len(tried.survivors)} of {tried.mutants}" if tried else "-"
    cheats = f"{tried.cheats - len(tried.passed)} of {tried.cheats}" if tried and tried.cheats else "-"
    words = f"left out: {one_line(one.why, 300)}" if one.why else one.puzzle
    return _ROW.format(one.commit.id[:10], mutants, cheats, words)
