"""What the structurer plans: modules, functions, contracts and calls, as data that a language adapter renders."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import ConfigDict, Field

from criticality.spec.contracts import Contract, parse_contract
from criticality.spec.types import Param, TypeRef, parse_param, parse_type
from llm_runtime.models import Model

Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]


class FunctionPlan(Model):
    """One function without its body.

    Args:
        params: ``name: Type`` each, in the neutral type language.
        returns: a type; ``Result<T, E>`` returns T or raises E.
        contracts: clauses of the micro-contract grammar, one a line.
        calls: ids (``module.name``) of the functions that its body may call.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    name: Identifier
    params: list[str] = Field(default=[], max_length=12)
    returns: str = "Unit"
    doc: Annotated[str, Field(min_length=3, max_length=300)]
    contracts: list[str] = Field(min_length=1, max_length=40)
    calls: list[str] = Field(default=[], max_length=30)

    @cached_property
    def parameters(self) -> tuple[Param, ...]:
        """The parameters, parsed."""
        return tuple(map(parse_param, self.params))

    @cached_property
    def result(self) -> TypeRef:
        """What comes back when nothing is raised."""
        kind = parse_type(self.returns)
        return kind.args[0] if kind.name == "Result" else kind

    @property
    def kinds(self) -> list[TypeRef]:
        """The types of its parameters, and that of its result behind them."""
        return [*(p.type for p in self.parameters), self.result]

    @cached_property
    def contract(self) -> Contract:
        """The clauses, parsed; names are checked where the lattice is."""
        return parse_contract(self.contracts)

    @cached_property
    def errors(self) -> frozenset[str]:
        """Errors that it may raise: that of its ``Result``, and those its contract names."""
        kind = parse_type(self.returns)
        declared = {kind.args[1].name} if kind.name == "Result" else set[str]()
        return frozenset(declared.union(*(p.raised for p in self.contract.predicates)))


class ModulePlan(Model):
    """One module: what it is for, the interfaces that it carries, and its functions.

    Args:
        imports: standard modules that bodies may use.
    """

    name: Identifier
    purpose: Annotated[str, Field(min_length=3, max_length=300)]
    interfaces: list[str] = []
    imports: list[str] = Field(default=[], max_length=12)
    functions: Annotated[list[FunctionPlan], Field(min_length=1, max_length=60)]


class ModuleOutline(Model):
    """A module before its functions have signatures."""

    name: Identifier
    purpose: Annotated[str, Field(min_length=3, max_length=300)]
    interfaces: list[str] = []
    functions: Annotated[list[Identifier], Field(min_length=1, max_length=60)]


class StructurePlan(Model):
    """The module hierarchy: the structurer's first answer."""

    modules: Annotated[list[ModuleOutline], Field(min_length=1, max_length=40)]


def index(modules: tuple[ModulePlan, ...]) -> dict[str, tuple[ModulePlan, FunctionPlan]]:
    """Return every function with its module, by id, in the order of the lattice."""
    return {f"{module.name}.{f.name}": (module, f) for module in modules for f in module.functions}


def called_elsewhere(module: ModulePlan, plan: tuple[ModulePlan, ...]) -> dict[str, set[str]]:
    """Return the planned functions of other modules that a module's functions call, by module."""
    available = index(plan)
    elsewhere: dict[str, set[str]] = {}
    for call in (call for function in module.functions for call in function.calls):
        owner, _, name = call.partition(".")
        if call in available and owner != module.name:
            elsewhere.setdefault(owner, set()).add(name)
    return elsewhere


def dependencies(plan: tuple[ModulePlan, ...]) -> dict[str, list[str]]:
    """Return what each function depends on: planned calls, and functions that its contract speaks of."""
    functions = index(plan)
    by_name = {name.partition(".")[2]: name for name in functions}
    edges: dict[str, list[str]] = {}
    for name, (_, function) in functions.items():
        spoken = [by_name[c] for p in function.contract.predicates for c in sorted(p.calls | p.names) if c in by_name]
        edges[name] = [t for t in dict.fromkeys((*function.calls, *spoken)) if t != name]
    return edges
