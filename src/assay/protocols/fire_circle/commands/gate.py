"""`assay circle gate`: a suite of cases in a build, with a lock for those that have not changed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any, cast

import click

from assay.console.declared import declares
from assay.console.going_on import unfinished
from assay.console.options import called, settings_with
from assay.console.running import RunCommand, resume_run, run_command
from assay.console.showing import report_and_code
from assay.launch import Outcome
from assay.protocols.fire_circle.commands.build import Build
from assay.protocols.fire_circle.gating.cases import Case
from assay.protocols.fire_circle.gating.suite import Suite, read_suite
from assay.protocols.fire_circle.gating.targets import answered
from assay.protocols.fire_circle.gating.task import (
    CANARY,
    REGRESSION,
    GateHooks,
    Options,
    Task,
    check_routes,
    concluded,
    judging,
    verdict_digest,
)
from assay.protocols.fire_circle.report.gate_story import gate_story
from assay.protocols.fire_circle.report.judged import Judged, scores_line
from assay.protocols.fire_circle.task import case_of
from assay.registry import Prepared, prepared, read_run
from assay.report.clean import label, one_line
from assay.report.frame import judged
from assay.report.junit import Fault
from assay.report.markdown import story_markdown
from assay.report.places import check_place, write_report
from assay.report.terminal import print_story
from assay.terms import Terms, configured
from fire_circle.gates.comparing import SuiteSide, changes, excused
from fire_circle.gates.lock import Lock, LockedVerdict, entry_of, known, read_lock, write_lock
from fire_circle.gates.trust import Trust, enrol, signing, trust
from fire_circle.gates.verdicts import CaseVerdict, Expected, GateResult, drift
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying
from llm_runtime.rewording import reworded
from llm_runtime.structs import Struct

_KIND = "fire_circle.gate"


@run_command(_KIND, "gate", trace="Show the whole report after the summary.", noun="report")
@declares(__package__ or "", "options.toml")("gate")
def gate(
    command: RunCommand, suite_file: str, lock_path: str | None, offline: bool, baseline: str | None,
    signers: Sequence[str], refresh: float, lock_key: str | None, sarif: str | None, junit: str | None,
    summary: str | None,
) -> int:  # fmt: skip
    """Judge every case of SUITE.toml; exit with 1 where one must not pass.

    A case is a prompt, a prompt with what an application answered, or a trace with tool calls. Cases that have not
    changed since they were locked cost nothing and need no key. Options given here go before those of the suite.

    \b
    assay circle gate suite.toml --sarif out.sarif --junit out.xml --summary "$GITHUB_STEP_SUMMARY"
    assay circle gate suite.toml --offline --baseline origin/main
    """
    check_place(summary)
    given, suite = dict(command.options), read_suite(Path(suite_file))
    command.task |= {"name": suite.name, "cases": suite.cases}
    command.options, command.terms = {**suite.options, **given}, command.terms.over(suite.terms)
    build = Build(sarif, junit, [case.id for case in suite.cases], suite.name)
    place, signer = Path(lock_path or suite.path.parent / "assay.lock"), signing(lock_key)
    rests = trust(place, signer, os.environ, baseline, signers)
    lock, today = read_lock(place), datetime.now(UTC).date()
    counted = rests.lock(place, lock)
    with build.reporting():
        laid = _laid(suite, command.prepared, command.terms)
        check_routes(command.options.get("study"), laid.judged_by["routes"])
        held = known(counted, set(laid.digests.values()), rests.keys, offline=offline)
        drawn = _drawn(laid, held, refresh, today)
        kept = {digest: verdict for digest, verdict in held.items() if digest not in drawn}
        found, run_id = _asked(command, build, laid, kept)
        result = concluded(laid.task, laid.options, laid.verdicts(found))
        result = _compared(result, laid, _before(command, suite, given, counted, rests), today)
        notes = [*suite.notes, *drift([(held[digest], found[digest]) for digest in drawn], laid.options.conditions)]
        if not offline:
            now = _locked(lock, laid, found, partial(entry_of, run=run_id, date=str(today), signer=signer))
            write_lock(place, now)
            notes += enrol(place, signer) if now.entries != lock.entries else []
        result = result.model_copy(update={"notes": (*result.notes, *map(one_line, notes))})
        _write(suite, build, result, run_id)
        _show(command, result, summary)
    return result.code


class _Laid(Struct):
    """A suite under the command's options, complete and checked, as one branch has it."""

    suite: Suite
    task: Task
    options: Options
    judged_by: Mapping[str, object]
    contents: dict[str, str]
    digests: dict[str, str]

    def verdicts(self, found: Mapping[str, CaseVerdict]) -> list[CaseVerdict]:
        """Return each case's verdict out of those by digest: a text that stands there twice is paid for once."""
        paid: set[str] = set()
        verdicts: list[CaseVerdict] = []
        for case in self.task.cases:
            digest = self.digests[case.id]
            again = {"known": True} if digest in paid else {}
            verdicts.append(found[digest].model_copy(update={"id": case.id, **again}))
            paid.add(digest)
        return verdicts

    def side(self, verdicts: Sequence[CaseVerdict]) -> SuiteSide:
        """Return the suite as it is compared."""
        expected: dict[str, Expected] = {self.contents[case.id]: case.expect for case in self.task.cases}
        found = {self.contents[verdict.id]: verdict for verdict in verdicts}
        how = self.options.conditions, self.judged_by, self.contents
        canaries = {self.contents[case.id]: (case.canary, case.twin) for case in self.task.cases if case.canary}
        return SuiteSide(*how, expected, found, self.suite.waivers, canaries)


