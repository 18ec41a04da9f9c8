"""The types of a specification as ``domain.ts``: enums, errors, witnesses and records.

A witness is a branded type, level ``distinction``: the compiler tells it apart, and the
function of its name, the only way to make one, checks its constraints. A record is made, checked and frozen in the
same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from criticality.languages.base.data import read_text
from criticality.languages.base.expressions import Expression, Scope, condition
from criticality.languages.base.expressions.nodes import Variable, walk
from criticality.languages.base.naming import camel
from criticality.languages.typescript.expressions import quoted, rendered
from criticality.languages.typescript.names import annotation, identifier, in_words, require_comparable
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.spec import DataModel, Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import reached, root
from llm_runtime.errors import ConfigurationError

_DECIMALS = 'import { Decimal } from "decimal.js";\n\nDecimal.set({ precision: 28 });\nexport { Decimal };\n'


def conditions(spec: Spec, kind: TypeRef, constraints: list[str], subject: str) -> Iterator[tuple[str, str]]:
    """Yield the condition and the words of each constraint that a value can be checked for by itself."""
    base = root(spec, kind).name
    size = f"$.characters({subject}).length" if base in ("Text", "String") else f"{subject}.length"
    size = f"{subject}.size" if base in ("Set", "Map") else size
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = rest.rstrip(")")
        match name:
            case "non_negative":
                yield _bound(base, subject, ">=", "0"), "must not be negative"
            case "positive":
                yield _bound(base, subject, ">", "0"), "must be positive"
            case "min":
                yield _bound(base, subject, ">=", number), f"must be at least {number}"
            case "max":
                yield _bound(base, subject, "<=", number), f"must be at most {number}"
            case "non_empty":
                yield f"{size} > 0", "must not be empty"
            case "min_length":
                yield f"{size} >= {number}", f"must have a length of at least {number}"
            case "max_length":
                yield f"{size} <= {number}", f"must have a length of at most {number}"
            case "sorted":
                yield f"$.same({subject}, $.sorted({subject}))", "must be sorted ascending"
            case "distinct":
                yield (
                    f"{subject}.every((item, place) => $.position({subject}, item) === place)",
                    "must not repeat a value",
                )
            case _:  # unique and immutable speak of more than one value; the record being frozen holds the latter
                continue


def _bound(base: str, subject: str, sign: str, number: str) -> str:
    return (
        f"$.compare({subject}, new Decimal({number})) {sign} 0"
        if base == "Decimal"
        else f"{subject} {sign} {number}"
    )


def type_source(spec: Spec, name: str) -> str:
    """Return the definition of one named type."""
    if name in spec.enums:
        members = ", ".join(f"{member}: {quoted(member)}" for member in spec.enums[name])
        return (
            f"/** One of the values below. */\nexport const {name} = {{ {members} }} as const;\n"
            f"export type {name} = (typeof {name})[keyof typeof {name}];\n"
        )
    if name in spec.errors:
        words = spec.errors[name] or name
        return (
            f"/** {_sentence(words)} */\nexport class {name} extends Error {{\n"
            f"  override readonly name = {quoted(name)};\n\n"
            f"  constructor(message = {quoted(words)}) {{\n    super(message);\n  }}\n}}\n"
        )
    return _witness(spec, name) if name in spec.newtypes else _record(spec, name, spec.data_models[name])


def _sentence(text: str) -> str:
    flat = " ".join(text.replace("*/", "* /").split())
    return flat if flat.endswith(".") else f"{flat}."


def _witness(spec: Spec, name: str) -> str:
    new = spec.newtypes[name]
    base = parse_type(new.base)
    scalar = root(spec, base)
    checks: list[tuple[str, str]] = []
    if scalar.name == "Int" and base.name == "Int":
        checks.append(("Number.isSafeInteger(value)", "must be a whole number"))
    checks += conditions(spec, base, new.constraints, "value")
    words = ", ".join(text for _, text in checks)
    invariant = f" INVARIANT: {words} (witnessed when made)." if words else ""
    lines = [f"/** {_sentence(new.description or name)}{invariant} */"]
    lines.append(f"export type {name} = Branded<{annotation(base)}, {quoted(name)}>;")
    if checks:
        lines.append("/** @throws RangeError where the invariant does not hold */")
    lines.append(f"export function {name}(value: {annotation(scalar)}): {name} {{")
    lines += [f"  {_raise(condition, f'{name}: {text}')}" for condition, text in checks]
    below = f"{base.name}(value)" if base.name in spec.newtypes else "value"
    lines += [f"  return {below} as {name};", "}"]
    return "\n".join(lines) + "\n"


def _raise(condition: str, words: str) -> str:
    return f"if (!({condition})) throw new RangeError({quoted(words)});"


def _record(spec: Spec, name: str, model: DataModel) -> str:
    fields = [(camel(field.name), parse_type(field.type)) for field in model.fields]
    checks = [
        (condition, f"{name}.{field.name} {text}")
        for field in model.fields
        for condition, text in conditions(
            spec, parse_type(field.type), field.constraints, f"fields.{camel(field.name)}"
        )
    ]
    invariants = [_over_fields(spec, model, text) for text in model.invariants]
    listed = [f"{name}: {_sentence(in_words(text))}" for text in model.invariants]
    checks += zip(map(rendered, invariants), listed, strict=True)
    lines = [f"/** {_sentence(model.description or name)} */", f"export interface {name}Fields {{"]
    lines += [f"  readonly {field}: {annotation(kind)};" for field, kind in fields]
    lines += ["}", f"export type {name} = Branded<{name}Fields, {quoted(name)}>;"]
    if checks:
        words = "; ".join(text for _, text in checks)
        lines.append(f"/** INVARIANT: {words.replace('*/', '* /')} @throws RangeError where it does not hold */")
    lines.append(f"export function {name}(fields: {name}Fields): {name} {{")
    if unpacked := _unpacked(invariants):
        lines.append(f"  const {{ {', '.join(unpacked)} }} = fields;")
    lines += [f"  {_raise(condition, text)}" for condition, text in checks]
    fields_given = ", ".join(f"{field}: fields.{field}" for field, _ in fields)
    lines += [f"  return Object.freeze({{ {fields_given} }}) as {name};", "}"]
    return "\n".join(lines) + "\n"


def _over_fields(spec: Spec, model: DataModel, text: str) -> Expression:
    """Return an invariant as a condition over variables of the fields' names."""
    kinds = {field.name: parse_type(field.type) for field in model.fields}
    return condition(parse_predicate(text, known=kinds).code, Scope(spec, kinds))


