"""Lattice: modules, signatures and contracts, until the skeleton compiles and holds no logic."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from criticality import events as e
from criticality.asking import Question
from criticality.canonical import pretty
from criticality.judging.domain import Domain, NotEvaluable
from criticality.language import Language
from criticality.lattice_plan import ModulePlan, StructurePlan, dependencies, index
from criticality.machine.states import CompilingCheck, GeneratingStructure, RepairingStructure
from criticality.order import components
from criticality.spec.contracts import ContractFault, parse_contract
from criticality.spec.spec import Spec
from criticality.spec.types import GENERICS, SCALARS, TypeFault, parse_param, parse_type
from criticality.work import Work
from llm_runtime.events import Event
from llm_runtime.models import Model

_RESERVED = frozenset({"domain", "harness", "strategies", "conftest", "__init__"})


class Repaired(Model):
    """The structurer's changed modules."""

    modules: list[ModulePlan]


async def generate(work: Work) -> Event:
    """Make the hierarchy first, then one module after the other."""
    phase = work.at(GeneratingStructure)
    if not phase.modules_planned:
        question = work.ask.question("lattice", "structure", "structurer", work.round)
        fault, given = partial(_outline_fault, work.language, work.artifacts.approved), _given(work, question)
        plan = await work.ask.data(question, StructurePlan, "structure", check=fault, **given)
        return e.StructurePlanned(modules=[m.model_dump() for m in plan.modules])
    name = next(m for m in phase.modules_planned if m not in phase.modules_generated)
    outline = next(o for o in work.artifacts.outlines if o["name"] == name)
    question = work.ask.question("lattice", name, "structurer", work.round)
    given = _given(work, question) | {
        "outline": question.fence("OUTLINE OF ALL MODULES", pretty(work.artifacts.outlines))
    }
    given |= {"module": name, "importable": ", ".join(sorted(work.language.importable)) or "none; leave it empty"}
    module = await work.ask.data(question, ModulePlan, "module", check=lambda m: _module_fault(m, outline), **given)
    return e.ModuleGenerated(module=module.model_dump())


def _given(work: Work, question: Question) -> dict[str, str]:
    """Return what every structurer is shown: decisions, and the specification without type tables that are empty."""
    data = work.artifacts.approved.model_dump(mode="json", exclude={"meta"})
    spec = question.fence("SPECIFICATION", pretty({key: value for key, value in data.items() if value}))
    return {"decisions": question.fence("DECISIONS", work.ledger.for_prompt()), "spec": spec}


def _outline_fault(language: Language, spec: Spec, plan: StructurePlan) -> str | None:
    names = [module.name for module in plan.modules]
    functions = [f for module in plan.modules for f in module.functions]
    for name in (*names, *functions):
        if not language.usable(name) or name in _RESERVED:
            return f"{name} cannot be a name here; choose another"
    repeated = sorted({n for n in names if names.count(n) > 1} | {f for f in functions if functions.count(f) > 1})
    if repeated:
        return f"these names stand more than once: {', '.join(repeated)}"
    missing = sorted({m.name for _, m, _, _ in spec.methods()} - set(functions))
    return f"no module carries these methods: {', '.join(missing)}" if missing else None


def _module_fault(module: ModulePlan, outline: dict[str, Any]) -> str | None:
    if module.name != outline["name"]:
        return f"the module must be called {outline['name']}"
    wanted, there = set(outline["functions"]), {f.name for f in module.functions}
    if wanted != there:
        missing, extra = sorted(wanted - there) or "none", sorted(there - wanted) or "none"
        return f"missing functions: {missing}; not in the outline: {extra}"
    return None


async def compile_check(work: Work) -> Event:
    """Is it critical? The plan's own checks, then the AST, then the type checker."""
    assert isinstance(work.state.phase, CompilingCheck)
    spec, plan = work.artifacts.approved, work.artifacts.plan
    faults = list(plan_faults(work.language, spec, plan)) or list(_untestable(work.language, spec, plan))
    if not faults:
        tree = work.language.sources(spec, plan, {})
        paths = [work.language.module_path(spec, module.name) for module in plan]
        faults = [f"{path}: {name} holds logic" for path in paths for name in work.language.leaked_logic(tree[path])]
        faults += map(str, await work.tools.check(tree))
    if faults:
        return e.CompileFailed(errors=faults[:40])
    return e.CompileSucceeded(order=components(dependencies(plan)))