def _laid(suite: Suite, run: Prepared, terms: Terms) -> _Laid:
    task, options = cast("Task", run.task), cast("Options", run.options)
    routed = configured(settings_with(terms))
    if options.named_models and not terms.model:
        routed = routed.model_copy(update={"model": ""})
    judged_by = judging(options, routed, suite.target.model_dump(mode="json", exclude_defaults=True))
    contents = {case.id: case_of(case).digest() for case in task.cases}
    digests = {case.id: verdict_digest(case, judged_by) for case in task.cases}
    return _Laid(suite, task, options, judged_by, contents, digests)


def _before(
    command: RunCommand, suite: Suite, given: Mapping[str, Any], lock: Lock, rests: Trust
) -> SuiteSide | str | None:
    """Return the suite as the baseline has it; in words that it has none, and nothing without a baseline."""
    if rests.base is None:
        return None
    rests.base.place(suite.path)
    with rests.base.folder() as folder:
        path = folder / os.path.relpath(suite.path)
        if not path.is_file():
            return f"the baseline has no {suite.path}: nothing to compare with"
        with reworded("the baseline's suite cannot be compared with", ConfigurationError):
            there = read_suite(path)
            data = {"name": there.name, "cases": there.cases}
            run = prepared(read_run(_KIND, data, {**there.options, **given}, names=called))
            laid = _laid(there, run, command.terms.over(there.terms))
        held = lock.held(set(laid.digests.values()), rests.keys)
        cases = [case for case in laid.task.cases if laid.digests[case.id] in held]
        task = laid.task.model_copy(update={"cases": tuple(cases)})
        each = [held[laid.digests[case.id]][1].model_copy(update={"id": case.id}) for case in cases]
        return laid.side(concluded(task, laid.options, each).verdicts if each else ())


def _drawn(laid: _Laid, held: Mapping[str, CaseVerdict], share: float, today: date) -> set[str]:
    """Return what is asked anew of the lock: the canaries, and a share of the others that the day's date draws."""
    locked = {digest for digest, verdict in held.items() if verdict.from_lock} if share else set[str]()
    canaries = {laid.digests[case.id] for case in laid.task.cases if CANARY in case.tags} & locked
    rest = sorted(locked - canaries, key=lambda digest: sha256(f"{today}|{digest}".encode()).digest())
    return {*canaries, *rest[: ceil(share * len(rest))]}


def _asked(
    command: RunCommand, build: Build, laid: _Laid, held: Mapping[str, CaseVerdict]
) -> tuple[dict[str, CaseVerdict], str]:
    """Return every case's verdict by digest, each text asked once, and the run in which new ones were found.

    Raises:
        click.exceptions.Exit: the run came to no result.
    """
    digests = laid.digests
    first = {digests[case.id]: case for case in reversed(laid.task.cases)}
    wanted = first.keys() - held.keys()
    if not wanted:
        return dict(held), ""
    outcome = _run(command, laid, held, first)
    if outcome.error is not None:
        code = report_and_code(outcome, command.store, command.output)
        summary = command.store.summary(outcome.run_id)
        build.write_error(f"the run {outcome.run_id} came to no result ({summary.state})", code, outcome.run_id)
        raise click.exceptions.Exit(code)
    verdicts = GateResult.model_validate(outcome.result).verdicts
    return {**{digests[v.id]: v for v in verdicts if digests.get(v.id) in wanted}, **held}, outcome.run_id


