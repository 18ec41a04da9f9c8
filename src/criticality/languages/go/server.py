"""A Go program that serves bodies: how a function forwards, and the table of what there is to call."""

from __future__ import annotations

from criticality.language import Plan, Tree
from criticality.languages.base.data import texts
from criticality.languages.base.naming import pascal
from criticality.languages.go import domain, skeleton
from criticality.languages.go.names import constructor, failure, ident, kind, module, quoted
from criticality.languages.go.witnesses import checked
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec


def forward(spec: Spec, name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
    """Return statements that call the body of the variant that is served, and note the call."""
    arguments = ", ".join(ident(p.name) for p in function.parameters)
    header = skeleton.signature(spec, function).replace(f"func {pascal(function.name)}(", "func(", 1)
    bodies = ", ".join(pascal(one.name) for one in held)
    called = bodies if len(held) == 1 else f"[]{header}{{{bodies}}}[serving.Variant]"
    results = [] if function.result.name == "Unit" else [("made_0", kind(spec, function.result))]
    results += [("fault_0", "error")] if function.errors else []
    names = ", ".join(name for name, _ in results)
    lines = [f"var {name} {type_}" for name, type_ in results]
    lines += [f"serving.Traced({quoted(name)}, []any{{{arguments}}}, func() []any {{"]
    lines += [f"\t{names}{' = ' if names else ''}{called}({arguments})", f"\treturn []any{{{names}}}", "})"]
    return "\n".join([*lines, *([f"return {names}"] if names else [])])


def program(spec: Spec, plan: Plan) -> Tree:
    """Return the package ``serving``, and the main package with what there is: functions, types, errors."""
    path, types = module(spec), domain.domain_files(spec)
    decimals = ["domain.NewDecimal"] if "domain/decimal.go" in types else []
    listed = {
        "Functions: map[string]any": [
            f'"{m.name}.{f.name}": lib.{pascal(f.name)}' for m in plan for f in m.functions
        ],
        "Newtypes: []any": [*(f"domain.{constructor(name)}" for name in spec.newtypes), *decimals],
        "Records: []any": [f"domain.{constructor(name)}" for name in spec.data_models if checked(spec, name)],
        "Errors: map[string]error": [f'"{name}": domain.{failure(name)}' for name in spec.errors],
    }
    table = "".join(f"\t\t{head}{{{', '.join(items)}}},\n" for head, items in listed.items())
    known = f'\n\t"{path}/domain"' if "domain." in table else ""
    main = (
        f'package main\n\nimport (\n\tlib "{path}"{known}\n\t"{path}/serving"\n)\n\n'
        f"func main() {{\n\tserving.Serve(serving.Table{{\n{table}\t}})\n}}\n"
    )
    files = {f"serving/{name}": text for name, text in texts("criticality.languages.go", "serving").items()}
    return {"serve/main.go": main, **files}
