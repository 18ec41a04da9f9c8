"""`assay debate personas build`: texts become somebody who can debate, as a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from assay.console.declared import declares
from assay.console.running import RunCommand, run_command
from assay.protocols.crux.commands.asking import READING, announce
from assay.protocols.crux.people import open_people
from assay.protocols.crux.persona import Options, Task
from crux.book import Standing
from crux.claims.audit import Audit

if TYPE_CHECKING:
    from assay.launch import Outcome

#: Tokens of a call of a build, in and out, as Crux's specification has them.
_CONTRACT = 7_500, 500


@run_command("crux.persona", "build", trace="Show the persona after the figures.", noun="figures")
@declares(__package__ or "", "options.toml")("build")
def build(command: RunCommand, name: str, yes: bool, people: str | None) -> int:
    """Build NAME from the texts that were imported: claims, contract, voice.

    Answers are kept: a build that was stopped goes on where it was, and after a further import only what changed is
    asked. A claim book with too little in it is kept and marked thin, with the reasons.
    """
    command.task |= {"name": name, "people": people}
    _announce(command, yes=yes)
    return _present(command, command.go())


def _announce(command: RunCommand, *, yes: bool) -> None:
    """Say how many calls a build takes and what they cost; ask where that is over a dollar.

    Raises:
        click.Abort: the person refused.
    """
    from crux import ModelTable
    from crux.building import build_calls

    task, options = cast("Task", command.prepared.task), cast("Options", command.prepared.options)
    people = open_people(task.people)
    corpus, book = people.corpus(task.name).corpus, people.book(task.name)
    answers = people.answers(task.name)
    calls = build_calls(task.name, corpus, book, answers, tokens_a_call=options.tokens_a_call, audited=options.audit)
    if not calls.total:
        click.echo("nothing has changed: every answer is kept", err=True)
        return
    table, reading = ModelTable(), calls.reading + calls.linking + calls.audit
    asked = ((table.model("contract").id, calls.contract, _CONTRACT), (table.model("reading").id, reading, READING))
    audit = f", {calls.audit} to audit" if calls.audit else ""
    parts = f"{calls.reading} to read, about {calls.linking} to link claims, {calls.contract} for the portrait{audit}"
    announce(command, asked, parts, yes=yes)


def _present(command: RunCommand, outcome: Outcome) -> int:
    """Show what came of a build."""
    from assay.console.showing import report_and_code, show_run
    from assay.report.clean import one_line
    from assay.report.units import count_noun

    store, output = command.store, command.output
    if outcome.state != "finished":
        click.echo(f"{count_noun(store.summary(outcome.run_id).calls, 'question')} asked", err=True)
        return command.finish(outcome)
    figures, name = Standing.model_validate(outcome.result["gate"]), cast("Task", command.prepared.task).name
    asked, reused = outcome.result["asked"], outcome.result["reused"]
    click.echo(f"{count_noun(asked, 'question')} asked, {reused} answered before", err=True)
    for line in outcome.result["unread"]:
        click.echo(f"not read: {one_line(line)}", err=True)
    for reason in figures.reasons:
        click.echo(f"thin: {reason}", err=True)
    if figures.thin:
        from_what = "from these claims and from passages" if figures.held else "from passages alone"
        click.echo(f"{name} can debate all the same, {from_what}", err=True)
    if output.as_json or output.jsonl:
        return command.finish(outcome)
    shares = f"{figures.read:.0%} of the passages read, {figures.in_themes:.0%} of the claims in themes"
    click.echo(f"{name}: {count_noun(figures.held, 'claim')} held, {shares}")
    if "audit" in outcome.result:
        from assay.protocols.crux.report.persona import audit_line

        click.echo(audit_line(Audit.model_validate(outcome.result["audit"])))
    if output.trace:
        show_run(store, outcome.run_id, trace=True)
    return report_and_code(outcome, store, output)
