"""The findings of a review, written out: as a comment in Markdown and as SARIF."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import starmap
from textwrap import indent
from urllib.parse import quote as url_quote

from assay.protocols.crucible.proved import OPINION, RANKS, Shown, headline
from assay.report.clean import clean, fenced, one_line
from assay.report.markdown import block_markdown, plain_text, prose_text
from assay.report.sarif import Json, plain, sarif_text
from crucible.records import SEVERITIES, Severity
from crucible.reviewing import diff_places

_LEVELS: dict[Severity, str] = {"critical": "error", "major": "error", "minor": "note"}
_SHOWN = {"proved": "error", "argued": "warning", "changed": "warning"}


def comment(ones: Sequence[Shown], looked_at: str, outcome: str, *, diff: str | None = None) -> str:
    """Return the findings as Markdown for a pull request; what a model wrote has lost its powers.

    Args:
        ones: the findings, in the order in which they are shown.
        looked_at: what was examined; may be empty.
        outcome: what became of the objections to them, on a line; may be empty.
        diff: the change, on whose lines a forge can commit a fix; ``None`` where nobody tried to prove them.
    """
    count = f"{len(ones)} finding{'' if len(ones) == 1 else 's'}" if ones else "No findings"
    head = headline(ones) if ones and diff is not None else count
    touched = {place[:2] for place in diff_places(diff or "") if place}
    texts = ["\n\n".join(filter(None, _parts(one, touched))) for one in ones]
    held = sum(one.standing != "opinion" for one in ones)
    texts[held:held] = [f"*{OPINION}*"] if diff is not None and held < len(ones) else []
    looked = f"What was looked at: {plain_text(looked_at)}" if looked_at else ""
    return "\n\n".join(filter(None, [f"**{head}.** {plain_text(outcome)}".rstrip(), *texts, looked])) + "\n"


def _parts(one: Shown, touched: set[tuple[str, int]]) -> list[str]:
    quote, suggestion = one.finding.found.quote, one.suggestion(touched)
    mark = " *(these words do not stand there)*" if quote and not one.finding.verified else ""
    # Nothing acts in code, and its signs and indentation are what is quoted.
    code = indent(clean(quote.strip("\n")), "    ")
    return [
        f"### {plain_text(one.head)}\n\n`{one.finding.place.replace('`', '')}`{mark}",
        prose_text(one_line(one.witness.says)) if one.witness else code,
        plain_text(one.line),
        fenced(suggestion, "suggestion") if suggestion else "",
        *map(prose_text, one.prose),
        *map(block_markdown, one.evidence),
    ]


def sarif(ones: Sequence[Shown], run_id: str, faults: Sequence[str] = (), code: int | None = None) -> str:
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
    results = list(map(_result, ones))
    return sarif_text("Assay Review", rules, f"assay-review/{run_id}", results, faults=faults, code=code)


def _result(one: Shown) -> Json:
    finding = one.finding
    title = f"{one.standing.capitalize()}: {one.witness.says}" if one.witness else finding.found.title
    result: Json = {
        "ruleId": f"review/{finding.severity}",
        "level": _LEVELS[finding.severity],
        "message": {"text": plain(title), "markdown": prose_text("\n\n".join(one.prose) or finding.found.title)},
        "partialFingerprints": {"assay/v2": finding.fingerprint},
        "properties": {"quotation": "found" if finding.verified else "not found"},
    }
    # A file that is gone has no line to show in what is there now.
    places = [_physical(place.file, None if place.gone else place.lines) for place in finding.places]
    return {**result, **({"locations": places} if places else {}), **_proof(one, result["properties"])}


def _proof(one: Shown, properties: Json) -> Json:
    """Return what running showed, in the fields that SARIF has for it."""
    if one.proof is None:
        return {}
    related = [(place, "Without this piece of the change the test passes.") for place in one.proof.culprits]
    related += [(one.proof.words, "These words say what is right.")] if one.proof.words else []
    places = [_physical(*_place(place)) | {"message": {"text": text}} for place, text in related]
    data = one.proof.model_dump(mode="json", exclude_defaults=True)
    fix: Json = {"description": {"text": "A change with which the test passes."}}
    fix["artifactChanges"] = list(starmap(_changed, one.mended))
    return {
        "rank": RANKS[one.standing],
        "level": _SHOWN.get(one.standing, "note"),
        "properties": {**properties, "assay": {"proof": data}},
        **({"relatedLocations": places} if places else {}),
        **({"fixes": [fix]} if one.mended else {}),
    }


def _changed(path: str, first: int, last: int, text: str) -> Json:
    replaced = {"deletedRegion": {"startLine": first, "endLine": last}, "insertedContent": {"text": text}}
    return {"artifactLocation": {"uri": url_quote(path)}, "replacements": [replaced]}


def _place(written: str) -> tuple[str, tuple[int, int] | None]:
    at = re.fullmatch(r"(.+):(\d{1,7})(?:-(\d{1,7}))?", written, re.DOTALL)
    # A piece that only takes lines away ends before it begins.
    return (at[1], (max(int(at[2]), 1), max(int(at[2]), int(at[3] or 0), 1))) if at else (written, None)


def _physical(file: str, lines: tuple[int, int] | None) -> Json:
    region = {"region": {"startLine": lines[0], "endLine": lines[1]}} if lines else {}
    return {"physicalLocation": {"artifactLocation": {"uri": url_quote(file)}, **region}}
