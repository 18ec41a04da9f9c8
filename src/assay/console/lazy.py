"""A group of commands of which none is loaded before it is named, so that `--help` stays quick."""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name

import click

#: Context settings of every group: ``-h`` is ``--help``.
HELP = {"help_option_names": ["-h", "--help"]}


def lazy_group(commands: Mapping[str, tuple[str, str]], default: str = "") -> type[click.Group]:
    """Make the class of a group that can list its commands without loading them.

    Args:
        commands: for each name what the command is for, in one line, and where it is, as ``"module:attribute"``.
        default: the command that is meant where the first argument names none.
    """

    class LazyGroup(click.Group):
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            if default and args and args[0] not in commands and args[0] not in HELP["help_option_names"]:
                args = [default, *args]
            return super().parse_args(ctx, args)

        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(commands)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            return resolve_name(commands[cmd_name][1]) if cmd_name in commands else None

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            with formatter.section("Commands"):
                formatter.write_dl([(name, about) for name, (about, _) in commands.items()])

    return LazyGroup
