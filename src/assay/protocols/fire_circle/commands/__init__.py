"""`assay circle`, and `fire-circle`: prompts before a circle of models. Each command is loaded when it is named."""

from __future__ import annotations

import click

from assay.console.lazy import HELP, lazy_group
from llm_runtime.toml import own_table

#: What each command is for, and where it is.
COMMANDS = own_table(__name__, "commands.toml")


@click.group(cls=lazy_group(COMMANDS), context_settings=HELP)
def circle() -> None:
    """Judge a prompt by a circle of models in dialogue, and measure whether the dialogue helps.

    Several models judge alone, discuss what they saw, and one of them speaks for those who are absent. The highest
    alarm of all decides.
    """
