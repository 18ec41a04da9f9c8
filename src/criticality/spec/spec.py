"""The specification artifact: ``spec.toml`` as data, and what must fit together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from criticality.spec.claims import Claim
from criticality.spec.contracts import CLAIM_ID
from criticality.spec.predicates import PredicateFault, parse_predicate
from criticality.spec.types import GENERICS, SCALARS, Param, TypeFault, TypeRef, parse_param, parse_type
from llm_runtime.models import Model, first_fault

Name = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]{0,60}$")]
Member = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,60}$")]
_CONSTRAINT = re.compile(
    r"(unique|immutable|non_negative|positive|non_empty|sorted|distinct|(min|max|min_length|max_length)\(-?[0-9]{1,12}\))\Z"
)
_CONSTRAINTS = (
    "unique, immutable, non_negative, positive, non_empty, sorted, distinct, min(n), max(n), min_length(n), "
    "max_length(n)"
)
_NUMERIC = {"Int", "Decimal", "Float"}
_SIZED = {"Text", "String", "Bytes", "List", "Set", "Map"}


class Meta(Model):
    """When and for which field the specification was made."""

    version: str = "1.0.0"
    created: str = ""
    domain: str = ""


class System(Model):
    """The system's name, in lower case with hyphens, and one sentence on it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,40}$")]
    description: Annotated[str, Field(min_length=3, max_length=500)]


class Boundaries(Model):
    """What stands outside, and where trust ends."""

    external_systems: list[str] = []
    trust_boundaries: list[str] = []


class NewType(Model):
    """A base type under a name of its own, with the constraints that its witness enforces."""

    base: str
    constraints: list[str] = []
    description: str = ""


class DataField(Model):
    """One field of a data model."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    type: str
    constraints: list[str] = []


class DataModel(Model):
    """A record; ``invariants`` are predicates over its fields, enforced when one is made."""

    fields: Annotated[list[DataField], Field(min_length=1, max_length=40)]
    invariants: list[str] = []
    description: str = ""


class Method(Model):
    """One operation of an interface: parameters as ``name: Type``, and what it returns."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    params: list[str] = []
    returns: str = "Unit"


class Interface(Model):
    """Operations that belong together."""

    methods: Annotated[list[Method], Field(min_length=1, max_length=60)]


class Constraints(Model):
    """What must be so, in sentences."""

    functional: list[str] = []
    non_functional: list[str] = []
    security: list[str] = []


class Spec(Model):
    """One immutable revision of a specification. A change makes a new one (CT19)."""

    meta: Meta = Meta()
    system: System
    boundaries: Boundaries = Boundaries()
    enums: dict[Name, Annotated[list[Member], Field(min_length=1, max_length=60)]] = {}
    newtypes: dict[Name, NewType] = {}
    errors: dict[Name, str] = {}
    data_models: dict[Name, DataModel] = {}
    interfaces: Annotated[dict[Name, Interface], Field(min_length=1)]
    constraints: Constraints = Constraints()
    claims: Annotated[dict[str, Claim], Field(min_length=1)]

    @model_validator(mode="after")
    def _fits_together(self) -> Spec:
        faults = list(spec_faults(self))
        if faults:
            raise ValueError(faults[0] + (f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""))
        return self

    @property
    def package(self) -> str:
        """The system's name as a name in code."""
        return self.system.name.replace("-", "_")

    def named_types(self) -> dict[str, str]:
        """Return every type that the specification defines, with its kind."""
        kinds = {"enum": self.enums, "newtype": self.newtypes, "error": self.errors, "model": self.data_models}
        return {name: kind for kind, group in kinds.items() for name in group}

    def methods(self) -> Iterator[tuple[str, Method, tuple[Param, ...], TypeRef]]:
        """Yield every operation with its interface, parameters and result."""
        for interface, body in self.interfaces.items():
            for method in body.methods:
                yield interface, method, tuple(map(parse_param, method.params)), parse_type(method.returns)


def fault_line(fault: TypeFault | ValueError) -> str:
    """Return the first thing that is wrong, in one line."""
    return first_fault(fault).removeprefix("Value error, ") if isinstance(fault, ValidationError) else str(fault)


