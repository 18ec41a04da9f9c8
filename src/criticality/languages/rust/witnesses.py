"""What must hold of a value when it is made: the checks in the constructors of newtypes and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from criticality.languages.rust.names import ident
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import constraints_of, root


def faults(constraints: Sequence[str], subject: str, kind: TypeRef) -> Iterator[tuple[str, str]]:
    """For each constraint that a value can be checked for by itself, when it is broken, and what must be.

    Args:
        subject: an expression of a root type ``kind``, owned or lent.
    """
    length = f"{subject}.chars().count()" if kind.name in ("Text", "String") else f"{subject}.len()"
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = rest.rstrip(")")
        match name:
            case "non_negative" if "positive" not in constraints:
                yield _outside(subject, "<", "0", kind), "must not be negative"
            case "positive":
                yield _outside(subject, "<=", "0", kind), "must be positive"
            case "min":
                yield _outside(subject, "<", number, kind), f"must be at least {number}"
            case "max":
                yield _outside(subject, ">", number, kind), f"must be at most {number}"
            case "non_empty":
                yield f"{subject}.is_empty()", "must not be empty"
            case "min_length" if number == "1":
                yield f"{subject}.is_empty()", "must not be empty"
            case "min_length":
                yield f"{length} < {number}", f"must have a length of at least {number}"
            case "max_length":
                yield f"{length} > {number}", f"must have a length of at most {number}"
            case "sorted" if kind.name == "List":
                yield f"{subject}.windows(2).any(|pair| pair[0] > pair[1])", "must be sorted ascending"
            case "distinct" if kind.name == "List":
                again = f"{subject}[..place].contains(item)"
                yield f"{subject}.iter().enumerate().any(|(place, item)| {again})", "must not repeat a value"
            case (
                _
            ):  # unique and immutable speak of more than one value; a field that is not public holds the latter
                continue


def _outside(subject: str, comparison: str, text: str, kind: TypeRef) -> str:
    match kind.name:
        case "Decimal":
            return f"{subject} {comparison} {'Decimal::ZERO' if text == '0' else f'Decimal::from({text})'}"
        case "Float":
            # What is no number is on neither side of a bound, and breaks it.
            return f"{subject}.is_nan() || {subject} {comparison} {text}.0"
        case _:
            return f"{subject} {comparison} {text}"


def newtype_checks(spec: Spec, name: str) -> list[tuple[str, str]]:
    """When a ``value`` of the newtype's root type breaks what must hold of it, and what that is."""
    kind = root(spec, TypeRef(name))
    return list(faults(constraints_of(spec, name), "value", kind))


def field_checks(spec: Spec, name: str) -> list[tuple[str, str]]:
    """Return the same over the fields of a record by their names."""
    checks: list[tuple[str, str]] = []
    for field in spec.data_models[name].fields:
        kind = parse_type(field.type)
        subject = f"{ident(field.name)}.get()" if kind.name in spec.newtypes else ident(field.name)
        checks += (
            (condition, f"{name}.{field.name} {words}")
            for condition, words in faults(field.constraints, subject, root(spec, kind))
        )
    return checks


def checks_of(spec: Spec, name: str) -> bool:
    """Tell whether a record has something to check, so that only its constructor makes one."""
    model = spec.data_models.get(name)
    return model is not None and (bool(model.invariants) or bool(field_checks(spec, name)))
