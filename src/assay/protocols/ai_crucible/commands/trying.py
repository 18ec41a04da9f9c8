"""One trial from the command line: a run that begins or goes on, and what it came to."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ai_crucible.types import team_name
from assay.console.declared import FiniteRange, declares
from assay.console.options import called, field_option, field_value, store_option
from assay.fields import read, specs_of
from assay.protocols.ai_crucible.task import Options, Task, TrialHooks
from assay.protocols.ai_crucible.trials import (
    Contestant,
    by_trial,
    log_dir_option,
    need_box,
    need_inspect,
    solver_of,
    workshop,
)
from assay.report.units import count_noun
from assay.terms import Terms
from llm_runtime.errors import BudgetExceeded, ConfigurationError, RunNotFound
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from ai_crucible.workshop import Workshop
    from assay.console.listening import RunListeners
    from assay.launch import Launcher, Outcome, Running
    from assay.protocols.ai_crucible.report import TrialRecords
    from assay.registry import Prepared
    from llm_runtime.store import RunStore

F = TypeVar("F", bound=Callable[..., Any])
_declares = declares(__package__ or "", "options.toml")
_SEARCHED = 1000
"""Runs that are looked through for that of a trial."""
_INTERRUPTED = 130


def running_options(*left_out: str) -> Callable[[F], F]:
    """Add the options that say how attempts are made, but for those that are left out.

    Those of a trial's fields arrive together as ``options``, the rest as the fields of ``Trying``.
    """
    specs = [spec for name, spec in specs_of(Options).items() if not spec.ui.hidden and name not in left_out]

    def decorate(command: F) -> F:
        def gathered(**values: Any) -> Any:
            given = {spec.name: field_value(spec, values.pop(f"trial__{spec.name}")) for spec in specs}
            given = {name: value for name, value in given.items() if value is not None}
            return command(**values, options=read(Options, given, names=called))

        gathered.__doc__, gathered.__name__ = command.__doc__, command.__name__
        made: Any = gathered
        made.__click_params__ = getattr(command, "__click_params__", [])
        made = _declares("running")(store_option(made))
        made.__click_params__ += [field_option(spec, "trial") for spec in reversed(specs)]
        cost = FiniteRange(0, min_open=True)
        spent = "Dollars that all attempts together may cost, over all sittings."
        made = click.option("--max-cost", "--budget", "max_cost", type=cost, metavar="USD", help=spent)(made)
        return log_dir_option(_declares("running-model")(made))

    return decorate


class Trying(Struct):
    """What the commands share, as it was asked for."""

    puzzles: tuple[str, ...]
    log_dir: str | None
    model: str | None
    max_cost: float | None
    options: Options
    chrome: str | None
    as_json: bool
    out: str | None
    quiet: bool
    store_path: str | None

    def check(self, feature: str) -> None:
        """Refuse what cannot work, before anything is spent.

        Raises:
            ConfigurationError: the report has no place, or Inspect or a box is not here.
        """
        from assay.report.places import check_report

        if self.out is not None:
            check_report(self.out)
        need_inspect(feature)
        self.unfinished("neutral")
        TrialHooks().ready(Task(), self.options, self.terms)
        self.standings()
        need_box(self.options.box_root)

    def unfinished(self, arm: str) -> str:
        """Return the newest trial that was planned so and cut off, which the same command goes on with; or nothing.

        Raises:
            NoModelError: no model was named and none is configured.
            ConfigurationError: the model's name cannot be one, or a puzzle is not there.
        """
        from ai_crucible.catalog_paths import resolve_puzzles
        from ai_crucible.puzzle_loader import load_puzzles

        asked = self.options
        first, *others = by_trial("", [self.model or "", *asked.against], asked.agent).values()
        wanted = {
            "puzzles": {one.meta.id: one.digest for one in load_puzzles(resolve_puzzles(self.puzzles))},
            "model": Contestant(
                team_name([solver_of(name or None) for name in (self.model, *asked.cohort)]), first.agent
            ).name,
            "k": asked.k,
            "arm": arm,
            "protocol": asked.protocol,
            "judges": tuple(solver_of(name) for name in asked.judges),
            "against": tuple(other.name for other in others),
        }
        # A comparison can be cut off when one of its trials is complete already.
        for name, trial in reversed(self.shop.attested().items()):
            cut_off, plan = trial.compared is None if asked.compares else not trial.finished, trial.plan
            if plan and cut_off and (plan.nonce or "") == asked.nonce and wanted.items() <= dict(plan).items():
                return name
        return ""

    def planned(self, trial: str) -> Trying:
        """Return the same with the draws of a trial that was planned.

        Raises:
            ConfigurationError: none of that name was; or its draws come from other words.
        """
        known = self.shop.attested().get(trial)
        if known is None or known.plan is None:
            raise ConfigurationError(
                f"no trial {trial} was planned in {self.shop.folder}; leave --trial out to begin one"
            )
        return replace(self, options=self.options.model_copy(update={"nonce": known.plan.nonce or ""}))

    def standings(self) -> dict[str, Any]:
        """Return the chrome; empty where none was named.

        Raises:
            ConfigurationError: its file holds no JSON object.
        """
        data: object = None
        with suppress(OSError, ValueError, RecursionError):
            data = json.loads(Path(self.chrome).read_bytes() if self.chrome else b"{}")
        if not isinstance(data, dict):
            raise ConfigurationError(f"--chrome {self.chrome}: name a file that holds a JSON object of standings")
        return cast("dict[str, Any]", data)

    @property
    def shop(self) -> Workshop:
        """Where logs and the ledger are."""
        return workshop(self.log_dir)

    @property
    def terms(self) -> Terms:
        """The model, and what it may spend."""
        return Terms(model=self.model or "", budget=self.max_cost)

    def run(self, arm: str, known: str) -> Prepared:
        """Return the run of a trial; ``known`` is the id of one that it goes on with, or empty."""
        from assay.registry import read_run

        root = self.options.box_root
        options = {
            **self.options.model_dump(mode="json"),
            "arm": arm,
            "chrome": self.standings(),
            "box_root": str(Path(root).absolute()) if root and Path(root).exists() else root,
            "folder": str(self.shop.folder) if self.log_dir else "",
            "trial": known,
        }
        puzzles = [str(Path(name).absolute()) if Path(name).is_dir() else name for name in self.puzzles]
        return read_run("ai_crucible.trial", {"puzzles": puzzles}, options)


class Ended(Struct):
    """How a trial ended.

    Args:
        records: of its attempts; ``None`` where none was logged.
        message: what is missing, and how to go on; empty where it is complete.
        code: the exit code.
    """

    trial: str
    records: TrialRecords | None
    message: str = ""
    code: int = 0


def try_model(asked: Trying, arm: str, known: str, store: RunStore) -> Ended:
    """Carry out one trial and show its progress; ``known`` is the id of one to go on with, or empty.

    Raises:
        KeyboardInterrupt: it was stopped before any attempt was made.
    """
    from assay.console.running import launcher_of, show_until_end
    from assay.console.showing import OutputOptions

    launcher = launcher_of(store)
    earlier = _run_of(launcher, known) if known else ""
    run_id, terms = earlier or launcher.new_id(), asked.terms

    async def begin(listeners: RunListeners) -> Running:
        if earlier:
            if listeners.display is not None:
                listeners.display.past = store.summary(run_id).events
            return await launcher.resume(run_id, terms, followers=listeners.followers)
        return await launcher.start(asked.run(arm, known), terms, run_id=run_id, followers=listeners.followers)

    trial, records = known or run_id, None
    try:
        output = OutputOptions(quiet=asked.quiet)
        outcome = show_until_end("ai_crucible.trial", run_id, output, asked.max_cost, begin, "")
    except KeyboardInterrupt:
        with suppress(RunNotFound):
            records = records_of_run(store, run_id)
        if records is None:
            click.echo(f"\nassay: trial {trial} was stopped before any attempt was made", err=True)
            raise
        made = count_noun(sum(attempt.gate is not None for attempt in records.attempts), "attempt")
        message = f"trial {trial} was stopped with {made} made, which are kept; go on with the same command"
        return Ended(trial, records, message, _INTERRUPTED)
    return _ended(trial, outcome, store)


def _run_of(launcher: Launcher, trial: str) -> str:
    """Return the id of the run that a trial goes on in; empty where the store has none, or it is finished."""
    from assay.registry import find, opened

    for summary in launcher.store.runs(protocol=find("ai_crucible.trial").names, limit=_SEARCHED):
        if summary.state == "finished" or summary.origin == "demo":
            continue
        with suppress(ConfigurationError):
            if (cast("Options", opened(launcher.first_event(summary.run_id)).options).trial or summary.run_id) == trial:
                return summary.run_id
    return ""


def records_of_run(store: RunStore, run_id: str) -> TrialRecords | None:
    """Read back what a run holds of its trial; ``None`` where it was not ended in order."""
    from assay.protocols.ai_crucible.report.fold import TrialFold
    from assay.report.run import timed_events

    fold = TrialFold()
    for event, at in timed_events(store.records(run_id)):
        fold.apply(event, at)
    return fold.records


def _ended(trial: str, outcome: Outcome, store: RunStore) -> Ended:
    """Return how a trial ended that was not interrupted.

    Raises:
        ConfigurationError: it could not be made.
    """
    from assay.protocols.ai_crucible.child import TrialFailed

    if (error := outcome.error) is None:
        return Ended(trial, records_of_run(store, outcome.run_id))
    if not isinstance(error, BudgetExceeded | TrialFailed):
        raise error
    how = "a higher --max-cost" if isinstance(error, BudgetExceeded) else "the same command"
    return Ended(trial, records_of_run(store, outcome.run_id), f"{error}; go on with {how}", error.exit_code)


def present_trials(ended: Sequence[Ended], asked: Trying) -> int:
    """Show what trials came to, write the report that was asked for; return the exit code."""
    from assay.protocols.ai_crucible.report import trials_story
    from assay.report.places import write_report

    records = _together([one.records for one in ended if one.records is not None], asked.shop)
    if records is not None:
        _show(records, asked)
        if asked.out is not None:
            path = write_report(Path(asked.out), lambda: trials_story(records), records.data)
            click.echo(f"report: {path}", err=True)
        else:
            click.echo(f"report: assay trial report {' '.join(one.trial for one in ended)} --out trial.html", err=True)
    missing = next((one for one in ended if one.message), None)
    if missing is None:
        return 0
    click.echo(f"assay: {missing.message}", err=True)
    return missing.code


def _together(records: list[TrialRecords], shop: Workshop) -> TrialRecords | None:
    """Put trials of one workshop side by side, with the ledger as it is now."""
    from assay.protocols.ai_crucible.report import read_trials

    if len(records) < 2:
        return next(iter(records), None)
    return read_trials(shop, [trial for each in records for trial in each.trials])


def _show(records: TrialRecords, asked: Trying) -> None:
    from assay.protocols.ai_crucible.report.compared import compared_lines
    from assay.protocols.ai_crucible.report.pictures import solver_name
    from assay.protocols.ai_crucible.report.words import in_all

    if asked.as_json:
        click.echo(json.dumps(records.data(), ensure_ascii=False, default=str))
        return
    for model in records.models:
        click.echo(f"{solver_name(model.model, model.arm, model.edition)}: {in_all(model)}")
    for name, effect in records.arms:
        click.echo(arm_line(name, effect))
    for compared in records.seal.compared:
        click.echo("\n".join(compared_lines(compared)))


def arm_line(name: str, effect: Any) -> str:
    """Write a framing's effect in a line."""
    from assay.protocols.ai_crucible.report.words import ARM_NAMES
    from assay.report.units import points

    bounds = f"{points(effect.difference.low)} to {points(effect.difference.high)}"
    remark = "" if effect.shown else "; no difference shown"
    difference = f"{points(effect.difference.estimate)} ({bounds})"
    return f"{name}: {ARM_NAMES[effect.arm]} against neutral {difference}{remark}"
