"""A Java program that serves bodies: how a function forwards, and the table of what there is to call."""

from __future__ import annotations

import json

from criticality.language import Plan, Tree
from criticality.languages.base.data import texts
from criticality.languages.java.names import ident, module_class, package
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec


def forward(name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
    """Return statements that call the body of the variant that is served, and note the call."""
    names = [ident(p.name) for p in function.parameters]
    unit = function.result.name == "Unit"
    bodies = [f"{ident(one.name)}({', '.join(names)})" for one in held]
    if len(bodies) > 1:
        cases = [f"case {number} -> {body};" for number, body in enumerate(bodies[:-1])]
        bodies = [f"switch (serving.Serving.variant) {{ {' '.join(cases)} default -> {bodies[-1]}; }}"]
    call = f"{{ {bodies[0]}; return null; }}" if unit else bodies[0]
    traced = f"serving.Serving.traced({', '.join([json.dumps(name), f'() -> {call}', *names])});"
    return traced if unit else f"return {traced}"


def program(spec: Spec, plan: Plan) -> Tree:
    """Return the package ``serving``, and the class that says which functions and newtypes there are."""
    base = package(spec)
    functions = [
        f"Map.entry({json.dumps(f'{m.name}.{f.name}')}, "
        f"Serving.method({base}.{module_class(m.name)}.class, {json.dumps(ident(f.name))}))"
        for m in plan
        for f in m.functions
    ]
    newtypes = ", ".join(f"{base}.domain.{name}.class" for name in spec.newtypes)
    table = f"Map.ofEntries({', '.join(functions)})"
    main = (
        "package serving;\n\nimport java.util.Map;\nimport java.util.Set;\n\nfinal class Main {\n"
        "    public static void main(String[] arguments) throws Exception {\n"
        f"        Serving.serve(arguments, {table}, Set.of({newtypes}));\n    }}\n}}\n"
    )
    files = texts("criticality.languages.java", "serving").items()
    return {f"src/main/java/serving/{name}": text for name, text in files} | {
        "src/main/java/serving/Main.java": main
    }
