"""What a body is looked at for before it is accepted: splice, tree, security scan, type checker, the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from criticality import events as e
from criticality.artifacts import Artifacts, Body, bodies_of
from criticality.bodies import BodyUnreadable, SpliceRefused
from criticality.judging.hearing import Verdict
from criticality.language import Language
from criticality.tree import skeleton
from criticality.verdicts import due, judged, rested_on
from criticality.work import Work


async def examine(
    work: Work, received: e.ImplementationReceived, settled: Mapping[str, Sequence[str]] | None = None
) -> tuple[dict[str, Any] | None, Verdict]:
    """Return what is wrong with bodies, as a typed failure without code, and the judge's verdict.

    From cheap to dear: splice, look at the tree, security scan, type checker, the judge.
    """
    if received.fault is not None:
        return received.fault, Verdict()
    others = rested_on(work.artifacts, received.unit)
    failure = await unfit(work, received.bodies, others)
    if failure is not None:
        return failure, Verdict()
    unit, bodies = received.unit.split("+"), others | bodies_of(received.bodies)
    verdict = await judged(work, unit, bodies, due(work.artifacts, received.unit), settled=settled)
    return failure_of(verdict), verdict


async def unfit(work: Work, texts: Mapping[str, str], others: Mapping[str, Body]) -> dict[str, Any] | None:
    """Return what is wrong with bodies before they run."""
    static = static_failure(work.language, work.artifacts, texts)
    if static is not None:
        return static
    spec = work.artifacts.approved
    errors = await work.tools.check(work.language.sources(spec, work.artifacts.plan, {**others, **bodies_of(texts)}))
    return {"kind": "type", "what": [error.message[:300] for error in errors[:8]]} if errors else None


def failure_of(verdict: Verdict) -> dict[str, Any] | None:
    """Return a verdict as a typed failure."""
    if not verdict.faults:
        return None
    kinds = {fault.kind for fault in verdict.faults}
    kind = next((k for k in ("security", "coherence", "timeout", "semantic", "test") if k in kinds), "complexity")
    cases = [[fault.function, fault.args] for fault in verdict.faults if fault.args is not None]
    return {"kind": kind, "what": [fault.what for fault in verdict.faults[:8]], "cases": cases}


def static_failure(language: Language, artifacts: Artifacts, bodies: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what is wrong with bodies before anything runs: they reach too far, or do what they may not."""
    spec, functions = artifacts.approved, artifacts.functions
    every = {name.partition(".")[2] for name in functions}
    for name, body in bodies.items():
        module, function = functions[name]
        source = skeleton(language, artifacts)[language.module_path(spec, module.name)]
        try:
            language.splice(source, function.name, body)
        except BodyUnreadable as refused:
            return {"kind": "syntax", "what": [f"{function.name}: {refused}"]}
        except SpliceRefused as refused:
            return {"kind": "security", "what": [f"{function.name}: {refused}"]}
        findings = language.inspect_body(body, function, module=module.name, siblings=every)
        findings += language.security_findings(body, function)
        if findings:
            kind = "security" if any(f.kind == "security" for f in findings) else "semantic"
            return {"kind": kind, "what": [f"{function.name}: {f.what}" for f in findings[:6]]}
    return None
