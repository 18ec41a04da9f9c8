"""The trace claim -> contract -> test -> result, read off the events alone: no toolchain is needed to look back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from assay.protocols.criticality.report.state import BuildState

Result = Literal["holds", "violated", "not run yet", "not shown"]


@dataclass(frozen=True, slots=True)
class Traced:
    """A claim with everything that stands for it.

    Args:
        contracts: functions whose contract refers to it.
        tests: names of the tests made for it.
        reason: why nothing shows it, where nothing does.
        times: how often its cluster ran.
    """

    name: str
    text: str
    kind: str
    contracts: tuple[str, ...]
    tests: tuple[str, ...]
    result: Result
    reason: str = ""
    times: int = 0


def traced(state: BuildState) -> list[Traced]:
    """Every claim of the approved specification, in its order."""
    artifacts = state.artifacts
    if artifacts.spec is None:
        return []
    test_names = _test_names(state)
    verdicts, times = _verdicts(state)
    claims: list[Traced] = []
    for name, claim in artifacts.spec.claims.items():
        structured = artifacts.claims.get(name)
        tests = test_names.get(name) or tuple(test.name for test in structured.tests) if structured else ()
        contracts = tuple(f for f, (_, plan) in artifacts.functions.items() if name in plan.contract.claims)
        result, reason = _result(name, tests, verdicts, artifacts.waived)
        claims.append(Traced(name, claim.text, claim.type, contracts, tests, result, reason, times.get(name, 0)))
    return claims


def _result(
    name: str, tests: tuple[str, ...], verdicts: dict[str, bool], waived: dict[str, str]
) -> tuple[Result, str]:
    if name in waived:
        return "not shown", waived[name]
    if name in verdicts:
        return ("holds", "") if verdicts[name] else ("violated", "")
    return ("not run yet", "") if tests else ("not shown", "no test has been made for it yet")


def _verdicts(state: BuildState) -> tuple[dict[str, bool], dict[str, int]]:
    """Return what the last execution of each claim's cluster said, and how often that cluster ran."""
    results: dict[str, bool] = {}
    times: dict[str, int] = {}
    for execution in state.artifacts.executions:
        for name in state.clustered.get(execution.cluster, ()):
            results[name] = name not in execution.violated_claims
            times[name] = times.get(name, 0) + 1
    return results, times


def _test_names(state: BuildState) -> dict[str, tuple[str, ...]]:
    """Return the names of tests as the finished project's own trace has them."""
    trace = cast("dict[str, Any]", state.run.result.get("trace") or {})
    claims = cast("dict[str, dict[str, Any]]", trace.get("claims") or {})
    return {name: tuple(map(str, claim.get("tests", ()))) for name, claim in claims.items()}
