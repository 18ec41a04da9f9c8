"""Tests of a function's contract, one for each clause that can be checked, made before there is a body."""

from __future__ import annotations

import re
from collections.abc import Iterable

from criticality.languages.python.growth_tests import growth_test
from criticality.languages.python.strategies import strategy
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.predicates import Predicate
from criticality.spec.spec import Spec
from criticality.testing import TestFile


def contract_test_file(spec: Spec, module: ModulePlan, function: FunctionPlan, ids: Iterable[str]) -> TestFile:
    """Return the tests of one function's contract.

    Args:
        ids: all functions of the lattice, for predicates that call some of them.
    """
    contract = function.contract
    promises: dict[str, str] = {}
    parts: list[str] = []
    groups = (("ensures", contract.ensures), ("invariant", contract.invariants))
    for kind, predicates in groups:
        for number, predicate in enumerate(predicates, start=1):
            if not predicate.checkable:
                continue
            name = f"test_{function.name}_{kind}_{number}"
            promises[name] = f"{kind.upper()}: {predicate.text}"
            parts.append(_clause_test(spec, function, name, promises[name], predicate))
    name = f"test_{function.name}_raises_only_what_is_promised"
    promises[name] = "no error but those that the contract promises"
    parts.append(_errors_test(spec, function, name, promises[name]))
    name = f"test_{function.name}_grows"
    promise = f"COMPLEXITY: O({contract.complexity})"
    measured = growth_test(spec, function, "\n".join(_opening(spec, function, name, promise)) + "\n")
    if measured is not None:
        promises[name] = promise
        parts.append(re.sub(r"\A@drawn(.*)\n", r"@given\1\n@few\n", measured))
    source = _head(spec, module, function, ids) + "\n\n".join(parts)
    return TestFile(f"tests/property/test_{module.name}_{function.name}.py", source, promises)


def _head(spec: Spec, module: ModulePlan, function: FunctionPlan, ids: Iterable[str]) -> str:
    called = {name for predicate in function.contract.predicates for name in predicate.calls | predicate.names}
    imports = sorted(
        {
            f"from {spec.package}.{owner} import {name}"
            for owner, _, name in (i.partition(".") for i in ids)
            if name in called
        }
        | {f"from {spec.package}.{module.name} import {function.name}"}
    )
    return (
        f'"""What {module.name}.{function.name} promises: made from its contract before it had a body."""\n\n'
        "from dataclasses import replace\nfrom decimal import Decimal\nfrom functools import reduce\n\n"
        "import strategies\nfrom growth import grows, sized\nfrom harness import assume, call, drawn, few, holds\n"
        "from hypothesis import given\n"
        "from hypothesis import strategies as st\n\n"
        f"from {spec.package}.domain import *  # noqa: F403\n" + "\n".join(imports) + "\n\n\n"
    )


def _opening(spec: Spec, function: FunctionPlan, name: str, promise: str) -> list[str]:
    names = [param.name for param in function.parameters]
    lines: list[str] = []
    if names:
        drawn = ", ".join(f"{p.name}={_strategy(spec, function, p.name)}" for p in function.parameters)
        lines.append(f"@drawn({drawn})")
    lines += [f"def {name}({', '.join(names)}):", f'    """{_quoted(promise)}"""']
    required = (*function.contract.requires, *function.contract.invariants)
    lines += [
        f"    assume({p.code})"
        for p in required
        if p.checkable and names and not p.raised and not p.olds and "result" not in p.names
    ]
    return lines


def _strategy(spec: Spec, function: FunctionPlan, name: str) -> str:
    kind = next(param.type for param in function.parameters if param.name == name)
    return strategy(spec, kind)


def _clause_test(spec: Spec, function: FunctionPlan, name: str, promise: str, predicate: Predicate) -> str:
    names = [param.name for param in function.parameters]
    lines = _opening(spec, function, name, promise)
    lines += [f"    {old} = {code}" for old, code in predicate.olds]
    lines += [
        f"    outcome = call({', '.join([function.name, *names])})",
        "    result, raises = outcome.result, outcome.raises",
    ]
    shown = "".join(f", {n}={n}" for n in names)
    condition = f"lambda: {predicate.code}"
    if not predicate.raised:
        lines.append("    if outcome.error is None:")
        lines.append(f"        holds({promise!r}, {condition}, outcome{shown})")
    else:
        lines.append(f"    holds({promise!r}, {condition}, outcome{shown})")
    return "\n".join(lines) + "\n"


def _errors_test(spec: Spec, function: FunctionPlan, name: str, promise: str) -> str:
    """Test that an error is raised only where some clause says so."""
    names = [param.name for param in function.parameters]
    lines = _opening(spec, function, name, promise)
    cases = [
        f"(outcome.raises({error}) and bool({predicate.when or True}))"
        for predicate in function.contract.predicates
        for error in sorted(predicate.raised)
    ]
    allowed = " or ".join(["outcome.error is None", *cases])
    shown = "".join(f", {n}={n}" for n in names)
    lines += [
        f"    outcome = call({', '.join([function.name, *names])})",
        f"    holds({promise!r}, lambda: {allowed}, outcome{shown})",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
