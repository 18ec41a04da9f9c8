"""`assay evidence`: a plan that is fixed before the first call, and a page that anybody makes again from the logs."""

from __future__ import annotations

import hashlib
import io
import tempfile
from contextlib import closing
from pathlib import Path

import click
from pydantic import JsonValue

from assay.console.declared import commands, declares
from assay.console.lazy import ToldGroup
from assay.console.options import called
from assay.console.running import RunCommand, run_command
from assay.protocols.compare.commands import read_questions
from assay.protocols.compare.figures import Rules, figures
from assay.protocols.compare.story import CompareFold, in_short
from assay.protocols.compare.task import Options, Task
from assay.registry import read_run
from assay.report.markdown import block_markdown
from assay.report.run import timed_events
from assay.report.units import written_time
from assay.terms import configured, in_force
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.events import Event, RunStarted
from llm_runtime.files import saying, write_atomic
from llm_runtime.models import Model, fits
from llm_runtime.store import RunStore, open_store
from llm_runtime.store.transfer import export_run, import_run
from llm_runtime.store.upkeep import every_run

_BEGINS, _ENDS = "<!-- made by assay evidence: begin -->", "<!-- made by assay evidence: end -->"
_UNKNOWN = "**Not known.** Nobody has run a plan of this kind with a real model and published its logs here."
_TOLD = ("What was found", "Pair by pair", "Spend")


class NoEvidence(LlmRuntimeError):
    """A plan or its log is not what it says."""


class Plan(Model):
    """What is fixed before the first call.

    Args:
        primary: the two methods that are compared; all else is told beside.
        tasks: the SHA-256 of the tasks, in hexadecimal digits.
        count: how many there are, each time that one is asked counted.
        options: of the comparison.
        models: who answers, by role; in all others' place under the empty name.
    """

    primary: tuple[str, ...]
    figure: str = "difference of shares right, or found better, Newcombe's 95% interval, McNemar's exact p at most 0.05"
    stopping: str = "all tasks are asked; none is added afterwards"
    tasks: str
    count: int
    seed: int
    options: dict[str, JsonValue]
    models: dict[str, str]

    @classmethod
    def of(cls, task: object, options: object, seed: int, models: dict[str, str]) -> Plan:
        """Return the plan by which a comparison is made, of what its log holds."""
        asked, how = Task.model_validate(task).tasks, Options.model_validate(options)
        tasks = hashlib.sha256(canonical_json([one.model_dump(mode="json") for one in asked])).hexdigest()
        said, count = how.model_dump(mode="json"), len(how.times(asked))
        return cls(primary=how.methods[:2], tasks=tasks, count=count, seed=seed, options=said, models=models)


@click.group(cls=ToldGroup)
def evidence() -> None:
    """Measure methods by a plan that is fixed first, and check what others have measured so."""


_command = commands(evidence.command, __package__ or "", "evidence.toml")


@run_command("compare.tasks", "run", trace="Show every answer after the figures.", noun="figures", without=("methods",))
@declares(__package__ or "", "evidence.toml")("run")
def run(command: RunCommand, questions: str, methods: str, folder: str, plan_only: bool) -> int:
    """Write a plan for QUESTIONS under its digest, put them to the methods, and export the signed log beside it.

    The first two methods are the primary pair. QUESTIONS is as assay compare has it. A run that its budget stopped is
    told as one; go on with assay runs resume, and export it anew.

    \b
    assay evidence run tasks.jsonl --model openrouter:vendor/model --budget 20 --plan-only
    assay evidence run tasks.jsonl --model openrouter:vendor/model --budget 20
    """
    command.seed = command.seed or 1
    command.task = read_questions(questions)
    command.options["methods"] = methods.replace(" ", "").split(",")
    data = read_run(command.run.name, command.task, command.options, names=called).data()
    if not (data[1]["raters"] or any(one.keys() & {"expected", "regex"} for one in data[0]["tasks"])):
        raise ConfigurationError(f"{questions} says of no task what is right; add expected, or --raters 2")
    plan = Plan.of(*data, command.seed, configured(command.settings).routes)
    text = plan.model_dump_json(indent=1).encode() + b"\n"
    digest = _digest(text)
    place, log = (Path(folder, f"{digest}.{end}") for end in ("plan.json", "log"))
    if log.exists():
        raise ConfigurationError(f"{log}: this plan was run; another --seed makes another plan")
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(place, text)
    click.echo(f"plan {digest}: {plan.count} tasks; publish {place} before you go on", err=True)
    if plan_only:
        return 0
    _check_unbegun(command.store, digest, log)
    command.task |= {"source": f"plan-{digest}"}
    outcome = command.go()
    export_run(command.store, outcome.run_id, exported := io.BytesIO())
    write_atomic(log, exported.getvalue())
    return command.finish(outcome)


