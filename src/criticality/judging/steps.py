"""A class as one function of how it is made and what is called then: what came of each call, step by step.

Its plan takes :data:`CALLS` behind what makes one: records that name a method and hold its arguments, in fields that
methods share by the type. It gives a record for the beginning and for each call: an error's name, what is seen of the
object afterwards, and what the call returned. Each method is a function of the same module, with its own contract.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

from criticality.judging.served import Outcome, Raised, Returned
from criticality.lattice_plan import FunctionPlan
from criticality.spec.types import TypeRef
from llm_runtime.structs import Struct

#: The parameter that a class alone has.
CALLS = "calls_made"
#: What its type is called behind the class's own name.
CALL = "Call"


class CallMade(Struct):
    """One call of a method, or the first one: that of the class, which makes the object.

    Args:
        called: as it is written.
        function: the id of its plan.
        after: what came of it; nothing where that is not known.
    """

    called: str
    function: str
    plan: FunctionPlan
    args: tuple[Any, ...]
    after: Any = None

    @property
    def held(self) -> dict[str, Any]:
        """What it is given, by name."""
        return {p.name: value for p, value in zip(self.plan.parameters, self.args, strict=False)}

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        value = getattr(self.after, field_of("result", self.plan.result), None)
        return Raised(self.after.error, "") if self.after.error else Returned(value)


def calls_of(function: FunctionPlan) -> str:
    """Return the type of the calls of a class; empty where a function is none."""
    return next((p.type.args[0].name for p in function.parameters if p.name == CALLS), "")


def field_of(what: str, kind: TypeRef) -> str:
    """Return the field for values of a type: ``a0``, ``a1`` in a call, ``result`` in what comes of it."""
    return re.sub(r"\W+", "_", f"{what}_{kind}").strip("_").lower()


def calls_made(
    functions: Mapping[str, FunctionPlan], name: str, args: Sequence[Any], told: Sequence[Any] = ()
) -> list[CallMade]:  # fmt: skip
    """Return how an object of a class is made, and each call behind that.

    Args:
        told: what came of each, as far as it is known.
    """
    first, *others = told or repeat(None, len(args[-1]) + 1)
    made = [CallMade(calls_of(functions[name]).removesuffix(CALL), name, functions[name], tuple(args[:-1]), first)]
    for call, after in zip(args[-1], others, strict=False):
        plan = functions[f"{name}_{call.to.value}"]
        fields = (field_of(f"a{at}", p.type) for at, p in enumerate(plan.parameters))
        given = tuple(getattr(call, field) for field in fields)
        made.append(CallMade(call.to.value, f"{name}_{call.to.value}", plan, given, after))
    return made
