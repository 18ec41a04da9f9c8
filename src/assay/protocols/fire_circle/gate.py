"""`--fail-on`: a condition on a verdict that a build can stop at."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from llm_runtime.errors import ConfigurationError

_FORM = re.compile(r"\s*(F|T|I|patterns)\s*(>=|<=|>|<)\s*([0-9]{1,4}(?:\.[0-9]{1,6})?)\s*")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition; ``measure`` is F, T, I (0.0 to 1.0) or patterns (a count)."""

    measure: str
    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.bound:g}"

    def fires(self, values: dict[str, float]) -> bool:
        """Return whether the condition holds, and the build stops."""
        return _OPERATORS[self.sign](values[self.measure], self.bound)


def gate_of(text: str) -> Gate:
    """Read a condition: ``F>=0.7``, ``T<0.5``, ``I>0.8``, ``patterns>=2``: one measure, one sign, one number.

    Raises:
        ConfigurationError: it is something else, or can never be true or never be false.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ConfigurationError(
            f"--fail-on {text[:40]!r}: write a measure (F, T, I, patterns), >=, >, < or <=, and a number: F>=0.7"
        )
    gate = Gate(match[1], match[2], float(match[3]))
    if gate.measure == "patterns":
        if not gate.bound.is_integer():
            raise ConfigurationError(f"--fail-on {gate}: patterns are counted in whole numbers")
    elif gate.bound > 1:
        raise ConfigurationError(f"--fail-on {gate}: {gate.measure} is 0 to 1")
    return gate
