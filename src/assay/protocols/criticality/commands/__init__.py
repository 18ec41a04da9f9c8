"""`criticality` (also `crit` and `assay build`): from an interview to verified code, in a project's folder."""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.console.declared import declares
from assay.console.lazy import HELP, ToldGroup
from assay.console.queueing import queue_option
from assay.protocols.criticality.commands.adopt import adopt
from assay.protocols.criticality.commands.check import check
from assay.protocols.criticality.commands.decide import decide
from assay.protocols.criticality.commands.driving import Drive, deciding_options, drive, driving_options, folder_option
from assay.protocols.criticality.commands.mcp import mcp
from assay.protocols.criticality.commands.report import report
from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from criticality.human import Answers


def _root(folder: str) -> Path:
    return Path(folder).absolute()


@click.group(cls=ToldGroup, context_settings=HELP)
def criticality() -> None:
    """Build a system from an interview: specification, contracts, tests, then code that passes them.

    \b
    criticality init till && cd till
    criticality run --answers answers.toml
    criticality status --watch
    """


_declares = declares(__package__ or "", "options.toml")


@criticality.command()
@_declares("init")
def init(name: str, folder: str | None, language: str, seed: int | None) -> None:
    """Make a project called NAME."""
    from criticality import create_project
    from criticality.project.commits import begin

    root = Path(folder or name).absolute()
    drawn = secrets.randbelow(2**53) if seed is None else seed
    create_project(root, name, seed=drawn, clock=now_ms, target=language)
    begin(root)
    click.echo(f"made {root.name}; next: criticality run -C {folder or name}", err=True)


@criticality.command()
@queue_option
@driving_options
def run(answers: str | None, demo: bool, **flags: Any) -> int:
    """Go on until the project is done, blocked, or waits for you."""
    return drive(Drive(**flags, answers=_answers(answers, demo), demo=demo))


@criticality.command()
@driving_options
def resume(answers: str | None, demo: bool, **flags: Any) -> int:
    """Go on where the project stood; no finished call is made again."""
    return drive(Drive(**flags, answers=_answers(answers, demo), demo=demo))


@criticality.command()
@driving_options
def interview(answers: str | None, demo: bool, **flags: Any) -> int:
    """Answer the interview, up to the approved specification."""
    return drive(Drive(**flags, answers=_answers(answers, demo), demo=demo, until="lattice"))


def _answers(path: str | None, demo: bool) -> Answers | None:
    from importlib import resources

    from criticality import load_answers

    if path is None and demo:
        path = str(resources.files("assay.protocols.criticality.demo").joinpath("answers.toml"))
    return None if path is None else load_answers(Path(path))


@criticality.command()
@folder_option
@_declares("resolve")
@deciding_options
def resolve(folder: str, option: str | None, text: str, **flags: Any) -> int:
    """Choose a way out of a block, and go on."""
    from assay.protocols.criticality.commands.people import PresetHuman
    from criticality import Resolution, read_project
    from criticality.machine.states import Blocked

    if not isinstance(read_project(_root(folder))[0], Blocked):
        raise ConfigurationError("the project is not blocked; see: criticality status")
    human = None if option is None else PresetHuman(resolution=Resolution(option=option, text=text))
    return drive(Drive(folder, **flags, human=human))


@criticality.command()
@folder_option
@_declares("approve")
@deciding_options
def approve(decision: Any, feedback: str, conditions: tuple[str, ...], **flags: Any) -> int:
    """Say what becomes of the proposal, and go on."""
    from assay.protocols.criticality.commands.people import PresetHuman
    from criticality import Approval

    approval = Approval(decision=decision, feedback=feedback, conditions=list(conditions))
    return drive(Drive(**flags, human=PresetHuman(approval=approval)))


@criticality.command()
@folder_option
@_declares("status")
def status(folder: str, watch: bool, as_json: bool) -> None:
    """Show where the project stands."""
    from assay.protocols.criticality.commands.display import folder_words, status_json, status_lines
    from criticality import read_project
    from criticality.machine.states import Active
    from criticality.project.written import Written

    root, shown = _root(folder), ""
    while True:
        state, artifacts, ledger, telemetry = read_project(root)
        told = (state, artifacts, ledger, telemetry)
        text = status_json(state, artifacts, telemetry) if as_json else status_lines(*told, folder_words(root))
        if text != shown:
            click.echo(text)
            for path, _ in () if as_json else Written(root).changed():
                click.echo(f"changed by hand: {path}; criticality run judges it, and overwrites nothing of yours")
        if not watch or not isinstance(state, Active):
            return
        shown = text
        time.sleep(1.0)


@criticality.command("ledger")
@folder_option
@_declares("ledger")
def show_ledger(folder: str, everything: bool) -> None:
    """Show the decisions."""
    from assay.protocols.criticality.commands.display import ledger_lines
    from criticality import read_project

    click.echo(ledger_lines(read_project(_root(folder))[2], everything))


@criticality.command()
@folder_option
def remind(folder: str) -> None:
    """Send a reminder if the project is blocked and one is due; for the system's scheduler."""
    from criticality import load_config, read_project
    from criticality.notifications import Notifier
    from criticality.project.files import CONFIG

    root = _root(folder)
    state = read_project(root)[0]
    notifier = Notifier(root, load_config(root / CONFIG).notifications, now_ms)
    click.echo("reminded" if asyncio.run(notifier.remind(state)) else "nothing is due", err=True)


@criticality.command()
def doctor() -> None:
    """Show which parts of the toolchain are here."""
    from assay.protocols.criticality.commands.display import toolchain_lines

    click.echo(toolchain_lines())


for _command in (adopt, check, decide, mcp, report):
    criticality.add_command(_command)

#: `assay build` is the same group of commands.
build = criticality
