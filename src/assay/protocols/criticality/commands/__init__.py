"""`criticality` (also `crit` and `assay build`): from an interview to verified code, in a project's folder."""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, nullcontext
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.console.options import cap_options, caps_from, model_options, settings_from
from assay.protocols.criticality.commands.mcp import mcp
from assay.protocols.criticality.commands.report import report
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.console.live import LiveDisplay
    from criticality.human import Human
    from criticality.machine.states import ProtocolState
    from criticality.orchestrator import RunResult
    from llm_runtime.messages import Generate


F = TypeVar("F", bound=Callable[..., Any])


def _clock() -> int:
    return time.time_ns() // 1_000_000


def _root(folder: str) -> Path:
    return Path(folder).absolute()


folder_option = click.option("-C", "--dir", "folder", default=".", show_default=True, help="The project's folder.")
answers_option = click.option("--answers", metavar="PATH", help="A file of answers, in place of the keyboard.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
demo_option = click.option(
    "--demo", is_flag=True, help="Answer from the recorded demonstration: no model is asked."
)


def driving_options(command: F) -> F:
    """What every command takes that goes on with a project as it stands."""
    for option in (quiet_option, demo_option, cap_options, model_options, answers_option, folder_option):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def criticality() -> None:
    """Build a system from an interview: specification, contracts, tests, then code that passes them.

    \b
    criticality init till && cd till
    criticality run --answers answers.toml
    criticality status --watch
    """


@criticality.command()
@click.argument("name")
@click.option("-C", "--dir", "folder", help="Where to make it [default: a folder of its name].")
@click.option(
    "--language", default="python", show_default=True, help="What to write it in; see: criticality doctor."
)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="The project's seed; drawn where left out.")
def init(name: str, folder: str | None, language: str, seed: int | None) -> None:
    """Make a project called NAME."""
    from criticality import create_project

    root = Path(folder or name).absolute()
    drawn = secrets.randbelow(2**53) if seed is None else seed
    create_project(root, name, seed=drawn, clock=_clock, target=language)
    click.echo(f"made {root.name}; next: criticality run -C {folder or name}", err=True)


@criticality.command()
@driving_options
def run(folder: str, answers: str | None, demo: bool, quiet: bool, **flags: Any) -> int:
    """Go on until the project is done, blocked, or waits for you."""
    return _drive(_root(folder), answers, demo, quiet, flags)


@criticality.command()
@driving_options
def resume(folder: str, answers: str | None, demo: bool, quiet: bool, **flags: Any) -> int:
    """Go on where the project stood; no finished call is made again."""
    return _drive(_root(folder), answers, demo, quiet, flags)


@criticality.command()
@driving_options
def interview(folder: str, answers: str | None, demo: bool, quiet: bool, **flags: Any) -> int:
    """Answer the interview, up to the approved specification."""
    return _drive(_root(folder), answers, demo, quiet, flags, until_phase="lattice")


@criticality.command()
@folder_option
@click.argument("option", required=False)
@click.option("--text", default="", help="What you want to add.")
@model_options
@cap_options
@quiet_option
def resolve(folder: str, option: str | None, text: str, quiet: bool, **flags: Any) -> int:
    """Choose a way out of a block, and go on."""
    from assay.protocols.criticality.commands.people import Given
    from criticality import Resolution, read_project
    from criticality.machine.states import Blocked

    state = read_project(_root(folder))[0]
    if not isinstance(state, Blocked):
        raise ConfigurationError("the project is not blocked; see: criticality status")
    human = None if option is None else Given(resolution=Resolution(option=option, text=text))
    return _drive(_root(folder), None, False, quiet, flags, human=human)


@criticality.command()
@folder_option
@click.argument("decision", type=click.Choice(["approve", "revise", "reject", "conditional"]), default="approve")
@click.option("--feedback", default="", help="What to change; with revise.")
@click.option("--condition", "conditions", multiple=True, help="A condition; with conditional (repeatable).")
@model_options
@cap_options
@quiet_option
def approve(
    folder: str, decision: Any, feedback: str, conditions: tuple[str, ...], quiet: bool, **flags: Any
) -> int:
    """Say what becomes of the proposal, and go on."""
    from assay.protocols.criticality.commands.people import Given
    from criticality import Approval

    given = Approval(decision=decision, feedback=feedback, conditions=list(conditions))
    return _drive(_root(folder), None, False, quiet, flags, human=Given(approval=given))


