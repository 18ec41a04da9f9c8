"""Tests of ``COMPLEXITY`` clauses: the steps that a function takes, counted at growing sizes (CT16)."""

from __future__ import annotations

import re

from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type

#: The power of n that each class stays below; exponential growth is not measured.
DEGREES = {"1": 0, "log n": 0, "n": 1, "n log n": 1, "n^2": 2, "n^3": 3}
#: A class in words, as claims name it.
PROMISED = re.compile(r"O\((1|log n|n|n log n|n\^2|n\^3)\)")
_SIZE = re.compile(r"COMPLEXITY: O\(.+\) where n = (len\((\w+)\)|(\w+))\Z")
_FREE = {"non_negative", "positive", "non_empty", "min", "min_length"}


def growth_test(spec: Spec, function: FunctionPlan, opening: str) -> str | None:
    """Return the code of a test; ``None`` where the clause names no parameter that can be as large as is wanted.

    Args:
        opening: decorators, header and documentation of a test that draws every parameter.
    """
    line = next((line for line in function.contract.lines if line.startswith("COMPLEXITY:")), "")
    degree, match = DEGREES.get(function.contract.complexity or ""), _SIZE.match(line)
    if degree is None or match is None:
        return None
    name = match[2] or match[3]
    kind = next((param.type for param in function.parameters if param.name == name), None)
    wanted = {"List", "Text", "String"} if match[2] else {"Int"}
    if kind is None or _root(spec, kind) not in wanted:
        return None
    arguments = ", ".join(f"sized({p.name}, n)" if p.name == name else p.name for p in function.parameters)
    given = ", ".join(param.name for param in function.parameters)
    guard = f"    assume(len({name}) > 0)\n" if match[2] else ""
    return (
        f"{opening}    call({function.name}, {given})\n{guard}"
        f"    grows({line!r}, {degree}, lambda n: call({function.name}, {arguments}))\n"
    )


def _root(spec: Spec, kind: TypeRef) -> str:
    """Return the built-in type below a named one; empty where a constraint bounds its size."""
    while kind.name in spec.newtypes:
        new = spec.newtypes[kind.name]
        if any(constraint.partition("(")[0] not in _FREE for constraint in new.constraints):
            return ""
        kind = parse_type(new.base)
    return kind.name
