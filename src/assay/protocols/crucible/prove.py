"""`assay prove`: findings of other tools, claims, an issue's text, each proved by a test that runs, or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from assay.console.running import RunCommand, run_command
from assay.protocols.crucible.reviewed import Reviewed

if TYPE_CHECKING:
    from assay.protocols.crucible.proved import Shown


@run_command("crucible.proof", "prove", trace="Show the evidence with the findings.", noun="findings")
@declares(__package__ or "", "options.toml")("prove")
def prove(command: RunCommand, source: str, revisions: str, test: str, write: str | None, **outputs: str | None) -> int:
    """Prove findings that others have made: each by a test that runs in a box, or it is said to be opinion.

    SOURCE is a SARIF file of any tool, a list of claims in Markdown or text, the text of an issue, or the run of a
    council that answered, whose claims are proved; - is standard input. With REV..REV the findings are about that
    change; without, about what is here now.

    \b
    assay prove findings.sarif main --test "python -m pytest -q {file}" --fail-on proved
    gh issue view 12 --json body -q .body | assay prove - --test "node --test {file}" --write tests
    """
    from assay.protocols.crucible.findings import comment
    from assay.protocols.crucible.foreign import claims_of, read_findings
    from assay.report.places import check_place
    from crucible.proving import read_change, read_state
    from crucible.proving.states import env_folders

    for place in (outputs["sarif"], outputs["comment_path"], write and f"{write}/test"):
        check_place(place)
    env_folders(command.options.get("env", ()))
    found, dossier, issue = read_findings(source, revisions, claims_of(command.store, source))
    places, at = [str(place) for one in found for place in one.places], Path.cwd()
    change = read_change(revisions, test, at=at) if revisions else read_state(places, test, at=at)
    command.task |= {"findings": [one.found for one in found], "dossier": dossier, "change": change, "issue": issue}
    told = Reviewed(command, command.go())
    told.take(told.outcome)
    told.text = comment(told.ones, "", "", diff=change.diff)
    code = told.present()
    if write:
        _write_tests(told.ones, change.place, write)
    return told.end(code, **outputs)


def _write_tests(ones: Sequence[Shown], place: str, folder: str) -> None:
    """Write each test that shows a finding, named for it."""
    from assay.report.places import write_whole

    written = Counter[str]()
    for one in ones:
        if one.witness:
            words = re.sub(r"\W+", "_", one.finding.found.title.lower(), flags=re.ASCII)[:50].strip("_")
            named = f"{words}_{one.finding.fingerprint[:6]}"
            written[named] += 1
            # One rule of a tool may be broken on many lines.
            again = f"_{written[named]}" if written[named] > 1 else ""
            name = Path(place).name.replace("assay_witness", f"{named}{again}")
            write_whole(Path(folder, name), one.witness.test.rstrip("\n") + "\n")
            click.echo(f"test: {folder}/{name}", err=True)