@criticality.command()
@folder_option
@click.option("--watch", is_flag=True, help="Look again every second until it is done or blocked.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(folder: str, watch: bool, as_json: bool) -> None:
    """Show where the project stands."""
    from assay.protocols.criticality.commands.display import status_json, status_lines
    from criticality import read_project
    from criticality.machine.states import Active

    root, shown = _root(folder), ""
    while True:
        state, artifacts, ledger, telemetry = read_project(root)
        text = (
            status_json(state, artifacts, telemetry)
            if as_json
            else status_lines(state, artifacts, ledger, telemetry)
        )
        if text != shown:
            click.echo(text)
        if not watch or not isinstance(state, Active):
            return
        shown = text
        time.sleep(1.0)


@criticality.command("ledger")
@folder_option
@click.option("--all", "everything", is_flag=True, help="Also what no longer stands.")
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
    notifier = Notifier(root, load_config(root / CONFIG).notifications, _clock)
    click.echo("reminded" if asyncio.run(notifier.remind(state)) else "nothing is due", err=True)


@criticality.command()
def doctor() -> None:
    """Show which parts of the toolchain are here."""
    from assay.protocols.criticality.commands.display import toolchain_lines

    click.echo(toolchain_lines())


def _drive(
    root: Path,
    answers: str | None,
    demo: bool,
    quiet: bool,
    flags: dict[str, Any],
    *,
    human: Human | None = None,
    until_phase: str = "",
) -> int:
    from assay.console.live import LiveDisplay
    from assay.protocols.criticality.commands.display import outcome_line
    from assay.protocols.criticality.commands.watch import BuildWatch
    from criticality.project.files import require_project

    require_project(root)
    with nullcontext() if quiet else LiveDisplay(BuildWatch(root)) as display:
        result = asyncio.run(_run(root, answers, demo, flags, human, display, until_phase))
    click.echo(outcome_line(result, root))
    return {"completed": 0, "blocked": 1, "waiting": 0}[result.type]


async def _run(
    root: Path,
    answers: str | None,
    demo: bool,
    flags: dict[str, Any],
    human: Human | None,
    display: LiveDisplay | None,
    until: str,
) -> RunResult:
    from criticality import Orchestrator, load_config
    from criticality.notifications import Notifier
    from criticality.project.files import CONFIG
    from llm_runtime.events import silent

    async with AsyncExitStack() as stack:
        generate = await _model(stack, demo, flags)
        notify = Notifier(root, load_config(root / CONFIG).notifications, _clock)
        project = await stack.enter_async_context(
            Orchestrator(
                root,
                generate,
                human=human or _person(root, answers, demo, display),
                emit=display or silent,
                clock=_clock,
                notify=notify,
            )
        )
        return await project.run(until=(lambda state: _past(state, until)) if until else None)


def _past(state: ProtocolState, phase: str) -> bool:
    from criticality.machine.states import PHASES, Active

    return isinstance(state, Active) and PHASES.index(state.phase.phase) >= PHASES.index(phase)  # pyright: ignore[reportArgumentType]


async def _model(stack: AsyncExitStack, demo: bool, flags: dict[str, Any]) -> Generate:
    """The recorded model, or the user's own, reached at the first call that needs it."""
    if demo:
        from assay.demo import load

        return load("build").model(speed=0)
    from llm_runtime.gateway import Gateway

    settings = settings_from(flags["model"], flags["seats"], flags["max_tokens"])
    caps = caps_from(flags["budget"], flags["max_calls"], flags["deadline"])
    gateway = await stack.enter_async_context(Gateway(settings, caps=caps))
    return gateway.generate


def _person(root: Path, answers: str | None, demo: bool, display: LiveDisplay | None) -> Human:
    from importlib import resources

    from assay.protocols.criticality.commands.people import AtTerminal
    from assay.protocols.criticality.commands.watch import Undisturbed
    from criticality import AnswersFile, load_answers, read_project

    if demo and answers is None:
        answers = str(resources.files("assay.protocols.criticality.demo").joinpath("answers.toml"))
    if answers is None:
        person = AtTerminal(sys.stdin, sys.stderr, read_project(root)[1])
        return Undisturbed(person, display)
    folded = read_project(root)[1]
    return AnswersFile(
        load_answers(Path(answers)),
        approvals_given=len(folded.approvals) + len(folded.feedback),
        contradictions_answered=sum(
            1 for a in folded.answers if a.question.startswith(("contradiction:", "resolution:"))
        ),
        resolutions_given=sum(1 for b in folded.blocks if b.type == "criticality.human_responded"),
    )


criticality.add_command(mcp)
criticality.add_command(report)


def play(folder: Path, *, quiet: bool) -> int:
    """The recorded build in a new folder beside ``folder``, which is never overwritten; returns the exit code."""
    from assay.demo import load
    from criticality import create_project

    root = next(path for path in _free(folder.absolute()) if not path.exists())
    manifest = load("build").manifest
    create_project(root, manifest["project"]["name"], seed=manifest["seed"], clock=_clock)
    code = _drive(root, None, True, quiet, {})
    click.echo(
        f"Every answer was {manifest['origin']}; type checks and tests were real. It lies in {root}", err=True
    )
    return code


def _free(folder: Path) -> Iterator[Path]:
    yield folder
    yield from (folder.with_name(f"{folder.name}-{number}") for number in count(2))


#: `assay build` is the same group of commands.
build = criticality
