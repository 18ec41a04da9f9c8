"""`assay trial`, and `ai-crucible`: sealed puzzles on Inspect AI. Each command is loaded when it is named."""

from __future__ import annotations

import importlib

import click

#: What each command is for, and the module that holds it; ``assay.cli.MODULE`` has it under its own name.
COMMANDS = {
    "run": ("trial_run", "Let a model attempt puzzles k times each."),
    "probe": ("trial_probe", "Run the framings one after another and compare them, with intervals."),
    "report": ("trial_report", "Write the report on trials: HTML, Markdown or JSON."),
    "verify": ("trial_report", "Check the ledger, its signed head and the logs it speaks of."),
    "check": ("trial_puzzles", "Run each puzzle's gold, no-op and wrong solutions."),
    "new": ("trial_puzzles", "Write a small puzzle to start from."),
    "import": ("trial_puzzles", "Make puzzles of a checkout of programs, tests and fixed programs."),
    "catalog": ("trial_catalog", "List, show and graduate puzzles."),
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"assay.cli.{COMMANDS[cmd_name][0]}")
        return getattr(module, f"{cmd_name}_")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def trial() -> None:
    """Measure how reliably a model solves sealed puzzles.

    A model works in a locked box without a network; what it leaves behind is graded in a second box, which alone
    holds the answer. Trials run on Inspect AI and need bubblewrap.
    """
