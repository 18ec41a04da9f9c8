"""The types of a specification as a Python module: enums, errors, witnesses and records.

A witness of a newtype is a class that checks its constraints when a value is made: level
``runtime``. A record checks its constraints and invariants in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from criticality.languages.base.forms import forms
from criticality.languages.base.pages import page
from criticality.languages.base.witnesses import conditions
from criticality.languages.python.names import PACKAGE, WORDS, annotation, imports_for
from criticality.pages import sentence
from criticality.spec.predicates import parse_predicate, renamed
from criticality.spec.spec import DataModel, NewType, Spec, root_type
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import every_type, in_order

_NEEDED: dict[str, str] = WORDS["needed"]
_SUBCLASSED = {"Int", "Decimal", "Float", "Text", "String", "Bytes", "List"}


def type_source(spec: Spec, name: str) -> str:
    """Return the definition of one named type."""
    model, new = spec.data_models.get(name), spec.newtypes.get(name)
    base = parse_type(new.base) if new else TypeRef(name)
    description = spec.errors.get(name) or (new.description if new else model.description if model else "") or name
    # A witness is made from the scalar, even where its base is another witness.
    scalar = base if base.args else TypeRef(root_type(spec, str(base)))
    listed = base.name == "List"
    checks = list(_over_value(spec, new)) if new else list(_over_fields(name, model)) if model else []
    values = {
        "name": name, "sort": spec.named_types()[name], "doc": _sentence(description),
        "members": spec.enums.get(name, ()),
        "base": annotation(base), "subclassed": not new or root_type(spec, new.base) in _SUBCLASSED,
        "listed": listed, "source": f"Iterable[{annotation(base.args[0])}]" if listed else annotation(scalar),
        "fields": [(f.name, annotation(parse_type(f.type))) for f in model.fields] if model else [],
        "checks": checks,
    }  # fmt: skip
    return page(PACKAGE, "type.jinja", {}, values)


def _sentence(text: str) -> str:
    return sentence(text.replace("\\", "/").replace('"', "'"))


def _over_value(spec: Spec, new: NewType) -> Iterator[tuple[str, str]]:
    return conditions(forms(PACKAGE), new.constraints, "value", TypeRef(root_type(spec, new.base)))


def _over_fields(name: str, model: DataModel) -> Iterator[tuple[str, str]]:
    for field in model.fields:
        subject, kind = f"self.{field.name}", parse_type(field.type)
        for check, words in conditions(forms(PACKAGE), field.constraints, subject, kind):
            yield check, f"{name}.{field.name} {words}"
    for text in model.invariants:
        yield _over_self(text, model), f"{name}: {_sentence(text)}"


def _over_self(text: str, model: DataModel) -> str:
    """Return an invariant over fields as a condition over ``self``."""
    return renamed(parse_predicate(text).code, {field.name: f"self.{field.name}" for field in model.fields})


def domain_source(spec: Spec) -> str:
    """Return the whole module ``domain``."""
    body = "\n\n".join(type_source(spec, name) for name in in_order(spec))
    imports = {*imports_for(list(every_type(spec))), *(line for text, line in _NEEDED.items() if text in body)}
    return page(PACKAGE, "domain.jinja", {}, {"spec": spec, "imports": sorted(imports), "body": body})
