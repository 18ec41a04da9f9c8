"""`assay circle gate`: a suite of cases in a build, with a lock for those that have not changed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import click

from assay.console.going_on import unfinished
from assay.console.running import RunCommand, resume_run, run_command
from assay.console.showing import report_and_code
from assay.protocols.fire_circle.commands.build import Build
from assay.protocols.fire_circle.gating.lock import (
    Lock,
    check_name,
    known_verdicts,
    read_lock,
    signing,
    worse_than,
    write_lock,
)
from assay.protocols.fire_circle.gating.suite import Suite, read_suite
from assay.protocols.fire_circle.gating.targets import answered
from assay.protocols.fire_circle.gating.task import GateHooks, Options, Task, case_key, concluded
from assay.protocols.fire_circle.gating.verdicts import CaseVerdict, GateResult
from assay.protocols.fire_circle.report.gate_story import gate_story
from assay.protocols.fire_circle.report.judged import Judged, scores_line
from assay.registry import Prepared
from assay.report.frame import judged
from assay.report.html import story_html
from assay.report.junit import Fault
from assay.report.markdown import story_markdown
from assay.report.places import check_place, write_whole
from assay.report.terminal import print_story
from assay.terms import configured
from llm_runtime.errors import ConfigurationError

_KIND = "fire_circle.gate"


@run_command(_KIND, "gate", trace="Show the whole report after the summary.", noun="report")
@click.argument("suite_file", metavar="SUITE.toml")
@click.option("--lock", "lock_path", metavar="PATH", help="The lock [default: assay.lock beside the suite].")
@click.option("--offline", is_flag=True, help="Ask nobody: a case that the lock does not hold as it is now fails.")
@click.option("--baseline", metavar="PATH", help="Another lock, to show what became worse; its keys alone count.")
@click.option(
    "--lock-key",
    metavar="PATH",
    envvar="ASSAY_LOCK_KEY",
    help="The key that signs the lock [default: lock.key in Assay's data folder].",
)
@click.option("--sarif", metavar="PATH", help="Write what stops the build as SARIF 2.1.0.")
@click.option("--junit", metavar="PATH", help="Write every case as JUnit XML.")
@click.option("--summary", metavar="PATH", help="Add the report in Markdown to this file.")
def gate(
    command: RunCommand,
    suite_file: str,
    lock_path: str | None,
    offline: bool,
    baseline: str | None,
    lock_key: str | None,
    sarif: str | None,
    junit: str | None,
    summary: str | None,
) -> int:
    """Judge every case of SUITE.toml; exit with 1 where one must not pass.

    A case is a prompt, a prompt with what an application answered, or a trace with tool calls. Cases that have not
    changed since they were locked cost nothing and need no key. Options given here go before those of the suite.

    \b
    assay circle gate suite.toml --sarif out.sarif --junit out.xml --summary "$GITHUB_STEP_SUMMARY"
    assay circle gate suite.toml --offline --baseline base.lock
    """
    check_place(summary)
    suite = read_suite(Path(suite_file))
    _lay(suite, command)
    build = Build(sarif, junit, [case.id for case in suite.cases], suite.name)
    place = Path(lock_path or suite.path.parent / "assay.lock")
    lock, before = read_lock(place), read_lock(Path(baseline)) if baseline else None
    check_name(lock, place, suite.name, suite.path)
    with build.reporting():
        keys = _keys(command, suite)
        known = _known(lock, suite, keys, (before or lock).keys, offline)
        result, run_id = _judged(command, suite, keys, known)
        if isinstance(result, int):
            return _without(command, build, result, run_id)
        if not offline:
            pairs = [(keys[verdict.id], verdict) for verdict in result.verdicts]
            write_lock(place, lock, suite.name, suite.path, pairs, run_id, signing(lock_key))
        worse = None if before is None else worse_than(before, suite.name, result.verdicts)
        _write(command, suite, build, result, run_id)
        _show(command, result, worse, summary)
    return result.code


def _lay(suite: Suite, command: RunCommand) -> None:
    """Lay the command's options over those of the suite, and make its cases the run's task."""
    command.task |= {"name": suite.name, "cases": suite.cases}
    command.options = {**suite.options, **command.options}
    command.terms = command.terms.over(suite.terms)


def _keys(command: RunCommand, suite: Suite) -> dict[str, str]:
    """Return the key of each case, once the run is complete and checked."""
    task, options = _prepared(command)
    terms = configured(command.settings)
    if options.named_models and not command.terms.model:
        terms = terms.model_copy(update={"model": ""})
    target = suite.target.model_dump(mode="json", exclude_defaults=True)
    return {case.id: case_key(case, options, terms.routes, {} if case.answer else target) for case in task.cases}


def _prepared(command: RunCommand) -> tuple[Task, Options]:
    return cast("Task", command.prepared.task), cast("Options", command.prepared.options)


def _known(
    lock: Lock, suite: Suite, keys: Mapping[str, str], trusted: Sequence[str], offline: bool
) -> list[CaseVerdict]:
    known = known_verdicts(lock, suite.name, keys, trusted)
    if not offline:
        return known
    why = "the lock does not hold it as it is now: run the gate without --offline, and commit the lock"
    held = {verdict.id for verdict in known}
    return [*known, *(CaseVerdict(id=case, error=why, code=1, known=True) for case in keys if case not in held)]


def _judged(
    command: RunCommand, suite: Suite, keys: Mapping[str, str], known: Sequence[CaseVerdict]
) -> tuple[GateResult | int, str]:
    """Return the suite's result and the run in which it was found; of a run without one its exit code."""
    task, options = _prepared(command)
    held = {verdict.id: verdict for verdict in known}
    missing = [case for case in task.cases if case.id not in held]
    if not missing:
        return concluded(task, options, [held[case.id] for case in task.cases]), ""
    mark = suite.mark(keys)
    run_id = unfinished(command, _KIND, lambda _, run, __: _same(run, mark, options))
    if run_id is not None:
        outcome = resume_run(run_id, command.store, command.terms, command.output)
    else:
        failed: list[CaseVerdict] = []
        if suite.target.kind:
            missing, failed = asyncio.run(answered(missing, suite.target, options.concurrency))
        new = {case.id: case for case in missing}
        cases = [new.get(case.id, case) for case in task.cases]
        command.task |= {"cases": cases, "known": [*known, *failed], "mark": mark}
        del command.prepared
        outcome = command.go()
    if outcome.error is not None:
        return report_and_code(outcome, command.store, command.output), outcome.run_id
    return GateResult.model_validate(outcome.result), outcome.run_id


