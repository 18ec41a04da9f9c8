"""The trace claim -> contract -> test -> result (CT23): no claim is dropped without a word."""

from __future__ import annotations

from typing import Any

from criticality.artifacts import Artifacts
from criticality.language import Language
from criticality.testing import TestFile
from criticality.tree import claim_tests, contract_tests, scenario_tests

_BY = {"worker": "worker", "fallback1": "structurer", "fallback2": "architect"}


def trace(language: Language, artifacts: Artifacts) -> dict[str, Any]:
    """Return the trace as data; every claim of the specification and every function is in it."""
    spec = artifacts.spec
    if spec is None:
        return {"claims": {}, "functions": {}}
    functions = artifacts.functions
    files, contracts = claim_tests(language, artifacts), contract_tests(language, artifacts)
    scenarios = scenario_tests(language, artifacts)
    results = _verdicts(artifacts)
    claims: dict[str, Any] = {}
    for name, claim in spec.claims.items():
        carrying = [f for f, (_, plan) in functions.items() if name in plan.contract.claims]
        tests = [
            *_names(files.get(name)),
            *(t for k, f in scenarios.items() if k.endswith(f":{name}") for t in f.promises),
        ]
        claims[name] = {
            "text": claim.text,
            "type": claim.type,
            "contracts": carrying,
            "tests": tests,
            "result": _result(name, tests, results, artifacts),
        }
    return {
        "system": spec.system.name,
        "specification": artifacts.revision,
        "claims": claims,
        "functions": {
            name: _function(name, plan, contracts[name], artifacts) for name, (_, plan) in functions.items()
        },
        "waived": dict(artifacts.waived),
        "transformations": [
            {k: v for k, v in event.payload().items() if k in ("function", "pattern", "scope", "reason")}
            | {"outcome": event.type.rpartition(".")[2]}
            for event in artifacts.transforms
        ],
    }


def _names(file: TestFile | None) -> list[str]:
    return list(file.promises) if file is not None else []


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


def _function(name: str, plan: Any, file: TestFile, artifacts: Artifacts) -> dict[str, Any]:
    body = artifacts.bodies.get(name)
    mutation = artifacts.metrics.get("mutation", {}).get(name, {})
    unchecked = [p.text for p in plan.contract.predicates if not p.checkable]
    return {
        "contracts": list(plan.contract.lines),
        "tests": list(file.promises),
        "not_checkable": unchecked,
        "complexity": _growth(plan, file, accepted=body is not None),
        "changes": mutation.get("changes", 0),
        "changes_noticed": mutation.get("noticed", 0),
        "seen_to_fail_on_a_change": mutation.get("failed_on_a_change", []),
        "accepted": body is not None,
        "tier": body.tier if body else None,
        "attempts": body.attempts if body else 0,
    }


def _growth(plan: Any, file: TestFile, *, accepted: bool) -> str | None:
    """Return what became of a COMPLEXITY clause."""
    if not plan.contract.complexity:
        return None
    counted = accepted and any(promise.startswith("COMPLEXITY:") for promise in file.promises.values())
    return f"O({plan.contract.complexity}): " + ("steps grow no faster" if counted else "not measured")


def trace_markdown(data: dict[str, Any], isolation: str = "") -> str:
    """Return the trace for a reader."""
    lines = [f"# What was asked of {data.get('system', 'the system')}, and what shows it", ""]
    if isolation:
        lines += [f"Tests ran under: {isolation}.", ""]
    held = sum(1 for c in data["claims"].values() if c["result"] == "holds in every test")
    lines += [f"{held} of {len(data['claims'])} claims hold in every test made for them.", "", "## Claims", ""]
    for name, claim in data["claims"].items():
        lines += [f"### {name}: {_plain(claim['text'])}", "", f"- result: **{claim['result']}**"]
        lines += [f"- contracts: {', '.join(f'`{f}`' for f in claim['contracts']) or 'none refers to it'}"]
        lines += [f"- tests: {', '.join(f'`{t}`' for t in claim['tests']) or 'none'}", ""]
    lines += ["## Functions", "", "| function | clauses | tests | changes noticed | attempts | by |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, f in data["functions"].items():
        noticed = f"{f['changes_noticed']} of {f['changes']}"
        by = _BY.get(f["tier"], "not accepted")
        lines.append(
            f"| `{name}` | {len(f['contracts'])} | {len(f['tests'])} | {noticed} | {f['attempts']} | {by} |"
        )
    grown = [(n, f["complexity"]) for n, f in data["functions"].items() if f["complexity"]]
    if grown:
        lines += ["", "## Growth", "", *(f"- `{n}`: {text}" for n, text in grown)]
    guided = [(n, t) for n, f in data["functions"].items() for t in f["not_checkable"]]
    if guided:
        lines += [
            "",
            "## Clauses that guide and are not checked",
            "",
            *(f"- `{n}`: {_plain(t)}" for n, t in guided),
        ]
    lines += [
        "", "Before there was a body, every test failed on the skeleton. \"Changes noticed\" says how many small",
        "changes of the accepted body made at least one test fail.",
    ]  # fmt: skip
    if data["transformations"]:
        lines += ["", "## Refactoring", ""]
        lines += [
            f"- `{t['function']}`: {t['pattern']}, {t['outcome'].replace('_', ' ')}"
            + (f" ({_plain(t['reason'])})" if t.get("reason") else "")
            for t in data["transformations"]
        ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """One line, without what Markdown or HTML would make something of."""
    return " ".join(text.split()).replace("<", "&lt;").replace("|", "\\|").replace("`", "'")
