"""The findings of a review, written out: as a comment in Markdown and as SARIF."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote as url_quote

from assay.report.markdown import plain_text, prose_text
from assay.report.sarif import Json, plain, sarif_text
from crucible.records import SEVERITIES, Severity
from crucible.reviewing import CheckedFinding

_LEVELS: dict[Severity, str] = {"critical": "error", "major": "error", "minor": "note"}


def comment(listed: Sequence[CheckedFinding], looked_at: str, outcome: str) -> str:
    """Return the findings as Markdown for a pull request; what a model wrote has lost its powers.

    Args:
        looked_at: what was examined.
        outcome: what became of the objections to them, on a line; may be empty.
    """
    count = f"{len(listed)} finding{'' if len(listed) == 1 else 's'}." if listed else "No findings."
    parts = [f"**{count}** {plain_text(outcome)}".rstrip()]
    for one in listed:
        found, mark = one.found, "" if one.verified else " *(these words do not stand there)*"
        parts.append(f"### {one.severity}: {plain_text(found.title)}\n\n`{one.place.replace('`', '')}`{mark}")
        if found.quote:
            parts.append("\n".join(f"    {plain_text(line)}" for line in found.quote.split("\n")))
        parts += [prose_text(part) for part in (found.fails, found.mend and f"What to do: {found.mend}") if part]
    parts.append(f"What was looked at: {plain_text(looked_at)}")
    return "\n\n".join(parts) + "\n"


def sarif(
    listed: Sequence[CheckedFinding], run_id: str, faults: Sequence[str] = (), code: int | None = None
) -> str:
    """Return the findings as a SARIF log."""
    rules: list[Json] = [
        {
            "id": f"review/{severity}",
            "name": severity.capitalize(),
            "shortDescription": {"text": f"A {severity} defect that stood up to a red team."},
            "properties": {"precision": "medium", "problem.severity": _LEVELS[severity].replace("note", "warning")},
        }
        for severity in SEVERITIES
    ]
    results = [_result(one) for one in listed]
    return sarif_text("Assay Review", rules, f"assay-review/{run_id}", results, faults=faults, code=code)


def _result(one: CheckedFinding) -> Json:
    found = one.found
    text = "\n\n".join(part for part in (found.fails, found.mend and f"What to do: {found.mend}") if part)
    result: Json = {
        "ruleId": f"review/{one.severity}",
        "level": _LEVELS[one.severity],
        "message": {"text": plain(found.title), "markdown": prose_text(text or found.title)},
        "partialFingerprints": {"assay/v2": one.fingerprint},
        "properties": {"quotation": "found" if one.verified else "not found"},
    }
    places: list[Json] = []
    for place in one.places:
        physical: Json = {"artifactLocation": {"uri": url_quote(place.file)}}
        # A file that is gone has no line to show in what is there now.
        if place.lines is not None and not place.gone:
            physical["region"] = {"startLine": place.lines[0], "endLine": place.lines[1]}
        places.append({"physicalLocation": physical})
    return result | ({"locations": places} if places else {})
