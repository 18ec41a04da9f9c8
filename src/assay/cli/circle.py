"""`assay circle`, and `fire-circle`: prompts before a circle of models. Each command is loaded when it is named."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from assay.cli.lazy import HELP, lazy_group

#: What each command is for; the module ``assay.cli.circle_NAME`` holds it.
COMMANDS = {
    "evaluate": "Judge one prompt.",
    "study": "Judge a data set, and measure whether the dialogue helps.",
    "patterns": "List, search, export and import the patterns that circles found.",
    "report": "Write the report of a run or of a study again.",
}


@click.group(cls=lazy_group(COMMANDS, "assay.cli.circle_"), context_settings=HELP)
def circle() -> None:
    """Judge a prompt by a circle of models in dialogue, and measure whether the dialogue helps.

    Several models judge alone, discuss what they saw, and one of them speaks for those who are absent. The highest
    alarm of all decides.
    """


def main() -> NoReturn:
    """Entry point of ``fire-circle``; exit codes as in ``docs/cli.md``."""
    from assay.cli import run

    sys.exit(run(circle))
