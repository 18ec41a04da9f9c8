"""The types of a specification as a Python module: enums, errors, witnesses and records.

A witness of a newtype is a class that checks its constraints when a value is made: level
``runtime``. A record checks its constraints and invariants in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from criticality.languages.python.names import annotation, imports_for
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import DataModel, NewType, Spec, root_type
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import in_order

_SUBCLASSED = {"Int", "Decimal", "Float", "Text", "String", "Bytes", "List"}


def conditions(constraints: list[str], subject: str) -> Iterator[tuple[str, str]]:
    """Yield the Python condition and the words of each constraint that a value can be checked for by itself."""
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = rest.rstrip(")")
        match name:
            case "non_negative":
                yield f"{subject} >= 0", "must not be negative"
            case "positive":
                yield f"{subject} > 0", "must be positive"
            case "min":
                yield f"{subject} >= {number}", f"must be at least {number}"
            case "max":
                yield f"{subject} <= {number}", f"must be at most {number}"
            case "non_empty":
                yield f"len({subject}) > 0", "must not be empty"
            case "min_length":
                yield f"len({subject}) >= {number}", f"must have a length of at least {number}"
            case "max_length":
                yield f"len({subject}) <= {number}", f"must have a length of at most {number}"
            case "sorted":
                yield f"list({subject}) == sorted({subject})", "must be sorted ascending"
            case "distinct":
                yield f"len(set({subject})) == len({subject})", "must not repeat a value"
            case _:  # unique and immutable speak of more than one value; the record being frozen holds the latter
                continue


def type_source(spec: Spec, name: str) -> str:
    """Return the definition of one named type."""
    if name in spec.enums:
        members = "\n".join(f'    {member.upper()} = "{member}"' for member in spec.enums[name])
        return f'class {name}(Enum):\n    """One of the values below."""\n\n{members}\n'
    if name in spec.errors:
        return f'class {name}(Exception):\n    """{_sentence(spec.errors[name] or name)}"""\n'
    if name in spec.newtypes:
        return _witness(spec, name, spec.newtypes[name])
    return _record(name, spec.data_models[name])


def _sentence(text: str) -> str:
    flat = " ".join(text.replace("\\", "/").replace('"', "'").split())
    return flat if flat.endswith(".") else f"{flat}."


def _witness(spec: Spec, name: str, new: NewType) -> str:
    base = parse_type(new.base)
    if root_type(spec, new.base) not in _SUBCLASSED:
        return f'{name} = NewType("{name}", {annotation(base)})\n'
    words = [text for _, text in conditions(new.constraints, "value")]
    invariant = f" INVARIANT: {', '.join(words)} (witnessed when made)." if words else ""
    lines = [f"class {name}({annotation(base)}):", f'    """{_sentence(new.description or name)}{invariant}"""', ""]
    if base.name != "List":
        lines.append("    __slots__ = ()\n")
    if words:
        source = f"Iterable[{annotation(base.args[0])}]" if base.name == "List" else _accepted(spec, base)
        lines.append(f"    def __new__(cls, value: {source}) -> Self:")
        if base.name == "List":
            lines.append("        value = tuple(value)")
        for condition, text in conditions(new.constraints, "value"):
            lines += [f"        if not {condition}:", f'            raise ValueError("{name}: {text}")']
        lines.append("        return super().__new__(cls, value)")
    else:
        lines.append('    """The name alone tells it apart."""')
    return "\n".join(lines) + "\n"


def _accepted(spec: Spec, base: TypeRef) -> str:
    """Return what a witness is made from: the scalar, even where its base is another witness."""
    return annotation(TypeRef(root_type(spec, str(base)))) if not base.args else annotation(base)


def _record(name: str, model: DataModel) -> str:
    lines = ["@dataclass(frozen=True)", f"class {name}:", f'    """{_sentence(model.description or name)}"""', ""]
    lines += [f"    {field.name}: {annotation(parse_type(field.type))}" for field in model.fields]
    checks = [
        (condition, f"{name}.{field.name} {text}")
        for field in model.fields
        for condition, text in conditions(field.constraints, f"self.{field.name}")
    ]
    checks += [(_over_self(text, model), f"{name}: {_sentence(text)}") for text in model.invariants]
    if checks:
        lines += ["", "    def __post_init__(self) -> None:"]
        for condition, text in checks:
            lines += [f"        if not ({condition}):", f'            raise ValueError("{text}")']
    return "\n".join(lines) + "\n"


def _over_self(text: str, model: DataModel) -> str:
    """Return an invariant over fields as a condition over ``self``."""
    import ast

    fields = {field.name for field in model.fields}

    class OverSelf(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            if node.id in fields and isinstance(node.ctx, ast.Load):
                return ast.Attribute(ast.Name("self", ast.Load()), node.id, ast.Load())
            return node

    tree = ast.parse(parse_predicate(text, known=fields).code, mode="eval")
    return ast.unparse(ast.fix_missing_locations(OverSelf().visit(tree)))


def domain_source(spec: Spec) -> str:
    """Return the whole module ``domain``."""
    kinds = [parse_type(new.base) for new in spec.newtypes.values()]
    kinds += [parse_type(field.type) for model in spec.data_models.values() for field in model.fields]
    parts = [type_source(spec, name) for name in in_order(spec)]
    body = "\n\n".join(parts)
    imports = set(imports_for(kinds))
    for word, line in (
        ("@dataclass", "from dataclasses import dataclass"),
        ("(Enum)", "from enum import Enum"),
        ("NewType(", "from typing import NewType"),
        ("-> Self", "from typing import Self"),
        ("Iterable[", "from collections.abc import Iterable"),
    ):
        if word in body:
            imports.add(line)
    head = f'"""The types of {spec.system.name}, with what must hold of every value of them."""'
    return "\n".join([head, "", "from __future__ import annotations", "", *sorted(imports), "", "", body])
