"""The types of a specification as a Go package: enums, errors, newtypes and records with their constructors.

A newtype is a struct around its value (verification level ``runtime``): only its constructor makes one, and
returns an error where a constraint does not hold. So does that of a record with constraints or invariants, whose
fields are read by methods.
"""

from __future__ import annotations

import re

from criticality.languages.base.data import read_text
from criticality.languages.base.expressions import Scope, condition
from criticality.languages.base.naming import pascal
from criticality.languages.go.expressions import Renderer, fields_of
from criticality.languages.go.names import constructor, failure, ident, kind, member, quoted, with_imports
from criticality.languages.go.witnesses import checked, conditions, field_checks
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import constraints_of, every_type, reached, root, signature_types

_HELPER = re.compile(
    r"\b(pick|same|compare|must|at|part|within|distinct|sortedBy|itself|least|greatest|sum|every|some|each|where|flat)\(|\bitself\b"
)


def domain_files(spec: Spec) -> dict[str, str]:
    """Return the package ``domain``."""
    parts = [type_source(spec, name) for name in spec.named_types()]
    if any("ErrInvalid" in part for part in parts):
        parts.insert(0, _INVALID)
    code = "\n".join(parts)
    head = f"// Package domain has the types of {spec.system.name}, and what must hold of every value of them.\n"
    files = {
        "domain/domain.go": with_imports(f"{head}package domain\n", code),
        "domain/tuples.go": read_text("criticality.languages.go", "support", "tuples.go"),
    }
    if re.search(r"\bDecimal\b", code) or any(
        "Decimal" in type_.names() for type_ in [*signature_types(spec), *every_type(spec)]
    ):
        files["domain/decimal.go"] = read_text("criticality.languages.go", "support", "decimal.go")
    if _HELPER.search(code):
        files["domain/values.go"] = values_source("domain")
    return files


def values_source(package: str) -> str:
    """Operations on values that the language has no expression for, in a package of that name."""
    text = read_text("criticality.languages.go", "support", "values.go").replace(
        "package values", f"package {package}", 1
    )
    if package == "domain":
        return text
    return re.sub(r"\b(Tuple2)\b", r"domain.\1", text)


_INVALID = (
    "// ErrInvalid is wrapped by what a constructor returns for a value that breaks a constraint.\n"
    'var ErrInvalid = errors.New("invalid value")\n'
)


def type_source(spec: Spec, name: str) -> str:
    """Return the definition of one named type."""
    if name in spec.enums:
        return _enum(spec, name)
    if name in spec.errors:
        text = _flat(spec.errors[name] or name).rstrip(".")
        words = quoted(text[:1].lower() + text[1:])
        return (
            f"// {failure(name)}: {_flat(spec.errors[name] or name)}.\nvar {failure(name)} = errors.New({words})\n"
        )
    if name in spec.newtypes:
        return _newtype(spec, name)
    return _record(spec, name)


