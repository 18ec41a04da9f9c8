"""What must hold of a value when it is made: the checks in the constructors of newtypes and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import root


def conditions(constraints: Sequence[str], subject: str, kind: TypeRef) -> Iterator[tuple[str, str]]:
    """Yield the condition and the words of each constraint that a value can be checked for by itself.

    Args:
        subject: an expression of a root type ``kind``.
    """
    length = f"utf8.RuneCountInString({subject})" if kind.name in ("Text", "String") else f"len({subject})"
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = rest.rstrip(")")
        match name:
            case "non_negative":
                yield _order(subject, ">=", "0", kind), "must not be negative"
            case "positive":
                yield _order(subject, ">", "0", kind), "must be positive"
            case "min":
                yield _order(subject, ">=", number, kind), f"must be at least {number}"
            case "max":
                yield _order(subject, "<=", number, kind), f"must be at most {number}"
            case "non_empty":
                yield f"len({subject}) > 0", "must not be empty"
            case "min_length":
                yield f"{length} >= {number}", f"must have a length of at least {number}"
            case "max_length":
                yield f"{length} <= {number}", f"must have a length of at most {number}"
            case "sorted" if kind.name == "List":
                yield f"same(sortedBy({subject}, itself), {subject})", "must be sorted ascending"
            case "distinct" if kind.name == "List":
                yield f"len(distinct({subject})) == len({subject})", "must not repeat a value"
            case _:  # unique and immutable speak of more than one value; a field without a setter holds the latter
                continue


def _order(subject: str, sign: str, number: str, kind: TypeRef) -> str:
    if kind.name == "Decimal":
        return f"{subject}.Cmp(DecimalOf({number})) {sign} 0"
    return f"{subject} {sign} {number}"


def field_checks(spec: Spec, name: str) -> Iterator[tuple[str, TypeRef, str]]:
    """Yield each constraint of a record's own fields: the field, its type, the constraint."""
    for field in spec.data_models[name].fields:
        kind = parse_type(field.type)
        for constraint in field.constraints:
            if any(True for _ in conditions([constraint], "value", root(spec, kind))):
                yield field.name, kind, constraint


def checked(spec: Spec, name: str) -> bool:
    """Tell whether a record has something to check, so that only its constructor makes one."""
    model = spec.data_models.get(name)
    return model is not None and (bool(model.invariants) or any(True for _ in field_checks(spec, name)))
