"""A group of commands of which none is loaded before it is named, so that `--help` stays quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from types import MappingProxyType
from typing import TypeAlias

import click

Commands: TypeAlias = Mapping[str, tuple[str, str]]
"""For each name what the command is for, in one line, and where it is, as ``"module:attribute"``."""

#: Context settings of every group: ``-h`` is ``--help``.
HELP = {"help_option_names": ["-h", "--help"]}


class ToldGroup(click.Group):
    """A group whose help says of each command a whole sentence, over as many lines as it takes."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
            formatter.write_dl([(name, one.get_short_help_str(1_000)) for name, one in named if one and not one.hidden])


def lazy_group(
    commands: Commands,
    default: str = "",
    more: Callable[[], Commands] = dict,
    sections: Mapping[str, tuple[str, ...]] = MappingProxyType({"Commands": ()}),
) -> type[click.Group]:
    """Make the class of a group that can list its commands without loading them.

    Args:
        commands: those that are known at once.
        default: the command that is meant where the first argument names none.
        more: looks for further ones; called only where the help lists them, or ``commands`` has not what is named.
        sections: the headings of the help, each with its commands; one without has all that no other names.
    """

    class LazyGroup(click.Group):
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            if default and args and args[0] not in commands and args[0] not in HELP["help_option_names"]:
                args = [default, *args]
            return super().parse_args(ctx, args)

        def list_commands(self, ctx: click.Context) -> list[str]:
            return list(_all())

        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
            known = commands if cmd_name in commands else more()
            return resolve_name(known[cmd_name][1]) if cmd_name in known else None

        def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            known = _all()
            others = tuple(name for name in known if not any(name in names for names in sections.values()))
            # One column for all, so that the eye goes down it.
            widest = max(map(len, known))
            for title, names in sections.items():
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(widest), known[name][0]) for name in names or others])

    def _all() -> Commands:
        return {**commands, **{name: one for name, one in more().items() if name not in commands}}

    return LazyGroup
