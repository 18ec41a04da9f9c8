"""The findings of a review: read from its response, each with its place in a file, checked and written out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast
from urllib.parse import quote as url_quote

from assay.protocols.crucible.quotations import quotations
from assay.report.markdown import plain_text, prose_text
from assay.report.sarif import Json, known_again, plain, sarif_text
from crucible.material import Attachment, Dossier, ids

Severity: TypeAlias = Literal["critical", "major", "minor"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor")
DIFF = "diff"
_LEVELS: dict[Severity, str] = {"critical": "error", "major": "error", "minor": "note"}
_HEADING = re.compile(
    r"^[ \t]*+(?:#{2,6}|\*\*|-|\d+[.)])?+[ \t]*+\**+[\[(]?(critical|major|minor)[\])]?:?\**[ \t]*+(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_PLACE = re.compile(r"[\[(]?\b(A\d{1,3})(?::(\d{1,6})(?:[-–](\d{1,6}))?)?[\])]?[ \t]*[:–—-]?[ \t]*")
_FILE = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Args:
        title: in one sentence.
        text: what stands below it.
        file: where it is, as Git names it; empty where its place does not exist.
        lines: first and last, 1-based; ``None`` for the file as a whole.
        quoted: whether it quotes words, and all of them stand where they should.
    """

    severity: Severity
    title: str
    text: str
    file: str = ""
    lines: tuple[int, int] | None = None
    quoted: bool = False

    @property
    def place(self) -> str:
        """Where it is, in words."""
        if not self.file:
            return "place not found"
        if self.lines is None:
            return self.file
        first, last = self.lines
        return f"{self.file}:{first}" if first == last else f"{self.file}:{first}-{last}"


def diff_places(diff: str) -> list[tuple[str, int] | None]:
    """Return for each line of a diff the file and line that it is about, as they are after the change."""
    places: list[tuple[str, int] | None] = []
    file, line, left = "", 0, 0
    for text in diff.split("\n"):
        if left <= 0 and (head := _FILE.match(text)):
            file = head[1].strip('"')
        if hunk := _HUNK.match(text):
            line, left = int(hunk[1]), int(hunk[2] or 1)
            places.append((file, line))
            continue
        inside = bool(file) and line > 0 and text[:1] in (" ", "+", "-")
        places.append((file, max(line, 1)) if inside and not text.startswith(("+++ ", "--- ")) else None)
        if inside and text[:1] in (" ", "+") and left > 0:
            line, left = line + 1, left - 1
    return places


def findings(response: str, dossier: Dossier) -> list[Finding]:
    """Read the findings of a response; text before the first and the summary after a rule or heading stay out."""
    attachments = ids(dossier)
    marks = list(_HEADING.finditer(response))
    listed: list[Finding] = []
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(response)
        body = response[mark.end() : end]
        if after := re.search(r"^#{1,3} ", body, re.MULTILINE):
            body = body[: after.start()]
        severity = cast("Severity", mark[1].lower())
        place = _PLACE.search(mark[2])
        title = (_PLACE.sub("", mark[2], count=1) if place else mark[2]).strip(" *`:.-–—") or "Finding"
        file, lines = _where(place, attachments) if place else ("", None)
        quoted = quotations(body, attachments, [])
        sure = bool(quoted) and all(one.found != "nowhere" for one in quoted)
        listed.append(Finding(severity, title, body.strip(), file, lines, sure))
    return sorted(listed, key=lambda one: SEVERITIES.index(one.severity))


def _where(place: re.Match[str], attachments: Mapping[str, Attachment]) -> tuple[str, tuple[int, int] | None]:
    one = attachments.get(place[1])
    if one is None:
        return "", None
    if not place[2]:
        return ("", None) if one.name == DIFF else (one.name, None)
    first, last = int(place[2]), int(place[3] or place[2])
    if not 1 <= first <= last <= one.lines:
        return "", None
    if one.name != DIFF:
        return one.name, (first, last)
    places = [place for place in diff_places(one.text)[first - 1 : last] if place]
    if not places:
        return "", None
    file = places[0][0]
    numbers = [line for name, line in places if name == file]
    return file, (min(numbers), max(numbers))


def understood(response: str, listed: Sequence[Finding]) -> bool:
    """Tell whether a response is a review: findings in their form, or the words that there are none."""
    return bool(listed) or "no findings" in response.lower()


def at_least(listed: Sequence[Finding], severity: Severity) -> list[Finding]:
    """Return the findings that are as grave as this or graver."""
    return [one for one in listed if SEVERITIES.index(one.severity) <= SEVERITIES.index(severity)]


def comment(listed: Sequence[Finding], outcome: str) -> str:
    """Return the findings as Markdown for a pull request; what a model wrote has lost its powers.

    Args:
        outcome: what became of the objections to them, on a line; may be empty.
    """
    if not listed:
        return f"**No findings.**{f' {plain_text(outcome)}' if outcome else ''}\n"
    parts = [f"**{len(listed)} finding{'' if len(listed) == 1 else 's'}.** {plain_text(outcome)}".rstrip()]
    for one in listed:
        mark = "" if one.quoted else " *(its quotation was not found)*" if '"' in one.text else ""
        parts.append(f"### {one.severity}: {plain_text(one.title)}\n\n`{one.place.replace('`', '')}`{mark}")
        parts.append(prose_text(one.text))
    return "\n\n".join(parts) + "\n"


def sarif(listed: Sequence[Finding], run_id: str, faults: Sequence[str] = (), code: int | None = None) -> str:
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


def _result(one: Finding) -> Json:
    result: Json = {
        "ruleId": f"review/{one.severity}",
        "level": _LEVELS[one.severity],
        "message": {"text": plain(one.title), "markdown": prose_text(one.text)},
        "partialFingerprints": known_again(one.severity, one.file, " ".join(one.title.split())),
        "properties": {"quotation": "found" if one.quoted else "not found"},
    }
    if one.file:
        region: Json = {} if one.lines is None else {"startLine": one.lines[0], "endLine": one.lines[1]}
        place: Json = {"artifactLocation": {"uri": url_quote(one.file)}}
        result["locations"] = [{"physicalLocation": {**place, **({"region": region} if region else {})}}]
    return result
