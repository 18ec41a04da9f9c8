"""`assay debate`, and `crux`: authors argue from their own texts. Each command is loaded when it is named."""

from __future__ import annotations

import click

from assay.console.lazy import HELP, lazy_group
from llm_runtime.toml import own_table

#: What each command is for, and where it is.
COMMANDS = own_table(__name__, "commands.toml")


@click.group(
    cls=lazy_group(COMMANDS["debate"], default="debate"),
    context_settings=HELP,
    subcommand_metavar="TOPIC | COMMAND ...",
)
def debate() -> None:
    """Let authors argue from their own texts, down to what divides them and what would change their minds.

    \b
    assay debate "Should software decide who waits?" --personas maud-tarrowby,ilario-fennimast
    """
