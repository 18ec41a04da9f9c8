"""`assay debate compare A B ...`: authors' claims side by side, before anybody speaks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import click

from assay.console.declared import declares
from assay.console.running import RunCommand, run_command
from assay.protocols.crux.commands.asking import announce_comparison
from assay.protocols.crux.compare import Options, calls_of

if TYPE_CHECKING:
    from assay.launch import Outcome


@run_command("crux.compare", "compare", trace="Show all of it, whatever is folded.", noun="comparison")
@declares(__package__ or "", "options.toml")("compare")
def compare(command: RunCommand, authors: tuple[str, ...], yes: bool, people: str | None) -> int:
    """Compare what A, B and others wrote: shared, opposed and one-sided claims, and candidate cruxes.

    All are read once, whole, and what was read is kept: the next comparison takes six to twelve calls. Every claim
    opens to the sentences it stands in. Candidate cruxes are ranked by how many claims rest on them; hand them to a
    debate with --compared.

    \b
    assay debate compare hamilton brutus --topic "Who corrects a court that errs?" --out both.html
    """
    command.task |= {"authors": authors, "people": people}
    options = cast("Options", command.prepared.options)
    announce_comparison(command, options.fast, *calls_of(options), yes=yes)
    return present_compared(command, command.go())


def present_compared(command: RunCommand, outcome: Outcome) -> int:
    """Show what was found; a pipe is given it as Markdown."""
    from assay.console.showing import present, report_and_code
    from assay.protocols.crux.report.comparison import comparison_markdown
    from assay.report.clean import clean
    from crux.comparison import Comparison

    output = command.output
    if output.as_json or output.jsonl or outcome.state != "finished" or sys.stdout.isatty():
        return present(outcome, command.store, output)
    click.echo(clean(comparison_markdown(Comparison.model_validate(outcome.result))))
    return report_and_code(outcome, command.store, output)
