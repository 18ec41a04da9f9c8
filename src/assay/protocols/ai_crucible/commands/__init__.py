"""`assay trial`, and `ai-crucible`: sealed puzzles on Inspect AI. Each command is loaded when it is named."""

from __future__ import annotations

import click

from assay.console.lazy import HELP, lazy_group
from llm_runtime.toml import own_table

#: What each command is for, and where it is.
COMMANDS = own_table(__name__, "commands.toml")


@click.group(cls=lazy_group(COMMANDS), context_settings=HELP)
def trial() -> None:
    """Measure how reliably a model solves sealed puzzles.

    A model works in a locked box without a network; what it leaves behind is graded in a second box, which alone
    holds the answer. Trials run on Inspect AI and need a sandbox (bubblewrap, podman or docker).
    """