def spec_faults(spec: Spec) -> Iterator[str]:
    """Yield what does not fit, a line each: unknown and cyclic types, bad constraints, claims without subject."""
    known = spec.named_types()
    if sum(len(group) for group in (spec.enums, spec.newtypes, spec.errors, spec.data_models)) != len(known):
        yield "two types share a name; give each its own"
    for name, members in spec.enums.items():
        if len({member.upper() for member in members}) < len(members):
            yield f"enums.{name}: two members are the same but for capitals; give each a name of its own"
    taken = sorted(known.keys() & (SCALARS | set(GENERICS)))
    yield from (f"the name {name} belongs to the type language" for name in taken)
    edges: dict[str, set[str]] = {}
    for owner, where, text in _type_texts(spec):
        try:
            type_ = parse_type(text)
        except TypeFault as fault:
            yield f"{where}: {fault}"
            continue
        unknown = sorted(set(type_.names()) - SCALARS - set(GENERICS) - set(known))
        if unknown:
            yield f"{where}: nothing defines the type {', '.join(unknown)}; define it"
        edges.setdefault(owner, set()).update(_direct(type_))
    yield from _cycles(edges)
    yield from _constraint_faults(spec)
    yield from _claim_faults(spec)


def _type_texts(spec: Spec) -> Iterator[tuple[str, str, str]]:
    for name, new in spec.newtypes.items():
        yield name, f"newtypes.{name}", new.base
    for name, model in spec.data_models.items():
        for field in model.fields:
            yield name, f"data_models.{name}.{field.name}", field.type
    for name, interface in spec.interfaces.items():
        for method in interface.methods:
            where = f"interfaces.{name}.{method.name}"
            for param in method.params:
                yield "", where, param.partition(":")[2]
            yield "", where, method.returns


def _direct(kind: TypeRef) -> set[str]:
    """Return names that a value of the type always holds: an empty list ends a cycle, an optional value too."""
    if kind.name in ("List", "Set", "Map", "Option"):
        return set()
    return {kind.name}.union(*(_direct(arg) for arg in kind.args)) if kind.args else {kind.name}


def _cycles(edges: dict[str, set[str]]) -> Iterator[str]:
    try:
        TopologicalSorter({name: sorted(edges[name]) for name in sorted(filter(None, edges))}).prepare()
    except CycleError as fault:
        cycle = " -> ".join(reversed(fault.args[1]))
        yield f"types are made of each other without end: {cycle}; break it with Option or List"


def _constraint_faults(spec: Spec) -> Iterator[str]:
    placed = [(f"newtypes.{name}", new.base, new.constraints) for name, new in spec.newtypes.items()]
    for name, model in spec.data_models.items():
        placed += [(f"data_models.{name}.{f.name}", f.type, f.constraints) for f in model.fields]
        fields = {f.name for f in model.fields}
        for text in model.invariants:
            try:
                if not parse_predicate(text, known=fields | set(spec.enums)).checkable:
                    yield f"data_models.{name}: the invariant {text!r} is no expression over its fields"
            except PredicateFault as fault:
                yield f"data_models.{name}: {fault}"
    for where, base, constraints in placed:
        for constraint in constraints:
            if not _CONSTRAINT.match(constraint):
                yield f"{where}: {constraint!r} is no constraint; there are {_CONSTRAINTS}"
            elif not _applies(spec, constraint.partition("(")[0], base):
                yield f"{where}: {constraint!r} does not apply to {base}"


def _applies(spec: Spec, constraint: str, base: str) -> bool:
    root = root_type(spec, base)
    if constraint in ("non_negative", "positive", "min", "max"):
        return root in _NUMERIC
    if constraint in ("non_empty", "min_length", "max_length"):
        return root in _SIZED
    return root in ("List", "Tuple") if constraint in ("sorted", "distinct") else True


def root_type(spec: Spec, text: str) -> str:
    """Return the scalar or generic that a type comes down to through newtypes."""
    name = text.partition("<")[0].strip()
    for _ in range(20):
        if name not in spec.newtypes:
            return name
        name = spec.newtypes[name].base.partition("<")[0].strip()
    return name


def _claim_faults(spec: Spec) -> Iterator[str]:
    for name in spec.claims:
        if not CLAIM_ID.match(name):
            yield f"claims.{name}: an id is lower case letters, an underscore and digits, as in balance_001"
    for name, claim in spec.claims.items():
        if len(claim.text.split()) < 3:
            yield f"claims.{name}: {claim.text!r} has no subject; say what is always, never or then the case"
