"""The transitions, read from ``transitions.toml`` (specification, section 9.4 "Transition Definitions"; CT3)."""

from __future__ import annotations

from collections.abc import Iterator

from llm_runtime.structs import Struct
from llm_runtime.toml import own_table


class Guard(Struct):
    """A condition on state and event; ``argument`` and ``guards`` are what it is about."""

    type: str
    argument: str = ""
    guards: tuple[Guard, ...] = ()


class Action(Struct):
    """A side effect that follows an advance; ``argument`` says on what."""

    type: str
    argument: str = ""


class Transition(Struct):
    """One row. ``source`` and ``target`` are ``phase.subState``, ``active`` (any), ``blocked`` or ``completed``."""

    source: str
    event: str
    target: str
    guard: Guard = Guard("always")
    actions: tuple[Action, ...] = ()


def _guard(text: str) -> Guard:
    if " and " in text:
        return Guard("and", guards=tuple(map(_guard, text.split(" and "))))
    name, _, argument = text.partition(" ")
    return Guard("not", guards=(_guard(argument),)) if name == "not" else Guard(name, argument)


def _rows() -> Iterator[Transition]:
    table = own_table("criticality.machine", "transitions.toml")
    for source, event, target, *more in table["rows"]:
        guard, follows = [*more, "", ""][:2]
        for name in ("CHANGE", "BLOCK", "BACK"):
            follows = follows.replace(name, table[name])
        actions = tuple(Action(name, on) for name, _, on in (one.partition(" ") for one in follows.split(", ") if one))
        for one in source.split(" or "):
            yield Transition(one, event, target, _guard(guard or "always"), actions)


#: In the order in which guards are tried.
TRANSITIONS: tuple[Transition, ...] = tuple(_rows())
#: What a person can choose where a build is blocked: id, words and where it leads.
WAYS_OUT: dict[str, list[dict[str, str]]] = own_table("criticality.machine", "ways_out.toml")
#: The auditors in their order: checks without a model first, then the five, then the architect's second look.
AUDITORS = (
    "checks", "temporal", "resource", "invariant", "precondition", "postcondition", "crossVerification",
)  # fmt: skip
