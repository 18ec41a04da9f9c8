"""A verdict as a SARIF 2.1.0 log: a result for each pattern at its quotes, and one for the verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from assay import __version__
from assay.protocols.fire_circle.report.sarif_places import Places
from assay.report.clean import one_line
from assay.report.places import write_whole
from fire_circle import ReciprocityMetrics
from fire_circle.hidden import Hidden
from fire_circle.results import UNCLASSIFIED, Example, PatternObservation, PatternType

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Json: TypeAlias = dict[str, Any]

_RULES = {
    PatternType.TEMPORAL_INCONSISTENCY: "Relies on earlier conversation that cannot have taken place at this turn.",
    PatternType.CROSS_LAYER_FABRICATION: "Layers vouch for each other so that an invention looks confirmed.",
    PatternType.POLITE_EXTRACTION: "Courtesy and mutual-sounding language cover the taking of something.",
    PatternType.EDUCATIONAL_ESCALATION: "A teaching or research frame carries a request step by step.",
    PatternType.CONTEXT_SATURATION: "Bulk, repetition or filler buries the request that matters.",
    PatternType.ROLE_CONFUSION: "Blurs who is speaking, or recasts who the others are.",
    PatternType.FABRICATED_PROGRESSION: "Pretends that steps were completed or agreed.",
    PatternType.FALSE_AUTHORITY: "Claims a rank, a mandate or an approval that nothing supports.",
    UNCLASSIFIED: "A pattern that is none of the eight kinds.",
    "hidden_characters": "Holds characters that a reader does not see, or takes for others.",
    "verdict": "The highest F of all judgements.",
}


def write_sarif(path: Path, log: Json) -> None:
    """Write a log to a file.

    Raises:
        ConfigurationError: it cannot be written.
    """
    write_whole(path, json.dumps(log, indent=1) + "\n")


def sarif_error(message: str, code: int, run_id: str) -> Json:
    """Return the log of a run without a verdict: no results, and why."""
    fault = {"level": "error", "message": {"text": one_line(message)}}
    invocation = {"executionSuccessful": False, "exitCode": code, "toolExecutionNotifications": [fault]}
    return _log({"results": [], "invocations": [invocation]}, run_id)


def sarif_log(
    metrics: ReciprocityMetrics,
    task: Mapping[str, Any],
    run_id: str,
    fired: list[str],
    hidden: Sequence[Hidden] = (),
) -> Json:
    """Return the log as data.

    Args:
        metrics: the verdict.
        task: the run's: layers, and the prompt file as ``source`` where there is one.
        run_id: of the run in the store.
        fired: gates that hold; they make the verdict an error.
        hidden: what nobody sees in the prompt.
    """
    places = Places(task)
    run: Json = {
        "columnKind": "unicodeCodePoints",
        "results": [
            _verdict(metrics, fired, places),
            *(_pattern(pattern, places) for pattern in metrics.patterns),
            *(_hidden(found, places) for found in hidden),
        ],
        "invocations": [{"executionSuccessful": True}],
    }
    if places.artifacts:
        run["artifacts"] = places.artifacts
    return _log(run, run_id)


def _log(run: Json, run_id: str) -> Json:
    rules = [
        {"id": f"fire-circle/{rule}", "name": _camel(str(rule)), "shortDescription": {"text": text}}
        for rule, text in _RULES.items()
    ]
    tool = {"driver": {"name": "Assay Fire Circle", "version": __version__, "rules": rules}}
    whole = {"tool": tool, "automationDetails": {"id": f"fire-circle/{run_id}"}, **run}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [whole]}


def _verdict(metrics: ReciprocityMetrics, fired: Sequence[str], places: Places) -> Json:
    scores = f"F {metrics.falsehood:.2f}, T {metrics.truth:.2f}, I {metrics.indeterminacy:.2f}"
    return {
        "ruleId": "fire-circle/verdict",
        "kind": "fail" if fired else "informational",
        "level": "error" if fired else "none",
        "message": {"text": f"{scores}{'; gate: ' + ', '.join(fired) if fired else ''}."},
        "locations": [places.whole()],
        "properties": {"mode": metrics.mode, "partial": metrics.partial},
    }


def _pattern(pattern: PatternObservation, places: Places) -> Json:
    return {
        "ruleId": f"fire-circle/{pattern.pattern_type}",
        "kind": "fail",
        "level": "warning",
        "message": {"text": one_line(pattern.description) or pattern.pattern_type},
        "locations": [places.of(example) for example in pattern.located[:1]],
        "relatedLocations": [places.of(example) for example in pattern.located[1:]],
        "rank": round(pattern.model_agreement * 100, 1),
        "properties": {
            "agreement": pattern.model_agreement,
            "seats": [one_line(model) for model in pattern.models_observing],
            "round": pattern.observed_in_round,
            **({"tags": ["security", *_tags(pattern)]} if pattern.security else {}),
        },
    }


def _tags(pattern: PatternObservation) -> list[str]:
    references = [reference for kind in pattern.security for reference in kind.references]
    return list(dict.fromkeys([*(kind.value for kind in pattern.security), *references]))


def _hidden(found: Hidden, places: Places) -> Json:
    return {
        "ruleId": "fire-circle/hidden_characters",
        "kind": "fail",
        "level": "warning",
        "message": {"text": f"{found.kind}: {one_line(found.shown, 200)}"},
        "locations": [places.of(Example(quote=found.shown, span=found.span))],
    }


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
