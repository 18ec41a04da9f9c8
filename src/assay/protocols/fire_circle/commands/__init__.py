"""`assay circle`, and `fire-circle`: prompts before a circle of models. Each command is loaded when it is named."""

from __future__ import annotations

import click

from assay.console.lazy import HELP, lazy_group

#: What each command is for, and where it is.
COMMANDS = {
    "evaluate": ("Judge one prompt.", f"{__name__}.evaluate:evaluate"),
    "gate": ("Judge a suite of prompts or answers in a build, with a lock.", f"{__name__}.gate:gate"),
    "study": ("Judge a data set, and measure whether the dialogue helps.", f"{__name__}.study:study"),
    "patterns": (
        "List, search, export and import the patterns that circles found.",
        f"{__name__}.patterns:patterns",
    ),
    "guard": ("Print the bounds that a guard has earned in a study.", f"{__name__}.guard:guard"),
    "report": ("Write the report of a run or of a study again.", f"{__name__}.report:report"),
}


@click.group(cls=lazy_group(COMMANDS), context_settings=HELP)
def circle() -> None:
    """Judge a prompt by a circle of models in dialogue, and measure whether the dialogue helps.

    Several models judge alone, discuss what they saw, and one of them speaks for those who are absent. The highest
    alarm of all decides.
    """
