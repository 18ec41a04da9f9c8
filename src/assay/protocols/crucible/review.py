"""`assay review`: the changes of a range of Git before a council, and its findings for people and programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.console.running import RunCommand, run_command
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, StructuredOutputError

if TYPE_CHECKING:
    from assay.launch import Outcome
    from crucible.material import Attachment
    from crucible.records import Severity

_OF_ANSWERS = ("query", "purpose", "follow", "challenge", "without_attachments")


@run_command(
    "crucible.council",
    "review",
    trace="Show the deliberation after the findings.",
    noun="findings",
    without=(*_OF_ANSWERS, "form", "delta", "ledger", "ledger_budget"),
)
@click.argument("revisions", required=False, default="", metavar="[REV..REV]")
@click.option("--sarif", metavar="PATH", help="Write the findings as SARIF 2.1.0.")
@click.option("--comment", "comment_path", metavar="PATH", help="Write them as a Markdown comment.")
@click.option(
    "--fail-on",
    type=click.Choice(["critical", "major", "minor"]),
    help="Exit with 1 where a finding is as grave as this, or graver.",
)
@click.option("--of", metavar="RUN", help="Take the findings of a review that is finished, wherever it was begun.")
def review(
    command: RunCommand,
    revisions: str,
    sarif: str | None,
    comment_path: str | None,
    fail_on: Severity | None,
    of: str | None,
) -> int:
    """Review the changes of a range of Git: findings with file and line, each attacked by a red team.

    REV..REV is a range as Git has it; one revision means everything since it parted from HEAD; without one, what is
    not committed is reviewed. Every seat sees the diff, and the changed files around their changes.

    \b
    assay review main --fail-on major --sarif findings.sarif --comment comment.md
    assay review HEAD~3..HEAD --budget 0.50
    assay review --of RUN --fail-on critical
    """
    from assay.protocols.crucible import findings as written
    from assay.report.places import check_place, write_whole
    from crucible.records import FindingRecord
    from crucible.reviewing import CheckedFinding, at_least, checked

    for place in (sarif, comment_path):
        check_place(place)
    try:
        outcome, dossier = _finished(command, of) if of else _held(command, revisions)
    except LlmRuntimeError as fault:
        if sarif:
            write_whole(Path(sarif), written.sarif([], "", [str(fault)], fault.exit_code))
        raise
    code, text, listed, faults = 0, "", list[CheckedFinding](), list[str]()
    if outcome.error is not None:
        faults = [str(outcome.error)]
    else:
        listed = checked([FindingRecord.model_validate(one) for one in outcome.result["findings"] or ()], dossier)
        text = written.comment(listed, outcome.result["looked_at"], _objections(outcome.result))
        if not outcome.result["attacked"]:
            faults = ["no critic attacked the findings, or that there are none"]
    code = _present(command, outcome, text)
    if faults and not code:
        # What nobody attacked must pass no gate.
        click.echo(f"assay: {faults[0]}; ask again, or seat another critic with --seat red_team=MODEL", err=True)
        code = StructuredOutputError.exit_code
    if comment_path and outcome.error is None:
        write_whole(Path(comment_path), text)
    if sarif:
        write_whole(Path(sarif), written.sarif(listed, outcome.run_id, faults, code or None))
    grave = at_least(listed, fail_on) if fail_on else []
    if grave and not code:
        click.echo(f"assay: {len(grave)} of {len(listed)} findings are {fail_on} or graver", err=True)
        return 1
    return code


def _held(command: RunCommand, revisions: str) -> tuple[Outcome, list[Attachment]]:
    from crucible.changes import changed

    dossier = [*command.task.get("dossier", ()), *changed(revisions)]
    command.task |= {"dossier": dossier, "purpose": "review"}
    command.options |= {"form": "records"}
    return command.go(), dossier


def _finished(command: RunCommand, run: str) -> tuple[Outcome, list[Attachment]]:
    from assay.launch import Outcome
    from assay.launch.logs import first_event, result_of
    from crucible.material import Attachment

    run_id = command.store.find(run)
    events = [event for _, event in command.store.events(run_id)]
    result = result_of(events)
    if result is None or result.get("findings") is None:
        raise ConfigurationError(f"run {run_id} is no finished review; see: assay runs show {run_id}")
    dossier = first_event(events).task.get("dossier", ())
    return Outcome(run_id, "finished", result), [Attachment.model_validate(one) for one in dossier]


def _present(command: RunCommand, outcome: Outcome, text: str) -> int:
    from assay.console.showing import report_and_code

    output = command.output
    if outcome.error is not None or output.as_json or output.jsonl or output.trace:
        return command.finish(outcome)
    # In place of the answer: the same, with places that a reader can open.
    click.echo(text if not sys.stdout.isatty() else text.replace("<!-- -->", ""))
    return report_and_code(outcome, command.store, output)


def _objections(result: dict[str, Any]) -> str:
    from crucible.ledger import Ledger, headline

    ledger = result.get("ledger")
    return f"{headline(Ledger.model_validate(ledger)).capitalize()}." if ledger else ""
