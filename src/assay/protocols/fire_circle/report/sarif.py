"""A verdict as a SARIF 2.1.0 log: a result for each pattern at its quotes, and one for the verdict.

Places are those of the prompt file where there is one and the quote stands in it as it is; else of the layer, whose
text travels in the log as an artifact.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote as url_quote

from assay import __version__
from assay.report.clean import clean, one_line
from assay.report.places import write_whole
from fire_circle import ReciprocityMetrics
from fire_circle.layers import BY_TRUST
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


def sarif_log(metrics: ReciprocityMetrics, task: Mapping[str, Any], run_id: str, fired: list[str]) -> Json:
    """Return the log as data.

    Args:
        metrics: the verdict.
        task: the run's: layers, and the prompt file as ``source`` where there is one.
        run_id: of the run in the store.
        fired: gates that hold; they make the verdict an error.
    """
    places = _Places(task)
    run: Json = {
        "columnKind": "unicodeCodePoints",
        "results": [_verdict(metrics, fired, places), *(_pattern(p, places) for p in metrics.patterns)],
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


def _verdict(metrics: ReciprocityMetrics, fired: list[str], places: _Places) -> Json:
    scores = f"F {metrics.falsehood:.2f}, T {metrics.truth:.2f}, I {metrics.indeterminacy:.2f}"
    return {
        "ruleId": "fire-circle/verdict",
        "kind": "fail" if fired else "informational",
        "level": "error" if fired else "none",
        "message": {"text": f"{scores}{'; gate: ' + ', '.join(fired) if fired else ''}."},
        "locations": [places.whole()],
        "properties": {"mode": metrics.mode, "partial": metrics.partial},
    }


def _pattern(pattern: PatternObservation, places: _Places) -> Json:
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
        },
    }


class _Places:
    """Where quotes stand."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self._layers = {name: str(task[name]) for name in BY_TRUST if task.get(name)}
        source = task.get("source")
        self._source = _read(source) if isinstance(source, str) else None
        self._uri = url_quote(Path(source).as_posix()) if isinstance(source, str) else ""
        self.artifacts: list[Json] = []
        if self._source is None:
            self.artifacts = [
                {"location": {"uri": f"prompt/{name}"}, "contents": {"text": clean(text)}}
                for name, text in self._layers.items()
            ]

    def whole(self) -> Json:
        """Return the prompt."""
        judged = list(self._layers)[-1] if self._layers else "user"
        uri = self._uri if self._source is not None else f"prompt/{judged}"
        return {"physicalLocation": {"artifactLocation": {"uri": uri}}, "logicalLocations": [_logical(judged)]}

    def of(self, example: Example) -> Json:
        """Return a quote's place; in the file by its line, in a layer by its characters."""
        layer = example.span.layer
        region: Json = {"snippet": {"text": clean(example.quote)}}
        uri = f"prompt/{layer}"
        if self._source is not None:
            uri = self._uri
            first = example.quote.split("\n", 1)[0].strip()
            at = self._source.find(first) if first else -1
            region["startLine"] = 1 if at < 0 else self._source.count("\n", 0, at) + 1
        else:
            region["charOffset"] = example.span.start
            region["charLength"] = example.span.end - example.span.start
        physical = {"artifactLocation": {"uri": uri}, "region": region}
        return {"physicalLocation": physical, "logicalLocations": [_logical(layer)]}


def _logical(layer: str) -> Json:
    return {"name": layer, "fullyQualifiedName": f"prompt.{layer}", "kind": "member"}


def _read(source: str) -> str | None:
    try:
        return Path(source).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