def _run(command: RunCommand, laid: _Laid, held: Mapping[str, CaseVerdict], first: Mapping[str, Case]) -> Outcome:
    """Go on with the unfinished run of these cases, or start one; those that are held are shown beside them."""
    digests, options, target = laid.digests, laid.options, laid.suite.target
    wanted = sorted(first.keys() - held.keys())
    mark = sha256("|".join([laid.suite.name, *wanted]).encode()).hexdigest()
    run_id = unfinished(command, _KIND, lambda _, run, __: _same(run, mark, options))
    if run_id is not None:
        return resume_run(run_id, command.store, command.terms, command.output)
    cases, failed = [first[digest] for digest in wanted], list[CaseVerdict]()
    if target.kind:
        cases, failed = asyncio.run(answered(cases, target, options.concurrency))
    answers = {case.id: case for case in cases}
    shown = [answers.get(case.id, case) for case in laid.task.cases if first[digests[case.id]] is case]
    kept = [held[d].model_copy(update={"id": case.id}) for case in shown if (d := digests[case.id]) in held]
    command.task |= {"cases": shown, "known": [*kept, *failed], "mark": mark}
    del command.prepared
    return command.go()


def _same(run: Prepared, mark: str, options: Options) -> bool:
    # Seats may be named after the one model that answers in all of them.
    alike = run.options.model_copy(update={"models": options.models})
    return cast("Task", run.task).mark == mark and alike == options


def _compared(result: GateResult, laid: _Laid, before: SuiteSide | str | None, today: date) -> GateResult:
    """Return the result with what became worse, and what speaks for cases that fail."""
    now, base = laid.side(result.verdicts), before if isinstance(before, SuiteSide) else None
    ratchet = REGRESSION in laid.options.fail_on
    told: dict[str, object] = {"verdicts": tuple(excused(result.verdicts, now, base, today, known=ratchet))}
    if base:
        told["changes"] = tuple(changes(base, now, today))
    if isinstance(before, str):
        told["notes"] = (*result.notes, before)
    return result.model_copy(update=told)


def _locked(lock: Lock, laid: _Laid, found: Mapping[str, CaseVerdict], seal: Callable[..., LockedVerdict]) -> Lock:
    """Return the lock with every whole verdict that was found now."""
    named = {digest: case for case, digest in laid.digests.items()}
    whole = {d: v for d, v in found.items() if not (v.known or v.error or v.lacking)}
    new = [seal(digest, laid.suite.name, v.model_copy(update={"id": named[digest]})) for digest, v in whole.items()]
    return Lock([*(entry for entry in lock.entries if entry.digest not in whole), *new])


def _write(suite: Suite, build: Build, result: GateResult, run_id: str) -> None:
    """Write SARIF of what stops the build or is hidden, and JUnit of every case."""
    judged: list[Judged] = []
    tests: dict[str, Fault | None] = {}
    for case, verdict in zip(suite.cases, result.verdicts, strict=True):
        answered = case.model_copy(update={"answer": verdict.answer or case.answer})
        scores = scores_line(verdict.falsehood or 0.0, verdict.truth, verdict.indeterminacy)
        patterns = verdict.patterns if verdict.stops else ()
        fired = verdict.fired if verdict.stops else {}
        one = Judged(answered, scores, patterns, fired, case.id, partial=bool(verdict.lacking), error=verdict.error)
        if verdict.stops or verdict.hidden:
            judged.append(one)
        tests[case.id] = Fault("failure", "gate", verdict.why, one.summary) if verdict.stops else None
    for change in result.worse:
        tests[f"baseline: {change.subject}: {change.what}"] = Fault("failure", "baseline", change.what)
    faults = [f"{verdict.id}: {verdict.error}" for verdict in result.verdicts if verdict.error]
    build.write(judged, tests, run_id, faults=[*faults, *(f"{one.subject}: {one.what}" for one in result.worse)])


def _show(command: RunCommand, result: GateResult, summary: str | None) -> None:
    verdict = GateHooks().outcome(result.model_dump(mode="json"))
    story, out = judged(gate_story(result), verdict), command.output
    if summary is not None:
        with saying(f"{summary} cannot be written"), Path(summary).open("a", encoding="utf-8") as file:
            file.write(story_markdown(story))
    if out.out is not None:
        write_report(Path(out.out), lambda: story, lambda: result.model_dump(mode="json"))
        click.echo(f"report: {out.out}", err=True)
    if out.as_json:
        click.echo(result.model_dump_json(indent=1))
    elif not out.jsonl:
        print_story(story, sys.stdout, whole=out.trace)
        click.echo(f"{verdict.words}; {sum(one.from_lock for one in result.verdicts)} from the lock")
    told = [f"{one.id}: {one.why}" for one in result.failed]
    told += [f"{change.subject}: {change.what}" for change in result.changes or ()]
    told += [f"{one.id}: {one.excused}" for one in result.verdicts if one.excused]
    for line in (*told, *result.notes):
        click.echo(f"assay: {label(line)}", err=True)
