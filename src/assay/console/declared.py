"""Arguments and options of commands out of tables: a TOML file beside the commands, a table for each of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import click

from llm_runtime.toml import own_table

F = TypeVar("F", bound=Callable[..., Any])


class FiniteRange(click.FloatRange):
    """Numbers within bounds, without NaN, which no bound of click's holds back."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        return number if isfinite(number) else self.fail("must be a finite number", param, ctx)


def declared(package: str, file: str, command: str, **words: str) -> list[click.Parameter]:
    """Return what a table of a TOML file in a package declares, in its order.

    An entry is called as the parameter of the function. It has ``flags`` with blanks between, none for an argument;
    a ``type`` as click calls it, with its ``bounds``; and whatever else click takes. Its ``help`` may name ``words``.
    An entry that is a text stands for all entries of the table of that name, here or in ``assay/console/options.toml``.
    """
    parameters: list[click.Parameter] = []
    for name, told in _tables(package, file)[command].items():
        parameters += declared(package, file, told) if isinstance(told, str) else [_parameter(name, **told)]
    for option in parameters if words else ():
        if isinstance(option, click.Option) and option.help:
            option.help = option.help.format(**words)
    return parameters


@cache
def _tables(package: str, file: str) -> Any:
    return {**own_table(__package__ or "", "options.toml"), **own_table(package, file)}


def declares(package: str, file: str) -> Callable[[str], Callable[[F], F]]:
    """Return the decorator that gives a command what a table of a file declares (:func:`declared`)."""

    def of(command: str) -> Callable[[F], F]:
        def decorate(function: F) -> F:
            made: Any = function
            above = reversed(declared(package, file, command))
            made.__click_params__ = [*getattr(function, "__click_params__", []), *above]
            return function

        return decorate

    return of


Commands: TypeAlias = Callable[[str], Callable[[Callable[..., Any]], click.Command]]
"""What makes a function the command of a name."""


def commands(made: Commands, package: str, file: str) -> Commands:
    """Return the decorator that makes a function the command that ``made`` makes, as the table of its name has it."""
    of = declares(package, file)
    return lambda name: lambda function: made(name)(of(name)(function))


def _parameter(
    name: str, flags: str = "", type: str = "", bounds: tuple[Any, ...] = (), **told: Any
) -> click.Parameter:
    kinds = {"Path": partial(click.Path, path_type=Path), "FloatRange": FiniteRange}
    kind = (kinds.get(type) or getattr(click, type))(*bounds) if type else None
    if not flags:
        return click.Argument([name], type=kind, **told)
    return click.Option([*flags.split(), name], type=kind, **told)
