"""`--fail-on`: conditions on a verdict that a build can stop at, and which of two sets of them are weaker."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.prompt_guard import shortfalls as shortfalls
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

COMPLETE = "complete"
"""The gate beside every other one: all seats gave their scores to the end."""

_COUNTS = ("patterns", "security", "hidden")
_FORM = re.compile(r"\s*(F|T|I|patterns|security|hidden)\s*(>=|<=|>|<)\s*([0-9]{1,4}(?:\.[0-9]{1,6})?)\s*")
_OPERATORS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


class Gate(Struct):
    """One condition; ``measure`` is F, T, I (0.0 to 1.0), patterns, security or hidden (counts)."""

    measure: str
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.bound:g}"

    def fires(self, values: Mapping[str, float]) -> bool:
        """Return whether the condition holds, and the build stops."""
        return _OPERATORS[self.sign](values[self.measure], self.bound)

    def implies(self, other: Gate) -> bool:
        """Return whether ``other`` fires wherever this one does."""
        if (self.measure, self.sign[0]) != (other.measure, other.sign[0]):
            return False
        further = self.bound - other.bound if self.sign[0] == ">" else other.bound - self.bound
        return further > 0 or (further == 0 and (self.sign == other.sign or len(other.sign) == 2))


def gate_of(text: str) -> Gate:
    """Read a condition: ``F>=0.7``, ``T<0.5``, ``I>0.8``, ``patterns>=2``: one measure, one sign, one number.

    Raises:
        ConfigurationError: it is something else, or can never hold.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ConfigurationError(
            f"--fail-on {text[:40]!r}: write a measure (F, T, I, patterns, security, hidden), >=, >, < or "
            "<=, and a number: F>=0.7"
        )
    gate = Gate(match[1], match[2], float(match[3]))
    if gate.measure in _COUNTS:
        if not gate.bound.is_integer():
            raise ConfigurationError(f"--fail-on {gate}: {gate.measure} is counted in whole numbers")
    elif gate.bound > 1:
        raise ConfigurationError(f"--fail-on {gate}: {gate.measure} is 0 to 1")
    if (gate.sign == "<" and gate.bound == 0) or (gate.sign == ">" and gate.bound == 1 and gate.measure not in _COUNTS):
        raise ConfigurationError(f"--fail-on {gate} can never hold; choose another number")
    return gate


class Conditions(Struct):
    """What stops a build: any of the gates, or a circle that was not complete, where that may not pass."""

    gates: tuple[Gate, ...]
    allow_partial: bool = False

    def weaker_than(self, other: Conditions) -> list[str]:
        """Return what stopped a build by ``other`` and does not any more, a few words each."""
        lost = [f"{gate} is gone" for gate in other.gates if not any(gate.implies(own) for own in self.gates)]
        return [*lost, *(["--allow-partial"] if self.allow_partial and not other.allow_partial else [])]

    def fired(self, values: Mapping[str, float], lacking: Iterable[str]) -> dict[str, str]:
        """Return the gates that stop the build, each with what happened; without any, nothing stops it.

        Args:
            values: by measure.
            lacking: why the circle was not complete, one line each.
        """
        shown = f"F {values['F']:g}, {values['patterns']:g} patterns"
        fired = {str(gate): f"holds: {shown}" for gate in self.gates if gate.fires(values)}
        if self.gates and not self.allow_partial and (why := "; ".join(lacking)):
            fired[COMPLETE] = f"fails: {why} (--allow-partial lets it pass)"
        return fired


def check_gates(gates: Iterable[Gate], mode: str, max_rounds: int) -> None:
    """Refuse gates about patterns where none can be named.

    Raises:
        ConfigurationError: one is.
    """
    if mode == "fire_circle" and max_rounds > 1:
        return
    where = "a circle of one round" if mode == "fire_circle" else f"mode {mode}"
    for gate in gates:
        if gate.measure in ("patterns", "security"):
            raise ConfigurationError(
                f"--fail-on {gate}: {where} names no patterns; leave it out, or let a circle talk for two rounds"
            )


def with_usual(gates: Iterable[Gate], mode: str, max_rounds: int) -> tuple[Gate, ...]:
    """Return gates, and beside them that of agreed patterns of a security kind, where none is about those."""
    named = tuple(dict.fromkeys(gates))
    talks = mode == "fire_circle" and max_rounds > 1 and not BEHAVIOUR.before(4)
    own = any(gate.measure == "security" for gate in named)
    return named if own or not named or not talks else (*named, Gate("security", ">=", 1.0))
