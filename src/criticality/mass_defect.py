"""Mass Defect: smells, one pattern at a time, verified by its risk, or reverted."""

from __future__ import annotations

from typing import Any, Literal

from criticality import events as e
from criticality.artifacts import Artifacts, Body
from criticality.audits import audited
from criticality.bodies import SpliceRefused
from criticality.catalog import SCOPES, DetectedSmell, patterns, select_patterns
from criticality.machine.states import AnalyzingComplexity, ApplyingTransform, VerifyingSemantics
from criticality.tree import full_tree, skeleton
from criticality.verdicts import due, judged
from criticality.work import Work
from llm_runtime.errors import StructuredOutputError
from llm_runtime.events import Event
from llm_runtime.models import Model


class Transformation(Model):
    """A model's answer: the new body, or the guard that applies."""

    decision: Literal["apply", "skip"]
    guard: str = ""
    body: str = ""
    declarations: str = ""


async def analyze(work: Work) -> Event:
    """Measure everything, and choose what to try next: nothing where no pattern is left."""
    phase = work.at(AnalyzingComplexity)
    smells, metrics = await work.language.smells(work.artifacts.plan, _modules(work, work.artifacts.bodies))
    target = _next(work, smells) if phase.applied < work.config.mass_defect.max_transforms else None
    # Of the code as it is delivered: measured once nothing is left to be tried.
    summary = _summary(work, metrics, _coverage(work.artifacts) if target is None else None)
    if target is None:
        spec = work.artifacts.approved
        sources, manifests = full_tree(work.language, work.artifacts), work.language.project_files(spec)
        summary["scanners"] = await audited(work.language.audits, sources, manifests)
    summary["mutation"] = work.artifacts.metrics.get("mutation") or {
        name: {"changes": m.get("changes", 0), "noticed": m.get("noticed", 0)}
        for name, m in work.artifacts.measured.items()
    }
    found = [{"function": one.function, "smell": one.smell_id, "severity": one.severity} for one in smells]
    return e.ComplexityAnalyzed(metrics=summary, smells=found, target=target)


def _next(work: Work, smells: list[DetectedSmell]) -> dict[str, Any] | None:
    for name in work.artifacts.functions:
        here = [smell for smell in smells if smell.function == name]
        tried = [pattern for function, pattern in work.artifacts.attempted if function == name]
        for choice in select_patterns(here, tried, work.language.examples):
            return {"function": name, "pattern": choice.pattern_id, "smell": choice.smell, "risk": choice.risk}
    return None


def _modules(work: Work, bodies: dict[str, Body]) -> dict[str, str]:
    spec = work.artifacts.approved
    tree = work.language.sources(spec, work.artifacts.plan, bodies)
    return {module.name: tree[work.language.module_path(spec, module.name)] for module in work.artifacts.plan}


def _coverage(artifacts: Artifacts) -> float | None:
    """Return the share of the bodies' places that ran when they were judged; none where nobody counts."""
    places = [told["places"] for told in artifacts.measured.values() if told.get("places")]
    return round(sum(ran for ran, _ in places) / sum(every for _, every in places), 4) if places else None


def _summary(work: Work, metrics: dict[str, dict[str, int]], coverage: float | None) -> dict[str, Any]:
    """Return what was measured against its target; what was not measured is called that (CT15)."""
    targets, scanner = work.config.mass_defect.targets, work.language.scanner()
    worst = {key: max((m[key] for m in metrics.values()), default=0) for key in ("complexity", "length", "nesting")}
    findings = [
        finding
        for name, (_, function) in work.artifacts.functions.items()
        for finding in work.language.security_findings(work.artifacts.bodies[name].text, function)
    ]
    text = "".join(_modules(work, work.artifacts.bodies).values())
    wanted = (
        ("max_cyclomatic_complexity", worst["complexity"], targets.max_cyclomatic_complexity),
        ("max_function_length_lines", worst["length"], targets.max_function_length_lines),
        ("max_nesting_depth", worst["nesting"], targets.max_nesting_depth),
    )
    return {
        "functions": metrics,
        "lines": text.count("\n"),
        "avgCyclomaticComplexity": round(sum(m["complexity"] for m in metrics.values()) / max(1, len(metrics)), 3),
        "testCoverage": coverage,
        "security": len(findings) if scanner else None,
        "scanner": scanner or "not run",
        "targets": {
            **{name: {"measured": value, "target": limit, "met": value <= limit} for name, value, limit in wanted},
            "min_test_coverage": {
                "measured": "not measured" if coverage is None else coverage,
                "target": targets.min_test_coverage,
                "met": None if coverage is None else coverage >= targets.min_test_coverage,
            },
        },
    }


