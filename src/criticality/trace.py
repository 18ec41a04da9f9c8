"""The trace claim -> contract -> test -> result (CT23): no claim is dropped without a word."""

from __future__ import annotations

from typing import Any

from criticality.artifacts import Artifacts
from criticality.pages import counted, page

#: What is shown of how a body was tried, where there is something.
_SHOWN = ("hardly", "unjudged", "presupposed", "places", "sizes", "suite", "solved")


def trace(artifacts: Artifacts) -> dict[str, Any]:
    """Return the trace as data; every claim of the specification and every function is in it."""
    spec = artifacts.spec
    if spec is None:
        return {"claims": {}, "functions": {}}
    functions = artifacts.functions
    left_out = [*artifacts.left_out, *(why for made in artifacts.clusters.values() for why in made.left_out)]
    results = _verdicts(artifacts)
    claims: dict[str, Any] = {}
    for name, claim in spec.claims.items():
        carrying = [f for f, (_, plan) in functions.items() if name in plan.contract.claims]
        parsed = artifacts.claims.get(name)
        tests = [f"{name}.{test.name}" for test in parsed.tests] if parsed else []
        tests += [
            f"{name}.{scenario['name']}"
            for cluster in artifacts.clusters.values()
            for scenario in cluster.scenarios
            if scenario["claim"] == name
        ]
        claims[name] = {
            "text": claim.text, "type": claim.type, "contracts": carrying, "tests": tests,
            "result": _result(name, tests, results, artifacts),
        }  # fmt: skip
    return {
        "system": spec.system.name,
        "specification": artifacts.revision,
        "claims": claims,
        "functions": {name: _function(name, plan, artifacts) for name, (_, plan) in functions.items()},
        "waived": dict(artifacts.waived),
        "security": _security(artifacts),
        **({"left_out": left_out} if left_out else {}),
        **({"by_hand": list(artifacts.by_hand)} if artifacts.by_hand else {}),
        "transformations": [
            {k: v for k, v in event.payload().items() if k in ("function", "pattern", "scope", "reason")}
            | {"outcome": event.type.rpartition(".")[2]}
            for event in artifacts.transforms
        ],
    }


def _security(artifacts: Artifacts) -> dict[str, str]:
    """Return what each scanner said: of the bodies as they were accepted, and of the finished project."""
    measured = artifacts.metrics
    if "scanner" not in measured:
        return {}
    findings = measured.get("security")
    bodies = "not run" if findings is None else counted(findings, "finding") if findings else "nothing found"
    return {f"{measured['scanner']}, body by body": bodies, **measured.get("scanners", {})}


def _verdicts(artifacts: Artifacts) -> dict[str, bool]:
    """Return what the last execution of each claim's cluster said."""
    verdicts: dict[str, bool] = {}
    for execution in artifacts.executions:
        cluster = artifacts.clusters.get(execution.cluster)
        for name in cluster.claims if cluster is not None else ():
            verdicts[name] = name not in execution.violated_claims
    return verdicts


def _result(name: str, tests: list[str], results: dict[str, bool], artifacts: Artifacts) -> str:
    if name in artifacts.waived:
        return f"not shown: {artifacts.waived[name]}"
    if not tests:
        return "not shown: no test"
    if name not in results:
        return "not run yet"
    return "holds in every test" if results[name] else "violated"


def _function(name: str, plan: Any, artifacts: Artifacts) -> dict[str, Any]:
    body = artifacts.bodies.get(name)
    measured = artifacts.measured.get(name, {})
    return {
        "contracts": list(plan.contract.lines),
        "tests": [p.text for p in (*plan.contract.ensures, *plan.contract.invariants) if p.checkable],
        "not_checkable": [p.text for p in plan.contract.predicates if not p.checkable],
        "complexity": _growth(plan, measured.get("grown", False)),
        "changes_noticed": measured.get("noticed", 0),
        **{word: measured.get(word, 0) for word in ("cases", "changes", "same", "independent")},
        "settled": list(artifacts.settled.get(name, ())),
        "left_open": list(artifacts.left_open.get(name, ())),
        **{key: measured[key] for key in _SHOWN if measured.get(key)},
        "accepted": body is not None,
        "tier": body.tier if body else None,
        "attempts": body.attempts if body else 0,
    }


def _growth(plan: Any, grown: bool) -> str | None:
    """Return what became of a COMPLEXITY clause."""
    if not plan.contract.complexity:
        return None
    return f"O({plan.contract.complexity}): " + ("steps grow no faster" if grown else "not measured")


def trace_markdown(data: dict[str, Any], isolation: str = "") -> str:
    """Return the trace for a reader."""
    return page("criticality", "trace.md.jinja", {}, {"data": data, "isolation": isolation})
