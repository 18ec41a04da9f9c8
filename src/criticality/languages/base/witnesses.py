"""What must hold of a value when it is made: the checks in the constructors of newtypes and records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from criticality.judging.domain import CHECKS
from criticality.languages.base.forms import Forms, chosen
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import root

#: Constraints on a number: the sign that must hold, the one that breaks it, the number where it is not said.
_ORDER = {
    "non_negative": (">=", "<", "0"), "positive": (">", "<=", "0"), "min": (">=", "<", ""), "max": ("<=", ">", ""),
}  # fmt: skip


def conditions(forms: Forms, constraints: Sequence[str], subject: str, kind: TypeRef) -> Iterator[tuple[str, str]]:
    """Yield the check and the words of each constraint that a value can be checked for by itself.

    ``unique`` and ``immutable`` speak of more than one value, or hold by how a type is made.

    Args:
        subject: an expression of a root type ``kind``.
    """
    base = {"String": "Text"}.get(kind.name, kind.name)
    for constraint in constraints:
        name, _, rest = constraint.partition("(")
        number = rest.rstrip(")")
        if "check.breaks" in forms and name == "non_negative" and "positive" in constraints:
            continue
        if "check.breaks" in forms and constraint == "min_length(1)":
            name = "non_empty"
        sign, opposite, zero = _ORDER.get(name, ("", "", ""))
        names = (f"check.{base}.order{zero}", f"check.{base}.order", "check.order")
        names = names if sign else (f"check.{name}.{base}", f"check.{name}")
        form = chosen(forms, names) if name in CHECKS else None
        if form is not None:
            length = chosen(forms, (f"check.{base}.length", "check.length"))
            size = length[1].format(subject) if length else ""
            number = number or zero
            condition = form[1].format(subject, sign=sign, opposite=opposite, number=number, length=size)
            yield condition, CHECKS[name][1].format(number)


def checked(spec: Spec, name: str) -> bool:
    """Tell whether a record has something to check, so that only its constructor makes one."""
    model = spec.data_models.get(name)
    if model is None:
        return False
    return bool(model.invariants) or any(
        name in CHECKS and (kind == "List" or name not in ("sorted", "distinct"))
        for field in model.fields
        for kind in (root(spec, parse_type(field.type)).name,)
        for name in (constraint.partition("(")[0] for constraint in field.constraints)
    )
