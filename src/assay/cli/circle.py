"""`assay circle`, and `fire-circle`: prompts before a circle of models. Each command is loaded when it is named."""

from __future__ import annotations

import importlib
import sys
from typing import NoReturn

import click

#: What each command is for; the module ``assay.cli.circle_NAME`` holds it.
COMMANDS = {
    "evaluate": "Judge one prompt.",
    "study": "Judge a data set, and measure whether the dialogue helps.",
    "patterns": "List, search, export and import the patterns that circles found.",
    "report": "Write the report of a run or of a study again.",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return getattr(importlib.import_module(f"assay.cli.circle_{cmd_name}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def circle() -> None:
    """Judge a prompt by a circle of models in dialogue, and measure whether the dialogue helps.

    Several models judge alone, discuss what they saw, and one of them speaks for those who are absent. The highest
    alarm of all decides.
    """


def main() -> NoReturn:
    """Entry point of ``fire-circle``; exit codes as in ``docs/cli.md``."""
    from assay.cli import run

    sys.exit(run(circle))