async def transform(work: Work) -> Event:
    """Ask for the transformation; a model that names a guard is believed."""
    phase = work.at(ApplyingTransform)
    name, pattern = phase.target_function, patterns()[phase.pattern_id]
    role = "worker" if phase.risk <= 2 else "architect"
    question = work.ask.question("mass_defect", f"{name}+{pattern.id}", role, work.round)
    function = work.artifacts.functions[name][1]
    shown = question.fence("FUNCTION", work.language.shown(function, work.artifacts.bodies[name].text))
    told = pattern.prompt(work.language.examples[phase.pattern_id])
    measured = f"{phase.smell}; {work.artifacts.metrics['functions'][name]}"
    try:
        given = {"pattern": told, "function": shown, "measured": measured}
        answer = await work.ask.data(question, Transformation, "transform", None, **given)
    except StructuredOutputError as fault:
        return e.TransformSkipped(function=name, pattern=pattern.id, reason=f"the answer was of no use: {fault}")
    if answer.decision == "skip" or not answer.body.strip():
        return e.TransformSkipped(function=name, pattern=pattern.id, reason=answer.guard or "skipped")
    if answer.declarations.strip() and not pattern.declares:
        reason = "the pattern declares nothing, the answer does"
        return e.TransformSkipped(function=name, pattern=pattern.id, reason=reason)
    return e.TransformApplied(function=name, pattern=pattern.id, body=answer.body, declarations=answer.declarations)


async def verify(work: Work) -> Event:
    """Accept or revert, with as much testing as the risk asks for."""
    phase, applied = work.at(VerifyingSemantics), work.artifacts.transforming
    assert applied is not None
    scope = SCOPES[phase.risk]
    reason = await _objection(work, applied, phase.risk)
    if reason:
        return e.SemanticsBroken(function=applied.function, pattern=applied.pattern, scope=scope, reason=reason)
    return e.SemanticsVerified(function=applied.function, pattern=applied.pattern, scope=scope)


async def _objection(work: Work, applied: e.TransformApplied, risk: int) -> str:
    spec, name, language = work.artifacts.approved, applied.function, work.language
    module, function = work.artifacts.functions[name]
    fault = language.declaration_fault(applied.declarations)
    if fault:
        return fault
    try:
        source = skeleton(language, work.artifacts)[language.module_path(spec, module.name)]
        language.body_of(language.splice(source, function.name, applied.body), function.name)
    except SpliceRefused as refused:
        return str(refused)
    every = {n.partition(".")[2] for n in work.artifacts.functions}
    findings = language.inspect_body(applied.body, function, module=module.name, siblings=every)
    if findings:
        return findings[0].what
    bodies = {**work.artifacts.bodies, name: work.artifacts.bodies[name].transformed(applied)}
    errors = await work.tools.check(language.sources(spec, work.artifacts.plan, bodies))
    if errors:
        return f"the type checker refuses it: {errors[0].message}"
    if await _weight(work, name, bodies) >= await _weight(work, name, work.artifacts.bodies):
        return "no gain: the smells are still there"
    return await _broken(work, name, risk, bodies)


async def _broken(work: Work, name: str, risk: int, bodies: dict[str, Body]) -> str:
    """Return what the judge says against a transformed function, over as much as its risk asks for."""
    artifacts = work.artifacts
    if risk <= 1:
        return ""
    unit = next("+".join(members) for members in artifacts.order if name in members)
    units, claims, clusters = unit.split("+"), due(artifacts, unit), [""]
    if risk >= 3:
        units = [n for n in artifacts.functions if risk >= 4 or n.partition(".")[0] == name.partition(".")[0]]
        claims = [c for c, claim in artifacts.claims.items() if claim.tests and (risk >= 4 or len(claim.functions) > 1)]
        clusters = list(artifacts.clusters) or [""]
    for number, cluster in enumerate(clusters):
        asked = (units, claims) if number == 0 else ((), ())
        verdict = await judged(work, asked[0], bodies, asked[1], cluster=cluster)
        for found in (verdict.guilty, *verdict.faults):
            if found is not None:
                return found.what[:300]
    return ""


async def _weight(work: Work, name: str, bodies: dict[str, Body]) -> float:
    """Return how much a function smells with its body among these."""
    module = name.partition(".")[0]
    smells, _ = await work.language.smells(work.artifacts.plan, {module: _modules(work, bodies)[module]})
    return sum(1 + smell.severity / 100 for smell in smells if smell.function == name)