def _same(run: Prepared, mark: str, options: Options) -> bool:
    # Seats may be named after the one model that answers in all of them.
    alike = run.options.model_copy(update={"models": options.models})
    return cast("Task", run.task).mark == mark and alike == options


def _without(command: RunCommand, build: Build, code: int, run_id: str) -> int:
    summary = command.store.summary(run_id)
    build.write_error(f"the run {run_id} came to no result ({summary.state})", code, run_id)
    return code


def _write(command: RunCommand, suite: Suite, build: Build, result: GateResult, run_id: str) -> None:
    """Write SARIF of what stops the build or is hidden, and JUnit of every case."""
    judged: list[Judged] = []
    tests: dict[str, Fault | None] = {}
    for case, verdict in zip(suite.cases, result.verdicts, strict=True):
        answered = case.model_copy(update={"answer": verdict.answer or case.answer})
        scores = scores_line(verdict.falsehood or 0.0, verdict.truth, verdict.indeterminacy)
        patterns = () if verdict.passed else verdict.patterns
        one = Judged(
            answered, scores, patterns, verdict.fired, case.id, partial=bool(verdict.lacking), error=verdict.error
        )
        if not verdict.passed or verdict.hidden:
            judged.append(one)
        tests[case.id] = None if verdict.passed else Fault("failure", "gate", verdict.why, one.summary)
    faults = [f"{verdict.id}: {verdict.error}" for verdict in result.verdicts if verdict.error]
    build.write(judged, tests, run_id, faults=faults)


def _show(command: RunCommand, result: GateResult, worse: Sequence[str] | None, summary: str | None) -> None:
    verdict = GateHooks().outcome(result.model_dump(mode="json"))
    story, out = judged(gate_story(result, worse), verdict), command.output
    if summary is not None:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(story_markdown(story))
        except OSError as fault:
            raise ConfigurationError(f"{summary} cannot be written: {fault.strerror}") from None
    if out.out is not None:
        render = {".html": story_html, ".md": story_markdown}.get(Path(out.out).suffix)
        write_whole(Path(out.out), render(story) if render else result.model_dump_json(indent=1) + "\n")
        click.echo(f"report: {out.out}", err=True)
    if out.as_json:
        click.echo(result.model_dump_json(indent=1))
    elif not out.jsonl:
        print_story(story, sys.stdout, whole=out.trace)
        click.echo(f"{verdict.words}; {sum(one.from_lock for one in result.verdicts)} from the lock")
    for line in worse or ():
        click.echo(f"assay: worse than the baseline: {line}", err=True)
    for verdict in result.failed:
        click.echo(f"assay: {verdict.id}: {verdict.why}", err=True)
