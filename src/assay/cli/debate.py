"""`assay debate`, and `crux`: authors argue from their own texts. Each command is loaded when it is named."""

from __future__ import annotations

import importlib

import click

#: What each command is for, and the module that holds it.
COMMANDS = {
    "debate": ("Hold a debate; `assay debate TOPIC` is the same.", "debate_run"),
    "personas": ("Import, build, show, check and list those who debate.", "debate_personas"),
    "cards": ("Print the crux cards of a debate.", "debate_read"),
    "map": ("Show who clashes with whom, and which cruxes come back over several debates.", "debate_read"),
    "fork": ("Hold a debate again with evidence read out, and compare the cards.", "debate_fork"),
    "bench": ("Measure a debate, the retrieval behind it, or how well a persona is predicted.", "debate_bench"),
    "export": ("Write a debate as JSON, Markdown, Argdown, AIF, CSV or HTML.", "debate_read"),
}


class _Commands(click.Group):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in COMMANDS and args[0] not in ("-h", "--help"):
            args = ["debate", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"assay.cli.{COMMANDS[cmd_name][1]}")
        return getattr(module, "map_" if cmd_name == "map" else cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (said, _) in COMMANDS.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="TOPIC | COMMAND ...",
)
def debate() -> None:
    """Let authors argue from their own texts, down to what divides them and what would change their minds.

    \b
    assay debate "Should software decide who waits?" --personas maud-tarrowby,ilario-fennimast
    """
