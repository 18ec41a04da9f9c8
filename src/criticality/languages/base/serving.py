"""Programs that serve bodies: a planned function forwards to its body, so that calls among functions are seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from criticality.artifacts import Body
from criticality.judging.building import marked
from criticality.language import Plan
from criticality.lattice_plan import FunctionPlan, ModulePlan

#: Writes the statements of a function that forwards: its id, the function, and what it calls in each variant, or
#: the one that it calls in all of them.
Forward = Callable[[str, FunctionPlan, list[FunctionPlan]], str]


def forwarding(plan: Plan, variants: Sequence[Mapping[str, Body]], forward: Forward) -> tuple[Plan, dict[str, Body]]:
    """Return a plan and bodies in which each function that has a body calls it by another name.

    Args:
        variants: bodies of the system, by number; one without a body of a function calls what is still to do.
    """
    served: dict[str, Body] = {}

    def parts(module: ModulePlan, function: FunctionPlan) -> list[FunctionPlan]:
        name = f"{module.name}.{function.name}"
        bodies = [variant.get(name) for variant in variants]
        if not any(bodies):
            return [function]
        held: dict[str | None, FunctionPlan] = {}
        seen: set[str] = set()
        for number, body in enumerate(bodies):
            text = body.text if body else None
            if text not in held:
                held[text] = function.model_copy(update={"name": f"{function.name}_body{number}"})
                if body is not None:
                    # What a transformation put before the function stands there once.
                    before = "" if body.declarations in seen else body.declarations
                    seen.add(before)
                    own = replace(body, text=marked(body.text, number), declarations=before)
                    served[f"{module.name}.{held[text].name}"] = own
        called = [held[body.text if body else None] for body in bodies]
        served[name] = Body(forward(name, function, called[:1] if len(held) == 1 else called), "", "", 0)
        return [function, *held.values()]

    changed = tuple(
        module.model_copy(update={"functions": [part for f in module.functions for part in parts(module, f)]})
        for module in plan
    )
    return changed, served