async def repair(work: Work) -> Event:
    """Have the structurer repair, unless no attempt is left."""
    phase = work.at(RepairingStructure)
    if phase.repair_attempt > phase.max_repair_attempts:
        return e.RepairsExhausted(errors=list(phase.errors))
    question = work.ask.question("lattice", "repair", "structurer", work.round, phase.repair_attempt * 10)
    known = set(work.artifacts.modules)
    modules = question.fence("MODULES", pretty([m.model_dump() for m in work.artifacts.plan]))
    errors = question.fence("ERRORS", "\n".join(phase.errors))

    def fault(answer: Repaired) -> str | None:
        return None if {m.name for m in answer.modules} <= known else "return modules that there are"

    given = _given(work, question) | {"modules": modules, "errors": errors}
    repaired = await work.ask.data(question, Repaired, "repair", check=fault, **given)
    return e.StructureRepaired(modules=[m.model_dump() for m in repaired.modules])


def plan_faults(language: Language, spec: Spec, plan: tuple[ModulePlan, ...]) -> Iterator[str]:
    """Yield what does not hold together in a plan, one line each."""
    functions = index(plan)
    names = [name.partition(".")[2] for name in functions]
    if len(set(names)) != len(names):
        yield f"two functions share a name: {', '.join(sorted({n for n in names if names.count(n) > 1}))}"
    known = SCALARS | set(GENERICS) | set(spec.named_types())
    for module in plan:
        bad = sorted(set(module.imports) - language.importable)
        if bad:
            yield f"{module.name}: may not import {', '.join(bad)}"
        for function in module.functions:
            where = f"{module.name}.{function.name}"
            yield from (f"{where}: {fault}" for fault in _function_faults(language, spec, function, set(names), known))
            unknown = sorted(set(function.calls) - set(functions))
            if unknown:
                yield f"{where}: calls {', '.join(unknown)}, which no module has; write module.function"
    yield from _method_faults(spec, plan)
    yield from _import_circles(plan)


def _untestable(language: Language, spec: Spec, plan: tuple[ModulePlan, ...]) -> Iterator[str]:
    """Clauses that are expressions and cannot be judged: none of them is dropped."""
    domain = Domain(spec)
    for name, (_, function) in index(plan).items():
        try:
            for predicate in filter(lambda p: p.checkable, function.contract.predicates):
                domain.code(predicate.code)
        except NotEvaluable as fault:
            yield f"{name}: {fault}"


def _function_faults(
    language: Language, spec: Spec, function: Any, names: set[str], known: Collection[str]
) -> Iterator[str]:
    if not language.usable(function.name):
        yield f"{language.title} cannot use this name"
    try:
        params = [parse_param(text) for text in function.params]
        kinds = [*(p.type for p in params), parse_type(function.returns)]
    except TypeFault as fault:
        yield str(fault)
        return
    for param in params:
        if not language.usable(param.name) or param.name in names:
            yield f"the parameter {param.name} needs another name"
    unknown = sorted({n for kind in kinds for n in kind.names()}.difference(known))
    if unknown:
        yield f"nothing defines the type {', '.join(unknown)}"
        return
    members = {p.name for p in params} | names | set(spec.named_types())
    try:
        contract = parse_contract(function.contracts, known=members)
    except ContractFault as fault:
        yield str(fault)
        return
    errors = {kind.args[1].name for kind in kinds if kind.name == "Result"}
    promised = {name for p in contract.predicates for name in p.raised}
    for error in sorted(errors - promised):
        yield f"no ENSURES clause says when {error} is raised: add 'ENSURES: condition implies raises({error})'"
    for error in sorted(promised - set(spec.errors)):
        yield f"raises({error}): the specification has no such error"


def _method_faults(spec: Spec, plan: tuple[ModulePlan, ...]) -> Iterator[str]:
    by_name = {f.name: f for module in plan for f in module.functions}
    for interface, method, params, returns in spec.methods():
        function = by_name.get(method.name)
        if function is None:
            yield f"no module carries {interface}.{method.name}"
            continue
        try:
            written = [str(parse_param(text)) for text in function.params], str(parse_type(function.returns))
        except TypeFault:
            continue
        if written != ([str(p) for p in params], str(returns)):
            wanted = f"({', '.join(map(str, params))}) -> {returns}"
            yield f"{method.name}: its signature must be that of {interface}: {wanted}"


def _import_circles(plan: tuple[ModulePlan, ...]) -> Iterator[str]:
    edges = {
        module.name: sorted({call.partition(".")[0] for f in module.functions for call in f.calls} - {module.name})
        for module in plan
    }
    for circle in components(edges):
        if len(circle) > 1:
            yield f"these modules need each other in a circle: {', '.join(circle)}; move functions"
