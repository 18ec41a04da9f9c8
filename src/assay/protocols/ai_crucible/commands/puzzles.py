"""`assay trial check`, `new` and `import`: puzzles made, and puzzles that can be trusted."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from assay.protocols.ai_crucible.trials import log_dir_option, need_box, workshop
from assay.report.clean import one_line
from llm_runtime.errors import ConfigurationError


@click.command("check")
@click.argument("puzzles", nargs=-1, required=True, metavar="PUZZLE...")
@click.option("--admit", is_flag=True, help="Enter those that are fine into the catalog's lab.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
@log_dir_option
def check_(puzzles: tuple[str, ...], admit: bool, as_json: bool, log_dir: str | None) -> int:
    """Grade each PUZZLE's gold solution, doing nothing, and its wrong solutions, as attempts would be graded.

    The gold must pass and all others must fail; 1 where a puzzle must not be used. Needs no model.
    """
    need_box()
    checks = workshop(log_dir).check(puzzles, admit=admit)
    if as_json:
        data = [
            {
                **asdict(check),
                "gates": {way: gate.model_dump() for way, gate in check.gates.items()},
                "ok": check.ok,
            }
            for check in checks
        ]
        click.echo(json.dumps(data, ensure_ascii=False))
        return 0 if all(check.ok for check in checks) else 1
    for check in checks:
        mends, keeps = len(check.fail_to_pass), len(check.pass_to_pass)
        words = (
            f"fine: gold passes, {len(check.gates) - 1} other ways fail; {mends} checks to mend, {keeps} to keep"
        )
        click.echo(f"{check.puzzle}: {words if check.ok else one_line('; '.join(check.problems), 600)}")
    return 0 if all(check.ok for check in checks) else 1


@click.command("new")
@click.argument("folder")
def new_(folder: str) -> int:
    """Write a small puzzle that passes its check into FOLDER, whose name becomes its id."""
    from ai_crucible.starting import new

    try:
        puzzle = new(Path(folder))
    except OSError as fault:
        raise ConfigurationError(f"{folder} cannot be written: {fault.strerror}") from None
    click.echo(f"{puzzle.meta.id}: written to {folder}")
    click.echo(f"then: assay trial check {folder}", err=True)
    return 0


@click.command("import")
@click.argument("source")
@click.argument("target")
@click.option("--origin", metavar="TEXT", default="", help="What each puzzle names as its source.")
def import_(source: str, target: str, origin: str) -> int:
    """Make puzzles of SOURCE, a checkout of QuixBugs or any folder of (program, tests, fixed program), in TARGET.

    SOURCE is only read and nothing in it is run. Check what came of it before you use it.
    """
    from ai_crucible.importing import import_folder

    if not Path(source).is_dir():
        raise ConfigurationError(f"{source}: there is no such folder")
    try:
        imported = import_folder(Path(source), Path(target), origin=origin)
    except OSError as fault:
        raise ConfigurationError(f"{target} cannot be written: {fault.strerror}") from None
    for name, reason in imported.left_out.items():
        click.echo(f"left out {one_line(name, 80)}: {reason}", err=True)
    click.echo(f"{len(imported.written)} puzzles written to {target}, {len(imported.left_out)} programs left out")
    if imported.written:
        click.echo(f"then: assay trial check {target}", err=True)
    return 0 if imported.written else 1
