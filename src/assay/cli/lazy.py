"""A group of commands of which none is loaded before it is named, so that `--help` stays quick."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click

#: Context settings of every group: ``-h`` is ``--help``.
HELP = {"help_option_names": ["-h", "--help"]}


def lazy_group(about: Mapping[str, str], prefix: str) -> type[click.Group]:
    """The class of a group that knows what its commands are for without loading them.

    Args:
        about: what each command is for, in one line.
        prefix: what stands before a command's name in its module's name: ``"assay.cli.circle_"``.
    """

    class LazyGroup(click.Group):
        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(about)

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            if cmd_name not in about:
                return None
            return getattr(importlib.import_module(f"{prefix}{cmd_name}"), cmd_name)

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            with formatter.section("Commands"):
                formatter.write_dl(list(about.items()))

    return LazyGroup
