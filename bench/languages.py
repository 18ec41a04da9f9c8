"""Each target language: splicing a body, and a warm compile check with one function's tests."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import Figure
from criticality.artifacts import Body
from criticality.language import Language
from criticality.languages import language
from criticality.languages.base.toolchain.dependencies import NotInstallable
from criticality.spec.literals import literals_of

#: The sum of all accounts, and a change of it that means the same: what is measured is never a cache.
TOTALS = {
    "typescript": "return Cents(accounts.reduce((sum, account) => sum + account.balance, 0{}));",
    "rust": 'Cents::new(accounts.iter().map(|account| account.balance.get()).sum::<i64>(){}).expect("a sum")',
    "go": (
        "sum := 0{}\nfor _, account := range accounts {{\n\tsum += account.Balance.Value()\n}}\n"
        "total, err := domain.NewCents(sum)\nif err != nil {{\n\tpanic(err)\n}}\nreturn total"
    ),
    "java": "return new Cents(accounts.stream().mapToLong(account -> account.balance().value()).sum(){});",
    "cpp": (
        "std::int64_t sum = 0{};\nfor (const auto& account : accounts) {{\n  sum += account.balance.get();\n}}\n"
        "return Cents(sum);"
    ),
}
#: What the project holds itself to, in seconds; the others are at the matrix's basic level.
BOUNDS = {"typescript": 3.0, "rust": 3.0, "go": 3.0}
_ROUNDS = 3


def figures() -> Iterator[Figure]:
    """Languages whose tools are not here are left out, and it is said why."""
    system = _system()
    for name in TOTALS:
        target = language(name)
        yield _splice(target, system)
        missing = [fact.name for fact in target.facts() if fact.needed and fact.version is None]
        if missing:
            print(f"{target.title}: not measured, {', '.join(missing)} is not here", file=sys.stderr)
            continue
        try:
            yield asyncio.run(_warm(target, system))
        except NotInstallable as refused:
            print(f"{target.title}: not measured, {refused}", file=sys.stderr)


def _system() -> Any:
    """The example that the tests of all languages share."""
    path = Path(__file__).parents[1] / "tests/criticality/languages/account_system.py"
    found = importlib.util.spec_from_file_location("account_system", path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["account_system"] = module
    found.loader.exec_module(module)
    return module


def _splice(target: Language, system: Any) -> Figure:
    spec, body = system.spec(), TOTALS[target.name].format("")
    source = target.sources(spec, system.plan(), {})[target.module_path(spec, "payments")]
    target.splice(source, "total", body)
    times: list[float] = []
    for _ in range(20):
        begun = time.perf_counter()
        target.splice(source, "total", body)
        times.append(time.perf_counter() - begun)
    return Figure(f"{target.title}: splice one body", 1000 * median(times), "ms", at_most=20)


async def _warm(target: Language, system: Any) -> Figure:
    spec, plan = system.spec(), system.plan()
    module, function = next((m, f) for m in plan for f in m.functions if f.name == "total")
    file = target.contract_test(spec, plan, module, function)
    contracts = [f.contract for m in plan for f in m.functions]
    support = target.test_support(spec, literals_of(contracts, system.claims().values()))
    await language(target.name).tools.pinned().ensure()
    times: list[float] = []
    async with target.toolchain() as tools:
        for number in range(_ROUNDS + 1):
            body = Body(TOTALS[target.name].format(" + 0" * number), "", "worker", 1)
            sources = target.sources(spec, plan, {"payments.total": body})
            begun = time.perf_counter()
            errors = await tools.check(sources)
            report = await tools.test({**sources, **support, file.path: file.source}, [file.path])
            times.append(time.perf_counter() - begun)
            if errors or not report.passed:
                raise SystemExit(f"{target.title}: {[str(error) for error in errors]} {report}")
    bound = BOUNDS.get(target.name)
    return Figure(f"{target.title}: warm check and one function's tests", median(times[1:]), "s", at_most=bound)
