"""Verdicts as a SARIF 2.1.0 log: a result for each prompt, for each pattern at its quotes, for what is hidden.

A result is known again by its rule, file, case and quote (``partialFingerprints``), wherever lines move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any

from assay.protocols.fire_circle.report.judged import Judged
from assay.protocols.fire_circle.report.sarif_places import Places
from assay.report.clean import one_line
from assay.report.sarif import Json, known_again, plain
from assay.report.sarif import sarif_text as log_text
from fire_circle.hidden import Hidden, visible
from fire_circle.results import Example, PatternObservation
from llm_runtime.toml import own_table

_HELP = (
    "{about} A circle of models agreed on this and quoted the words it rests on; read them in their place. Take "
    "them out, or judge the prompt again after a change. A maximum over many judgements also raises false alarms."
)


def sarif_text(
    judged: Sequence[Judged], category: str, run_id: str, faults: Sequence[str] = (), code: int | None = None
) -> str:
    """Return the text of a log.

    Args:
        judged: the prompts that there is something to say of.
        category: what tells this upload from others of the same tool.
        run_id: of the run in the store; empty where nobody was asked.
        faults: why there is no verdict, one line each.
        code: the exit code, where the run came to no verdict.
    """
    places = [(one, Places(one.task, one.name)) for one in judged]
    return log_text(
        "Assay Fire Circle",
        list(starmap(_rule, own_table(__package__ or "", "sarif.toml").items())),
        f"assay-circle/{category}/{run_id}",
        [result for one, where in places for result in _results(one, where)],
        faults=faults,
        code=code,
        artifacts=[artifact for _, where in places for artifact in where.artifacts],
    )


def _rule(name: str, told: Sequence[str]) -> Json:
    about, severity = told
    text = _HELP.format(about=about)
    return {
        "id": f"fire-circle/{name}",
        "name": "".join(word.capitalize() for word in name.split("_")),
        "shortDescription": {"text": about},
        "help": {"text": text, "markdown": text},
        "properties": {"tags": ["security"], "precision": "medium", "security-severity": severity},
    }


def _results(one: Judged, places: Places) -> list[Json]:
    patterns = (_pattern(pattern, places) for pattern in one.patterns)
    return [_verdict(one, places), *patterns, *(_hidden(piece, places) for piece in one.hidden)]


def _result(rule: str, message: str, places: Places, quote: str, locations: Sequence[Json], **rest: Any) -> Json:
    return {
        "ruleId": f"fire-circle/{rule}",
        "message": {"text": plain(message)},
        "locations": list(locations),
        "partialFingerprints": known_again(rule, places.uri, places.name, " ".join(quote.split())),
        **rest,
    }


def _verdict(one: Judged, places: Places) -> Json:
    stops = ", ".join(one.fired)
    named = f"{one.name}: " if one.name else ""
    message = f"{named}{one.scores}{f'; gate: {stops}' if stops else ''}{f'; {one.error}' if one.error else ''}."
    state = ("fail", "error") if stops or one.error else ("informational", "none")
    properties = {"mode": one.mode, "partial": one.partial}
    kind, level = state
    return _result("verdict", message, places, "", [places.whole()], kind=kind, level=level, properties=properties)


def _pattern(pattern: PatternObservation, places: Places) -> Json:
    located = list(map(places.of, pattern.located))
    references = [reference for kind in pattern.security for reference in kind.references]
    tags = list(dict.fromkeys(["security", *(kind.value for kind in pattern.security), *references]))
    properties: Mapping[str, Any] = {
        "agreement": pattern.model_agreement,
        "seats": [one_line(model) for model in pattern.models_observing],
        "round": pattern.observed_in_round,
        **({"tags": tags} if pattern.security else {}),
    }
    kind, quote = pattern.pattern_type, pattern.examples[0] if pattern.examples else pattern.description
    told = {"relatedLocations": located[1:], "kind": "fail", "level": "warning", "properties": properties}
    rank = round(pattern.model_agreement * 100, 1)
    return _result(kind, visible(pattern.description).text or kind, places, quote, located[:1], rank=rank, **told)


def _hidden(piece: Hidden, places: Places) -> Json:
    where = [places.of(Example(quote=piece.shown, span=piece.span))]
    message = f"{piece.kind}: {one_line(piece.shown, 200)}"
    return _result("hidden_characters", message, places, piece.shown, where, kind="fail", level="warning")