def _unpacked(invariants: list[Expression]) -> list[str]:
    """Return the fields that invariants speak of, as variables."""
    names = dict.fromkeys(
        node.name for invariant in invariants for node in walk(invariant) if isinstance(node, Variable)
    )
    return [
        camel(name) if identifier(name) == camel(name) else f"{camel(name)}: {identifier(name)}" for name in names
    ]


def domain_source(spec: Spec) -> str:
    """Return the whole module ``domain``.

    Raises:
        ConfigurationError: an invariant, a set or a map is outside what TypeScript renders.
    """
    for text in _type_texts(spec):
        require_comparable(spec, parse_type(text))
    try:
        body = "\n".join(type_source(spec, name) for name in _in_order(spec))
    except PredicateFault as fault:
        raise ConfigurationError(f"an invariant of a record: {fault}") from None
    head = [f"/** The types of {spec.system.name}, with what must hold of every value of them. */", ""]
    if uses_decimals(spec):
        head.append(_DECIMALS)
    if "$." in body:
        head += ['import * as $ from "./by-value.js";', ""]
    if "Branded<" in body:
        head.append(read_text("criticality.languages.typescript", "templates", "brand.ts"))
    return "\n".join([*head, body])


def _type_texts(spec: Spec) -> list[str]:
    texts = [new.base for new in spec.newtypes.values()]
    texts += [field.type for model in spec.data_models.values() for field in model.fields]
    for _, _, params, returns in spec.methods():
        texts += [*(str(param.type) for param in params), str(returns)]
    return texts


def uses_decimals(spec: Spec) -> bool:
    """Tell whether any type of the specification is made of decimals."""
    return any("Decimal" in parse_type(text).names() for text in _type_texts(spec))


def _in_order(spec: Spec) -> list[str]:
    return [*spec.enums, *spec.errors, *spec.newtypes, *spec.data_models]


def types_needed(spec: Spec, kinds: Sequence[TypeRef], extra: Collection[str] = ()) -> list[str]:
    """Return the named types that the given ones are made of, in the order of the module."""
    names = reached(spec, [*extra, *(name for kind in kinds for name in kind.names())])
    return [name for name in _in_order(spec) if name in names]