evidence.add_command(run)


def _check_unbegun(store: RunStore, digest: str, log: Path) -> None:
    """Refuse a plan whose run ended before its log was exported: it is paid for."""
    for run in (one.run_id for one in every_run(store)):
        if any(f'"plan-{digest}"'.encode() in record.body for record in store.records(run, 0, 1)):
            ways = f"assay runs resume {run}; once it has ended: assay runs export {run} {log}"
            raise ConfigurationError(f"this plan was begun as run {run}; go on with: {ways}")


@_command("page")
def page(folder: str, page: str) -> None:
    """Write what the logs of FOLDER say into the page, between its two marks."""
    write_atomic(Path(page), _page(folder, page)[1])


@_command("check")
def check(folder: str, page: str) -> None:
    """Make the page's figures again from plans and logs, without a model; exit code 1 where the page has others."""
    before, made = _page(folder, page)
    if before != made:
        raise NoEvidence(f"{page} says something else than its logs; see: assay evidence page")
    click.echo("the page is what its logs say")


def _page(folder: str, page: str) -> tuple[str, str]:
    """Return the page as it is, and as it should be."""
    with saying(f"{page} cannot be read", then="; name it with --page"):
        text = Path(page).read_text(encoding="utf-8")
    before, begins, rest = text.partition(_BEGINS)
    _, ends, after = rest.partition(_ENDS)
    if not (begins and ends):
        raise NoEvidence(f"{page} has no place for the figures: {_BEGINS} {_ENDS}")
    told = [_of_plan(place) for place in sorted(Path(folder).glob("*.plan.json"))]
    return text, "\n\n".join([before + _BEGINS, *(told or [_UNKNOWN]), _ENDS + after])


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _of_plan(place: Path) -> str:
    """Return what the page says of a plan, once plan and log are found to be what they say."""
    digest, text = place.name.partition(".")[0], place.read_bytes()
    if _digest(text) != digest:
        raise NoEvidence(f"{place}: the plan was changed after it was named")
    with fits(f"{place}: ", NoEvidence):
        plan = Plan.model_validate_json(text)
    who = ", ".join(f"{role} {model}".strip() for role, model in plan.models.items())
    asked = f"**Plan {digest}**, {who}, {plan.count} tasks, seed {plan.seed}"
    if not (log := place.with_name(f"{digest}.log")).exists():
        return f"{asked}: **not run**, or its log is not here."
    events, signed = _read(log)
    rules, fold = _checked(plan, digest, [event for event, _ in events]), CompareFold()
    for event, at in events:
        fold.apply(event, at)
    found = fold.figures()
    done = f"**Not as planned**: {found.methods[0].tasks} of {plan.count} tasks were done. "
    begun = f"{asked}, begun {written_time(events[0][1])}, {signed}"
    intro = f"{begun}. {done if found.methods[0].tasks < plan.count else ''}The primary pair:"
    told = [one for part in fold.story().sections if part.heading in _TOLD for one in part.blocks]
    return "\n\n".join([intro, in_short(figures(found.rows, plan.primary, rules)), *map(block_markdown, told)])


def _checked(plan: Plan, digest: str, events: list[Event]) -> Rules:
    """Return how the rows of a log become figures, once it is found to be that of a plan."""
    started = next(event for event in events if isinstance(event, RunStarted))
    if started.task.get("source") != f"plan-{digest}":
        raise NoEvidence(f"the log of plan {digest} is that of another plan: {started.task.get('source')}")
    with fits(f"the log of plan {digest}: ", NoEvidence):
        held = Plan.of(started.task, started.settings.get("options"), started.seed, in_force(events).routes)
    if held != plan:
        raise NoEvidence(f"the log of plan {digest}: tasks, options or models are others than those of the plan")
    return Options.model_validate(plan.options).rules(plan.seed, plan.count)


def _read(log: Path) -> tuple[list[tuple[Event, int]], str]:
    """Return the events of a log with their moments, and who signed it."""
    with tempfile.TemporaryDirectory() as room, closing(open_store(Path(room, "runs.db"))) as store:
        with saying(f"{log}, the log of a plan, cannot be read", NoEvidence), log.open("rb") as file:
            run_id = import_run(store, file)
        signed, _ = store.heads.load(run_id) or (None, b"")
        key = f"signed by {signed.public_key.hex()[:16]}" if signed else "not signed"
        return [*timed_events(store.records(run_id))], key
