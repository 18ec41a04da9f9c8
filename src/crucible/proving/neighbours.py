"""Neighbours of a call: the same with one literal a little otherwise, to see what a fix does beside its own case."""

from __future__ import annotations

import ast
import re
from itertools import zip_longest
from typing import Any

from crucible.proving.records import Ran

#: So many are drawn; of so many that a change moves, a fix takes one back at the least.
_MOST, _ENOUGH = 20, 3
_LITERAL = re.compile(r"\b\d+(?:\.\d+)?\b|b?'(?:[^'\\]|\\.)*'|b?\"(?:[^\"\\]|\\.)*\"")


def neighbours(asked: str) -> list[str]:
    """Return an expression with other literals, one at a time, the nearest first."""
    spots = [*_LITERAL.finditer(asked)]
    rows = zip_longest(*(_others(ast.literal_eval(one[0])) for one in spots))
    drawn = ((spot, other) for row in rows for spot, other in zip(spots, row, strict=True))
    return [f"{asked[: spot.start()]}{other!r}{asked[spot.end() :]}" for spot, other in drawn][:_MOST]


def _others(value: Any) -> list[Any]:
    if isinstance(value, int | float):
        return [value + 1, value - 1, value * 2 or 3, -value or 2, value + 10]
    return [value[:-1], value * 2, value[1:], value[::-1], value.upper()]


def answers(ran: Ran, drawn: list[str]) -> dict[str, str]:
    """Return what tests of neighbours, called by their numbers, answered: the value without addresses, or the error."""
    told = {drawn[int(one.name.rpartition("_")[2])]: one.failure for one in ran.tests if one.failure}
    own = {asked: re.sub(r"0x\w+", "", fault.message) for asked, fault in told.items() if fault.kind == "assertion"}
    return {asked: fault.type for asked, fault in told.items()} | own


def swerving(base: dict[str, str], head: dict[str, str], fixed: dict[str, str]) -> str:
    """Return the neighbour that a fix makes something else of than there was; empty for none.

    It leaves alone what the change left alone, and takes more back than the one input of the witness.
    """
    moved = [one for one in base if base[one] != head.get(one)]
    still = [one for one in moved if fixed.get(one) == head.get(one)]
    strange = [one for one in base if base[one] == head.get(one) != fixed.get(one)]
    return next(iter([*strange, *(still if len(still) == len(moved) >= _ENOUGH else [])]), "")
