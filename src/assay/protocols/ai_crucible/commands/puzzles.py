"""`assay trial check`, `new` and `import`: puzzles made, and puzzles that can be trusted."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic_core import to_json

from assay.console.declared import declares
from assay.protocols.ai_crucible.trials import log_dir_option, need_box, workshop
from assay.report.clean import one_line
from assay.report.units import count_noun
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying

if TYPE_CHECKING:
    from ai_crucible.checking import PuzzleCheck

_declares = declares(__package__ or "", "options.toml")


@click.command("check")
@_declares("check")
@log_dir_option
def check_(puzzles: tuple[str, ...], quick: bool, admit: bool, as_json: bool, log_dir: str | None) -> int:
    """Try the checks of each PUZZLE: they must accept what is right and refuse what is not.

    The gold solution and every differently written right one must pass; doing nothing and every wrong solution must
    fail, and so must every cheat and 95 of 100 small mistakes made in the gold. The gold must give the right answer
    to 10,000 generated inputs. 1 where a puzzle falls short. Needs no model.
    """
    from ai_crucible.checking import Bar

    if quick and admit:
        raise ConfigurationError("--admit needs the checks to be tried; leave --quick out")
    need_box()
    if not as_json:
        click.echo(_ROW.format(*_HEADS, ""))
    done = workshop(log_dir).check(
        puzzles, bar=None if quick else Bar(), admit=admit, on_check=None if as_json else _show_check
    )
    if as_json:
        click.echo(to_json([{**asdict(check), "ok": check.ok} for check in done]).decode())
    return 0 if all(check.ok for check in done) else 1


_HEADS = ("puzzle", "mutants refused", "cheats refused", "wrong refused", "right accepted", "clauses", "inputs")
_ROW = "{:<34} {:>15} {:>14} {:>13} {:>14} {:>7} {:>7}  {}"


def _show_check(check: PuzzleCheck) -> None:
    tried = check.tried
    solutions = [_of(*check.count(kind, passed=kind == "right")) for kind in ("wrong", "right")]
    killed = _of(tried.mutants - len(tried.survivors), tried.mutants) if tried else "-"
    cheats = _of(tried.cheats - len(tried.passed), tried.cheats) if tried else "-"
    clauses = _of(sum(refused > 0 for refused, _ in check.clauses.values()), len(check.clauses))
    inputs = f"{tried.inputs:,}" if tried else "-"
    words = "fine" if check.ok else one_line("; ".join(check.problems), 600)
    click.echo(_ROW.format(check.puzzle, killed, cheats, *solutions, clauses, inputs, words))
    for where in tried.survivors if tried else ():
        click.echo(f"  no check notices: {one_line(where, 200)}", err=True)


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "-"


@click.command("new")
@click.argument("folder")
def new_(folder: str) -> int:
    """Write a small puzzle that passes its check into FOLDER, whose name becomes its id."""
    from ai_crucible.starting import new

    with saying(f"{folder} cannot be written"):
        puzzle = new(Path(folder))
    click.echo(f"{puzzle.meta.id}: written to {folder}")
    click.echo(f"then: assay trial check {folder}", err=True)
    return 0


@click.command("import")
@_declares("import")
def import_(source: str, target: str, origin: str, build: bool) -> int:
    """Make puzzles of others' tasks in SOURCE, in TARGET.

    SOURCE is a checkout of QuixBugs or any folder of (program, tests, fixed program), a Python track of Exercism or
    one exercise of it, instances of SWE-bench (*.jsonl, with snapshots of the repositories in repos/INSTANCE_ID
    beside it), or task folders of Harbor and Terminal-Bench; --build builds the images of those that need one, with
    their RUN lines. Hidden tests are sealed
    where their gold passes over a pipe between two boxes; where it does not, the puzzle is told as self-reported.
    Check what came of it before you use it.
    """
    from ai_crucible.importing import import_folder
    from ai_crucible.puzzle_loader import load_puzzle
    from ai_crucible.versions import self_reported

    if not (Path(source).is_dir() or (Path(source).suffix == ".jsonl" and Path(source).is_file())):
        raise ConfigurationError(f"{source}: there is no such folder, nor a file of instances (*.jsonl)")
    with saying(f"{target} cannot be written"):
        imported = import_folder(Path(source), Path(target), origin=origin, build=build)
    for name, reason in imported.left_out.items():
        click.echo(f"left out {one_line(name, 80)}: {one_line(reason, 300)}", err=True)
    click.echo(f"{count_noun(len(imported.written), 'puzzle')} written to {target}, {len(imported.left_out)} left out")
    for folder in imported.written:
        if self_reported(load_puzzle(folder)) and (why := _unsealed(folder)):
            told = "is self-reported, its tests share a process with the solver's code, which can cheat"
            click.echo(f"{folder.name} {told}: {one_line(why, 300)}")
    if imported.written:
        click.echo(f"then: assay trial check {target}", err=True)
    return 0 if imported.written else 1


def _unsealed(folder: Path) -> str:
    from ai_crucible.puzzle_box import CannotIsolate
    from ai_crucible.sealing import seal

    try:
        return asyncio.run(seal(folder))
    except CannotIsolate as fault:
        return str(fault)