def _flat(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _enum(spec: Spec, name: str) -> str:
    constants = _aligned([(member(name, m), f"{name} = {quoted(m)}") for m in spec.enums[name]])
    lead = f"// {name} is one of the values below.\ntype {name} string\n\n"
    return f"{lead}// The values of {name}.\nconst (\n{constants}\n)\n"


def _aligned(pairs: list[tuple[str, str]]) -> str:
    """Return lines of a group, in columns as gofmt has them."""
    width = max(len(first) for first, _ in pairs)
    return "\n".join(f"\t{first.ljust(width)} {second}" for first, second in pairs)


def _newtype(spec: Spec, name: str) -> str:
    base = root(spec, TypeRef(name))
    inner, checks = kind(spec, base, prefix=""), list(conditions(constraints_of(spec, name), "value", base))
    invariant = f" INVARIANT: {', '.join(words for _, words in checks)} (witnessed when made)." if checks else ""
    lines = [
        f"// {name}: {_flat(spec.newtypes[name].description or name)}.{invariant}",
        f"type {name} struct{{ value {inner} }}",
        "",
    ]
    if checks:
        lines += [f"// {constructor(name)} makes one, or returns an error where the invariant does not hold."]
        lines += [f"func {constructor(name)}(value {inner}) ({name}, error) {{"]
        for test, words in checks:
            lines += [f"\tif !({test}) {{", f"\t\treturn {name}{{}}, {_invalid(f'{name} {words}')}", "\t}"]
        lines += [f"\treturn {name}{{{_copied(base)}}}, nil", "}", ""]
    else:
        lines += [f"// {constructor(name)} makes one.", f"func {constructor(name)}(value {inner}) {name} {{"]
        lines += [f"\treturn {name}{{{_copied(base)}}}", "}", ""]
    lines += [
        "// Value is what it holds.",
        f"func (v {name}) Value() {inner} {{",
        f"\treturn {_copied(base, 'v.value')}",
    ]
    lines += ["}", "", "// String is what it holds, as text.", f"func (v {name}) String() string {{"]
    lines += ["\treturn fmt.Sprint(v.value)", "}", ""]
    return "\n".join(lines)


def _copied(base: TypeRef, value: str = "value") -> str:
    """Return a value that nobody else can change."""
    match base.name:
        case "List" | "Bytes":
            return f"slices.Clone({value})"
        case "Set" | "Map":
            return f"maps.Clone({value})"
        case _:
            return value


def _invalid(words: str) -> str:
    return f'fmt.Errorf("%w: %s", ErrInvalid, {quoted(words)})'


def _record(spec: Spec, name: str) -> str:
    model, types = spec.data_models[name], fields_of(spec, name)
    lead = f"// {name}: {_flat(model.description or name)}."
    if not checked(spec, name):
        fields = _aligned([(pascal(f), kind(spec, t, prefix="")) for f, t in types.items()])
        return f"{lead}\ntype {name} struct {{\n{fields}\n}}\n"
    checks = _checks(spec, name)
    invariants = ", ".join(words.removeprefix(f"{name} ").removeprefix(f"{name}.") for _, words in checks)
    lines = [f"{lead} INVARIANT: {invariants} (witnessed when made).", f"type {name} struct {{"]
    lines.append(_aligned([(ident(f), kind(spec, t, prefix="")) for f, t in types.items()]))
    lines += ["}", "", f"// {constructor(name)} makes one, or returns an error where the invariant does not hold."]
    parameters = ", ".join(f"{ident(f)} {kind(spec, t, prefix='')}" for f, t in types.items())
    lines += [f"func {constructor(name)}({parameters}) ({name}, error) {{"]
    for test, words in checks:
        lines += [f"\tif !({test}) {{", f"\t\treturn {name}{{}}, {_invalid(words)}", "\t}"]
    lines += [f"\treturn {name}{{{', '.join(f'{ident(f)}: {ident(f)}' for f in types)}}}, nil", "}", ""]
    for f, t in types.items():
        lines += [f"// {pascal(f)} is its {f.replace('_', ' ')}."]
        lines += [f"func (v {name}) {pascal(f)}() {kind(spec, t, prefix='')} {{ return v.{ident(f)} }}", ""]
    return "\n".join(lines)


def _checks(spec: Spec, name: str) -> list[tuple[str, str]]:
    """Conditions over the fields of a record by their names, with their words."""
    checks: list[tuple[str, str]] = []
    for field, type_, constraint in field_checks(spec, name):
        subject = f"{ident(field)}.Value()" if type_.name in spec.newtypes else ident(field)
        checks += [
            (c, f"{name}.{field} {words}") for c, words in conditions([constraint], subject, root(spec, type_))
        ]
    types = fields_of(spec, name)
    for text in spec.data_models[name].invariants:
        code = parse_predicate(text, known=set(types)).code
        read = condition(code, Scope(spec, types))
        checks.append((Renderer(spec, prefix="").render(read), f"{name} keeps {text}"))
    return checks


def type_definitions(spec: Spec, kinds: list[TypeRef], extra: set[str]) -> str:
    """Return every named type that the given ones are made of, and the extra ones, in the order of the package."""
    names = reached(spec, (name for type_ in kinds for name in type_.names()), extra)
    return "\n".join(type_source(spec, name) for name in spec.named_types() if name in names)
