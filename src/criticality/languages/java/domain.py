"""The types of a specification in Java: enums, exceptions, records whose compact constructors witness them.

A witness (verification level ``runtime``) is a record that refuses to be made where a constraint is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from criticality.languages.base.data import read_text
from criticality.languages.base.expressions import Scope, condition
from criticality.languages.java.expressions import Renderer
from criticality.languages.java.names import IMPORTED, ident, java_file, kind, member, package, quoted
from criticality.spec.predicates import parse_predicate
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import constraints_of, reached, root

_LISTED = {"List": "List", "Bytes": "List", "Set": "Set", "Map": "Map"}
_HELPER = re.compile(
    r"(?<![\w.])(same|compare|at|part|within|distinct|sortedBy|least|greatest|sum\w*|every|some|each|where)\("
)


def domain_files(spec: Spec) -> dict[str, str]:
    """Return the package ``domain``: a file for each type."""
    base, name = f"src/main/java/{package(spec)}/domain", f"{package(spec)}.domain"
    parts = {type_: type_source(spec, type_) for type_ in spec.named_types()}
    helped = any(_HELPER.search(source) for source in parts.values())
    files: dict[str, str] = {}
    for type_, source in parts.items():
        static = [f"static {name}.Values.*"] if _HELPER.search(source) else []
        files[f"{base}/{type_}.java"] = java_file(name, source, [*IMPORTED, *static])
    for count in (2, 3, 4):
        files[f"{base}/Tuple{count}.java"] = java_file(name, _tuple(count), [])
    return files | ({f"{base}/Values.java": values_source(name)} if helped else {})


def _tuple(count: int) -> str:
    letters = "ABCD"[:count]
    fields = ", ".join(f"{letter} item{place}" for place, letter in enumerate(letters, start=1))
    head = f"/** {count} values that belong together. */\npublic record Tuple{count}"
    return f"{head}<{', '.join(letters)}>({fields}) {{}}\n"


def values_source(package_name: str) -> str:
    """Operations on values that the language has no expression for, in a package of that name."""
    text = read_text("criticality.languages.java", "support", "Values.java").replace(
        "package values;", f"package {package_name};", 1
    )
    return (
        text
        if package_name.endswith(".domain")
        else text.replace("import java", f"import {package_name}.domain.Tuple2;\nimport java", 1)
    )


def type_source(spec: Spec, name: str) -> str:
    """Return the definition of one named type."""
    if name in spec.enums:
        members = ",\n".join(f"    {member(m)}({quoted(m)})" for m in spec.enums[name])
        return (
            f"/** One of the values below. */\npublic enum {name} {{\n{members};\n\n"
            "    private final String text;\n\n"
            f"    {name}(String text) {{\n        this.text = text;\n    }}\n\n"
            "    /** The value as the specification spells it. */\n"
            "    public String text() {\n        return text;\n    }\n}\n"
        )
    if name in spec.errors:
        words = _flat(spec.errors[name] or name)
        return (
            f"/** {words}. */\npublic final class {name} extends RuntimeException {{\n"
            "    private static final long serialVersionUID = 1L;\n\n"
            f"    public {name}() {{\n        super({quoted(words)});\n    }}\n}}\n"
        )
    if name in spec.newtypes:
        base = root(spec, TypeRef(name))
        checks = [(c, f"{name} {w}") for c, w in conditions(constraints_of(spec, name), "value", base)]
        return _record(name, _flat(spec.newtypes[name].description or name), {"value": base}, checks)
    model = spec.data_models[name]
    types = {field.name: parse_type(field.type) for field in model.fields}
    return _record(name, _flat(model.description or name), types, list(_record_checks(spec, name, types)))


def _flat(text: str) -> str:
    return " ".join(text.replace("*/", "* /").split()).rstrip(".")


def _record(name: str, doc: str, types: dict[str, TypeRef], checks: list[tuple[str, str]]) -> str:
    invariants = ", ".join(words.removeprefix(f"{name} ").removeprefix(f"{name}.") for _, words in checks)
    invariant = f" INVARIANT: {invariants} (witnessed when made)." if checks else ""
    fields = ", ".join(f"{kind(type_)} {ident(field)}" for field, type_ in types.items())
    copies = [
        f"        {ident(f)} = {_LISTED[t.name]}.copyOf({ident(f)});" for f, t in types.items() if t.name in _LISTED
    ]
    lines = [f"/** {doc}.{invariant} */", f"public record {name}({fields}) {{"]
    if checks or copies:
        lines += [f"    public {name} {{", *copies]
        for test, words in checks:
            lines += [
                f"        if (!({test})) {{",
                f"            throw new IllegalArgumentException({quoted(words)});",
            ]
            lines.append("        }")
        lines.append("    }")
    if list(types) == ["value"]:
        lines += ["" if checks or copies else "    // The name alone tells it apart.", "    @Override"]
        lines += ["    public String toString() {", "        return String.valueOf(value);", "    }"]
    return "\n".join([*lines, "}"]) + "\n"


def _record_checks(spec: Spec, name: str, types: dict[str, TypeRef]) -> Iterator[tuple[str, str]]:
    for field in spec.data_models[name].fields:
        type_ = types[field.name]
        subject = f"{ident(field.name)}.value()" if type_.name in spec.newtypes else ident(field.name)
        for test, words in conditions(field.constraints, subject, root(spec, type_)):
            yield test, f"{name}.{field.name} {words}"
    for text in spec.data_models[name].invariants:
        code = parse_predicate(text, known=set(types)).code
        yield Renderer(spec).render(condition(code, Scope(spec, types))), f"{name} keeps {text}"


def conditions(constraints: Sequence[str], subject: str, type_: TypeRef) -> Iterator[tuple[str, str]]:
    """Yield the condition and the words of each constraint that a value can be checked for by itself."""
    text = type_.name in ("Text", "String")
    length = f"{subject}.codePointCount(0, {subject}.length())" if text else f"{subject}.size()"
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = rest.rstrip(")")
        match name:
            case "non_negative":
                yield _order(subject, ">=", "0", type_), "must not be negative"
            case "positive":
                yield _order(subject, ">", "0", type_), "must be positive"
            case "min":
                yield _order(subject, ">=", number, type_), f"must be at least {number}"
            case "max":
                yield _order(subject, "<=", number, type_), f"must be at most {number}"
            case "non_empty":
                yield f"!{subject}.isEmpty()", "must not be empty"
            case "min_length":
                yield f"{length} >= {number}", f"must have a length of at least {number}"
            case "max_length":
                yield f"{length} <= {number}", f"must have a length of at most {number}"
            case "sorted" if type_.name == "List":
                yield f"same(sortedBy({subject}, item -> item), {subject})", "must be sorted ascending"
            case "distinct" if type_.name == "List":
                yield f"distinct({subject}).size() == {subject}.size()", "must not repeat a value"
            case _:  # unique and immutable speak of more than one value; the record holds the latter
                continue


def _order(subject: str, sign: str, number: str, type_: TypeRef) -> str:
    if type_.name == "Decimal":
        return f"{subject}.compareTo(BigDecimal.valueOf({number}L)) {sign} 0"
    return f"{subject} {sign} {number}{'L' if type_.name == 'Int' else ''}"


def type_definitions(spec: Spec, kinds: list[TypeRef], extra: set[str]) -> str:
    """Return every named type that the given ones are made of, and the extra ones."""
    names = reached(spec, (name for type_ in kinds for name in type_.names()), extra)
    return "\n".join(type_source(spec, name) for name in spec.named_types() if name in names)
