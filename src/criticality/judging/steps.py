"""A class as one function of how it is made and what is called then: what came of each call, step by step.

Its plan takes :data:`CALLS` behind what makes one: records that name a method and hold its arguments, in fields that
methods share. It gives a record for the beginning and for each call: an error's name, what is seen of the object
afterwards, and what the call returned. Each method is a function of the same module, with a contract of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from criticality.judging.served import Outcome, Raised, Returned
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import fields_of
from llm_runtime.structs import Struct

#: The parameter that a class alone has.
CALLS = "calls_made"
#: Fields before those of arguments, and before those of results.
_CALL, _AFTER = 1, 2


class CallMade(Struct):
    """One call of a method, or the first step: the object is made.

    Args:
        function: its id.
        before, after: what is seen of the object, by name; nothing is seen before it is made.
    """

    function: str
    args: tuple[Any, ...]
    outcome: Outcome
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def calls_of(function: FunctionPlan) -> str:
    """Return the type of the calls of a class; empty where a function is none."""
    return next((p.type.args[0].name for p in function.parameters if p.name == CALLS), "")


def is_class(function: FunctionPlan) -> bool:
    """Tell whether a function is a class."""
    return bool(calls_of(function))


def titled(function: FunctionPlan) -> str:
    """Return a class's own name."""
    return function.result.args[0].name.removesuffix("After")


def placed(kinds: Sequence[TypeRef], fields: Sequence[TypeRef]) -> list[int]:
    """Return for each of some types the next of the fields that is of it."""
    taken: list[int] = []
    for kind in kinds:
        taken.append(next(at for at, one in enumerate(fields) if one == kind and at not in taken))
    return taken


def fields_called(spec: Spec, whole: FunctionPlan, method: FunctionPlan) -> list[str]:
    """Return the fields of a call that hold a method's arguments."""
    fields = fields_of(spec, whole.parameters[-1].type.args[0].name)[_CALL:]
    return [fields[at][0] for at in placed([p.type for p in method.parameters], [kind for _, kind in fields])]


def field_returned(spec: Spec, whole: FunctionPlan, method: FunctionPlan) -> str:
    """Return the field that holds what a method returned; empty where that is nothing."""
    fields = fields_of(spec, whole.result.args[0].name)[_AFTER:]
    return next((name for name, kind in fields if method.result in (kind, *kind.args[:1])), "")


def steps(
    spec: Spec, functions: Mapping[str, FunctionPlan], name: str, args: Sequence[Any], told: Sequence[Any]
) -> Iterator[CallMade]:  # fmt: skip
    """Yield the steps of a class: how the object was made, then each call.

    Args:
        args: what makes the object, and the calls behind it.
        told: a record for the beginning and for each call.
    """
    whole, module = functions[name], name.partition(".")[0]
    seen = [vars(one.state) for one in told]
    yield CallMade(name, tuple(args[:-1]), Returned(None), {}, seen[0])
    for at, call in enumerate(args[-1], 1):
        method = f"{module}.{call.to.value}"
        plan, after = functions[method], told[at]
        held = tuple(getattr(call, field) for field in fields_called(spec, whole, plan))
        returned = field_returned(spec, whole, plan)
        outcome = Raised(after.error, "") if after.error else Returned(getattr(after, returned) if returned else None)
        yield CallMade(method, held, outcome, seen[at - 1], seen[at])
