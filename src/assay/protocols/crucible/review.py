"""`assay review`: the changes of a range of Git before a council, and its findings for people and programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.console.declared import declares
from assay.console.running import RunCommand, run_command
from assay.protocols.crucible.reviewed import GRAVE, PROVERS, Reviewed
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, StructuredOutputError

if TYPE_CHECKING:
    from assay.launch import Outcome
    from assay.terms import Terms
    from crucible.material import Attachment
    from crucible.proving import ProvenChange

_OF_ANSWERS = ("query", "purpose", "follow", "challenge", "without_attachments")


@run_command(
    "crucible.council",
    "review",
    trace="Show the deliberation after the findings.",
    noun="findings",
    without=(*_OF_ANSWERS, "form", "route", "delta", "ledger", "ledger_budget"),
)
@declares(__package__ or "", "options.toml")("review")
def review(
    command: RunCommand, revisions: str, of: str | None, prove: str | None, prove_weight: str, prove_seats: str,
    prove_budget: float | None, env: tuple[str, ...], **outputs: str | None,
) -> int:  # fmt: skip
    """Review the changes of a range of Git: findings with file and line, each attacked by a red team.

    REV..REV is a range as Git has it; one revision means everything since it parted from HEAD; without one, what is
    not committed is reviewed. Every seat sees the diff, and the changed files around their changes.

    \b
    assay review main --fail-on major --sarif findings.sarif --comment comment.md
    assay review main --prove "python -m pytest -q {file}" --fail-on proved
    assay review HEAD~3..HEAD --budget 0.50
    assay review --of RUN --fail-on critical
    """
    from assay.protocols.crucible.findings import comment, sarif
    from assay.protocols.crucible.proved import failing, shown
    from assay.report.places import check_place, write_whole
    from crucible.proving.states import env_folders
    from crucible.records import FindingRecord
    from crucible.reviewing import DIFF, checked

    path, fail_on, terms = outputs["sarif"], outputs["fail_on"], command.terms
    for place in (path, outputs["comment_path"]):
        check_place(place)
    if not prove and (fail_on not in (None, *GRAVE) or prove_seats or prove_budget is not None or env):
        flags = "--fail-on proved or changed, --prove-seats, --prove-budget and --env"
        raise ConfigurationError(f"{flags} want tests; add --prove 'python -m pytest -q {{file}}'")
    env_folders(env)
    council = {seat: model for seat, model in terms.seats.items() if not prove or seat not in PROVERS}
    command.terms = terms.model_copy(update={"seats": council})
    try:
        outcome, dossier = _finished(command, of) if of else _held(command, revisions)
    except LlmRuntimeError as fault:
        if path:
            write_whole(Path(path), sarif([], "", [str(fault)], fault.exit_code))
        raise
    told, result = Reviewed(command, outcome), outcome.result
    if outcome.error is not None:
        told.faults = [str(outcome.error)]
    else:
        found = [FindingRecord.model_validate(one) for one in result["findings"] or ()]
        told.ones = shown(checked(found, dossier), {}, {})
        diff = next((one.text for one in dossier if one.name == DIFF), "")
        if prove and failing(told.ones, prove_weight):
            task = {"findings": found, "dossier": dossier, "looked_at": result["looked_at"]}
            command.terms = terms if of else _left(command, terms, outcome.run_id)
            chosen = {"weight": prove_weight, "prove_budget": prove_budget, "env": env}
            told.prove(task, lambda: _change(revisions, prove, diff if of else None), prove_seats, **chosen)
        told.text = comment(told.ones, result["looked_at"], _objections(result), diff=diff if told.proof else None)
        if not result["attacked"]:
            told.faults = ["no critic attacked the findings, or that there are none"]
    code = told.present()
    if told.faults and not code:
        # What nobody attacked must pass no gate.
        way = "ask again, or seat another critic with --seat red_team=MODEL"
        click.echo(f"assay: {told.faults[0]}; {way}", err=True)
        code = StructuredOutputError.exit_code
    return told.end(code, **outputs)


def _left(command: RunCommand, terms: Terms, run_id: str) -> Terms:
    """Return terms with what a run left of their bounds."""
    summary = command.store.summary(run_id)
    spent = {"budget": (summary.cost + summary.unknown) / 1_000_000, "max_calls": summary.calls}
    left = {name: max(bound - spent[name], 0) for name in spent if (bound := getattr(terms, name)) is not None}
    return terms.model_copy(update=left)


def _held(command: RunCommand, revisions: str) -> tuple[Outcome, list[Attachment]]:
    from assay.report.clean import clean
    from crucible.changes import changed, unknown

    dossier = [*command.task.get("dossier", ()), *changed(revisions)]
    new = [] if revisions else [" ".join(clean(name).split()) for name in unknown()]
    if new:
        what = new[0] + (f" and {len(new) - 1:,} more" if new[1:] else "")
        click.echo(f"assay: not reviewed, for Git does not have it yet: {what}; git add -N what is new", err=True)
    left_out = [f"{name}: Git does not have it yet; git add -N it to have it reviewed" for name in new[:20]]
    command.task |= {"dossier": dossier, "purpose": "review", "left_out": left_out}
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


def _change(revisions: str, test: str, reviewed: str | None) -> ProvenChange:
    """Return the change to prove findings on; refuse one that is not what an earlier review read."""
    from crucible.proving import read_change

    change = read_change(revisions, test, at=Path.cwd())
    if reviewed is not None and change.diff.split() != reviewed.split():
        way = "name it: assay review REV.. --of RUN; a proof has also what is new to Git: git add -N it before a review"
        raise ConfigurationError(f"this is not the change that was reviewed; {way}")
    return change


def _objections(result: dict[str, Any]) -> str:
    from crucible.ledger import Ledger, headline

    ledger = result.get("ledger")
    return f"{headline(Ledger.model_validate(ledger)).capitalize()}." if ledger else ""
