"""Programs that serve bodies: a planned function forwards to its body, so that calls among functions are seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from criticality.artifacts import Body
from criticality.language import Plan
from criticality.lattice_plan import FunctionPlan, ModulePlan

#: Writes the statements of a function that forwards: its id, the function, and those that hold its bodies.
Forward = Callable[[str, FunctionPlan, list[FunctionPlan]], str]


def forwarding(
    plan: Plan, variants: Sequence[Mapping[str, Body]], forward: Forward
) -> tuple[Plan, dict[str, Body]]:
    """Return a plan and bodies in which each function that has a body calls it by another name.

    Args:
        variants: bodies of the system, by number; where they are all the same, a function has but one.
    """
    served: dict[str, Body] = {}

    def parts(module: ModulePlan, function: FunctionPlan) -> list[FunctionPlan]:
        name = f"{module.name}.{function.name}"
        bodies = [variant[name] for variant in variants if name in variant]
        if len(bodies) < len(variants):
            return [function]
        if all(body == bodies[0] for body in bodies):
            bodies = bodies[:1]
        held = [
            function.model_copy(update={"name": f"{function.name}_body{number}"}) for number in range(len(bodies))
        ]
        for number, (one, body) in enumerate(zip(held, bodies, strict=True)):
            # What a transformation put before the function stands there once.
            body = (
                replace(body, declarations="") if number and body.declarations == bodies[0].declarations else body
            )
            served[f"{module.name}.{one.name}"] = body
        served[name] = Body(forward(name, function, held), "", "", 0)
        return [function, *held]

    changed = tuple(
        module.model_copy(update={"functions": [part for f in module.functions for part in parts(module, f)]})
        for module in plan
    )
    return changed, served
