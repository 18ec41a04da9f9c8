"""One sitting on a project from the command line: the folder's run begins, or goes on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from assay.console.declared import declares
from assay.console.options import open_runs, settings_with, store_option, terms_options
from assay.console.queueing import QueueOptions, put_into_queue
from llm_runtime.errors import ConfigurationError, RunPaused
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from assay.console.listening import RunListeners
    from assay.console.live import LiveDisplay
    from assay.launch import Launcher, Outcome, Running
    from assay.protocols.criticality.sitting import Sitting
    from assay.registry import Prepared
    from assay.terms import Terms
    from criticality.artifacts import Artifacts
    from criticality.human import Answers, Human
    from llm_runtime.store import RunStore

F = TypeVar("F", bound=Callable[..., Any])
_KEYBOARD = "terminal:"
_SEARCHED = 1000
"""Runs that are looked through for the folder's own."""

_declares = declares(__package__ or "", "options.toml")
folder_option = _declares("folder")


def driving_options(command: F) -> F:
    """Add what every command takes that goes on with a project as it stands."""
    return _declares("going-on")(terms_options(_declares("played")(store_option(command))))


def deciding_options(command: F) -> F:
    """Add what a command takes that brings one answer and goes on."""
    return terms_options(_declares("quiet")(store_option(command)))


class Drive(Struct):
    """A sitting as it is asked for.

    Args:
        folder: the project's.
        terms: models and bounds.
        store_path: where runs are kept, where it is named.
        quiet: no progress.
        answers: from a file, in place of the keyboard.
        human: who answers, where that is settled.
        until: the phase to stop before.
        demo: the recording answers in place of models.
        queueing: whether it goes into the queue, and how.
    """

    folder: str
    terms: Terms
    store_path: str | None
    quiet: bool
    answers: Answers | None = None
    human: Human | None = None
    until: str = ""
    demo: bool = False
    queueing: QueueOptions = field(default_factory=QueueOptions)

    def sitting(self, person: str, display: LiveDisplay | None) -> Sitting:
        """Return who answers and how far it goes.

        Args:
            person: the model in the seat ``person``. At the keyboard nobody is shown a model's prompt.
            display: leaves the terminal to the person.
        """
        from assay.protocols.criticality.commands.people import AtTerminal
        from assay.protocols.criticality.sitting import Sitting, rest_of

        def human(artifacts: Artifacts) -> Human:
            if self.human is not None:
                return self.human
            if self.answers is not None:
                return rest_of(self.answers, artifacts)
            return AtTerminal(sys.stdin, sys.stderr, artifacts, display)

        seated = person != _KEYBOARD and self.human is None and self.answers is None
        return Sitting(None if seated else human, self.until)


def drive(asked: Drive) -> int:
    """Go on with the folder's run, or begin it; return the exit code."""
    from assay.console.showing import OutputOptions, report_and_code
    from assay.protocols.criticality.commands.display import outcome_line
    from criticality import read_project
    from criticality.project.files import require_project

    root = Path(asked.folder).absolute()
    require_project(root)
    with closing(open_runs(asked.store_path)) as store:
        outcome = _carry_out(asked, root, store)
        if outcome.error is not None and not isinstance(outcome.error, RunPaused):
            return report_and_code(outcome, store, OutputOptions(quiet=asked.quiet))
    click.echo(outcome_line(read_project(root)[0], root))
    return outcome.error.exit_code if outcome.error else 0


def _carry_out(asked: Drive, root: Path, store: RunStore) -> Outcome:
    from assay.console.running import launcher_of, show_until_end
    from assay.console.showing import OutputOptions
    from assay.protocols.criticality.sitting import SITTING
    from assay.terms import in_force

    launcher = launcher_of(store)
    earlier = "" if asked.demo else _unfinished(launcher, root)
    terms = asked.terms
    if asked.queueing.queue:
        _leave_to_a_worker(asked, root, earlier)
    if earlier:
        terms = terms.over(in_force(event for _, event in store.events(earlier)))
    person = _KEYBOARD if asked.demo else settings_with(terms).config.seats.get("person", _KEYBOARD)
    run_id = earlier or launcher.new_id()

    async def begin(listeners: RunListeners) -> Running:
        SITTING.set(asked.sitting(person, listeners.display))
        if not earlier:
            return await _start(asked, root, launcher, run_id, listeners)
        if listeners.display is not None:
            listeners.display.past = store.summary(run_id).events
        return await launcher.resume(run_id, asked.terms, followers=listeners.followers)

    hint = f"go on with: criticality resume -C {shlex.quote(asked.folder)}".replace("{", "{{").replace("}", "}}")
    return show_until_end("criticality.build", run_id, OutputOptions(quiet=asked.quiet), terms.budget, begin, hint)


def _leave_to_a_worker(asked: Drive, root: Path, earlier: str) -> NoReturn:
    from assay.registry import prepared

    if asked.answers is None and asked.terms.seats.get("person", _KEYBOARD) == _KEYBOARD:
        raise ConfigurationError(
            "a build in the queue cannot ask at the keyboard; give --answers PATH, or --seat person=mailbox:DIR"
        )
    run = prepared(_run_of(asked, root))
    put_into_queue(run, asked.terms, asked.store_path, asked.queueing, _seed(root), run_id=earlier)


async def _start(asked: Drive, root: Path, launcher: Launcher, run_id: str, listeners: RunListeners) -> Running:
    """Begin the run of a project that has none, or whose run is finished."""
    from assay.demo import demo_answers

    return await launcher.start(
        _run_of(asked, root),
        asked.terms,
        seed=_seed(root),
        run_id=run_id,
        origin="demo" if asked.demo else "live",
        model=demo_answers("build").model(speed=0) if asked.demo else None,
        followers=listeners.followers,
    )


def _run_of(asked: Drive, root: Path) -> Prepared:
    from assay.registry import read_run
    from criticality import load_config
    from criticality.project.files import CONFIG

    project = load_config(root / CONFIG).project
    answers = asked.answers.model_dump(mode="json", exclude_defaults=True) if asked.answers else None
    task = {"name": project.name, "folder": str(root), "language": project.language, "answers": answers}
    return read_run("criticality.build", task)


def _seed(root: Path) -> int:
    from criticality import read_project

    return read_project(root)[1].seed


def _unfinished(launcher: Launcher, root: Path) -> str:
    """Return the id of the run that goes on in a folder; empty where there is none."""
    from assay.registry import find

    for summary in launcher.store.runs(protocol=find("criticality.build").names, limit=_SEARCHED):
        if summary.state == "finished" or summary.origin == "demo":
            continue
        folder = launcher.first_event(summary.run_id).task.get("folder")
        if isinstance(folder, str) and Path(folder).resolve() == root.resolve():
            return summary.run_id
    return ""
