"""A TypeScript program that serves bodies: how a function forwards, and the forms of its types on the wire."""

from __future__ import annotations

import json

from criticality.language import Plan, Tree
from criticality.languages.base.data import texts
from criticality.languages.base.naming import camel
from criticality.languages.typescript.names import identifier
from criticality.lattice_plan import FunctionPlan
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type

_FORMS = {
    "Int": "integer", "Float": "float", "Text": "text", "String": "text", "Bool": "truth", "Bytes": "bytes",
    "UUID": "text", "Date": "day", "Timestamp": "moment", "Unit": "nothing",
    "Decimal": "decimal((digits) => new domain.Decimal(digits))",
}  # fmt: skip


def forward(name: str, function: FunctionPlan, held: list[FunctionPlan]) -> str:
    """Return statements that call the body of the variant that is served, and note the call."""
    arguments = ", ".join(identifier(p.name) for p in function.parameters)
    bodies = ", ".join(identifier(one.name) for one in held)
    called = bodies if len(held) == 1 else f"[{bodies}][$variant]!"
    return f"return $traced({json.dumps(name)}, [{arguments}], () => {called}({arguments}));"


def program(spec: Spec, plan: Plan) -> Tree:
    """Return the server, and the module that says which functions and types there are."""
    types = [f"const {name} = wire.text;" for name in spec.enums]
    types += [
        f"const {name} = wire.made(domain.{name}, () => {_form(spec, parse_type(new.base))});"
        for name, new in spec.newtypes.items()
    ]
    for name, model in spec.data_models.items():
        fields = ", ".join(f"{camel(f.name)}: {_form(spec, parse_type(f.type))}" for f in model.fields)
        types.append(f"const {name} = wire.made(domain.{name}, () => wire.record(() => ({{ {fields} }})));")
    functions = [
        f"  {json.dumps(f'{m.name}.{f.name}')}: {{ call: {camel(m.name)}_.{identifier(f.name)}, "
        f"parameters: [{', '.join(_form(spec, p.type) for p in f.parameters)}], result: {_form(spec, f.result)} }},"
        for m in plan
        for f in m.functions
    ]
    lines = ['import * as wire from "./codec.js";', 'import * as domain from "./domain.js";']
    lines += [f'import * as {camel(m.name)}_ from "./{m.name}.js";' for m in plan]
    lines += ['import { serve } from "./serving.js";', *types, "serve({", *functions, "});", ""]
    files = texts("criticality.languages.typescript", "serving").items()
    return {"src/serve.ts": "\n".join(lines)} | {f"src/{path}": text for path, text in files}


def _form(spec: Spec, kind: TypeRef) -> str:
    """Return the form of a type; named types are looked up when they are used, since they may need each other."""
    args = [_form(spec, arg) for arg in kind.args]
    if kind.name == "Result":
        return args[0]
    if args:
        return f"wire.{kind.name.lower()}({', '.join(args)})"
    return f"wire.{_FORMS[kind.name]}" if kind.name in _FORMS else kind.name
