"""The command line: `assay COMMAND`. Commands are loaded when they are named, so `--help` stays quick."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import click

from assay import __version__, registry
from assay.console.lazy import HELP, lazy_group
from assay.protocol import Protocol, load
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.garbage import collect_rarely
from llm_runtime.toml import own_table


def _of(*protocols: Protocol) -> dict[str, tuple[str, str]]:
    """Return the commands of protocols: what each is for, and where it is."""
    commands = (command for one in protocols for command in ((*one.command, one.command_about), *one.also))
    return {name: (about, place) for name, place, about in commands}


def _installed() -> dict[str, tuple[str, str]]:
    """Return the commands of protocols that others installed; to look for them is slower than all else."""
    return _of(*(one for name, one in registry.protocols().items() if name not in registry.OURS))


#: What each command is for, and where it is.
COMMANDS = {**_of(*map(registry.ours, registry.OURS)), **own_table(__name__, "commands.toml")}
SECTIONS = own_table(__name__, "sections.toml")


@click.group(cls=lazy_group(COMMANDS, more=_installed, sections=SECTIONS), context_settings=HELP)
@click.version_option(__version__, prog_name="assay")
def assay() -> None:
    """Put questions, prompts and models under structured adversarial pressure by several language models."""


def main() -> NoReturn:
    """Entry point of the console script. Exit codes: see ``docs/cli.md``."""
    collect_rarely()
    sys.exit(run(assay))


def __getattr__(name: str) -> Callable[[], NoReturn]:
    """Return the entry point of a script that runs one command alone: ``trial_main``."""
    command = name.removesuffix("_main")
    if command == name or command not in COMMANDS:
        raise AttributeError(name)

    def run_command() -> NoReturn:
        collect_rarely()
        sys.exit(run(load(COMMANDS[command][1])))

    return run_command


def _colour() -> bool | None:
    """Return what the environment says about colour; ``None`` leaves it to whether a terminal looks."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR", "0") not in ("", "0") else None


def _way_on(stop: BaseException) -> str:
    # What was under way says in the interruption how to go on.
    return " ".join(map(str, (stop.__cause__ or stop).args)) or "interrupted"


def run(command: click.Command) -> int:
    """Run a command; an error of ours becomes one line on stderr and its exit code."""
    try:
        outcome: object = command.main(standalone_mode=False, color=_colour())
        return outcome if isinstance(outcome, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        click.echo(_way_on(stop), err=True)
        return 130
    except LlmRuntimeError as error:
        click.echo(f"assay: {error.told}", err=True)
        return error.exit_code
    except OSError as error:
        click.echo(f"assay: {error.filename or 'input or output'}: {error.strerror}", err=True)
        return 2
    except ValueError:
        # A path may be of any bytes, a text may not: it is refused by whoever first keeps it or looks it up.
        if (given := " ".join(sys.argv[1:])).encode(errors="ignore").decode() == given:
            raise
        click.echo(f"assay: this is not UTF-8 text: {given!a}", err=True)
        return 2
    finally:
        if (telemetry := sys.modules.get("assay.launch.telemetry")) is not None:
            telemetry.flush()
