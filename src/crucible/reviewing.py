"""The findings of a review: the words that each quotes looked for at its place, and where that is in a file."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from crucible.behaviour import BEHAVIOUR
from crucible.material import Attachment, Dossier, ids
from crucible.records import SEVERITIES, ClaimRecord, FindingRecord, Severity
from llm_runtime.structs import Struct

DIFF = "diff"
"""The name of an attachment that is a diff."""
_PLACE = re.compile(
    r"\b(A\d{1,3})(?:\s*+(?:[:,]\s*+)?(?:lines?\s*+)?(\d{1,6})(?:\s*+(?:[-–—]|to)\s*+(\d{1,6}))?)?", re.IGNORECASE
)
_OLD = re.compile(r"^--- (\"?)(?:a/)?([^\t\n]+)")
_NEW = re.compile(r"^\+\+\+ (\"?)(?:b/)?([^\t\n]+)")
#: What names a file that no hunk follows on: one whose mode or name alone is another, or that is no text.
_NAMED = re.compile(
    r"^(?:diff --git \"?a/(?P<same>.+?)(?P<mark>\"?) \"?b/(?P=same)\"?|(?:rename|copy) to (?P<new>.+))$"
)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NUMBER = re.compile(r"^ *\d+\| ?")
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " "})
_ELLIPSIS = re.compile(r"(?=.*?(?:\.\.\.|…))[\s.…\[\]]*+$")
_WHOLE = r"(?:(?<!\w)|(?!\w))"
#: Signs of a quotation that, in the middle of a line, stands in so many places that it shows nothing.
_LEAST = 3
#: A place that is given is mended where the words stand this close to it, in lines.
_NEAR = 5


class ChangedPlace(Struct):
    """Where something is in a file, as Git names it: first and last line, 1-based; ``None`` for all of it.

    ``gone`` says that the file is no more after the change; its lines are those of before.
    """

    file: str
    lines: tuple[int, int] | None = None
    gone: bool = False

    def __str__(self) -> str:
        if self.lines is None:
            return self.file
        first, last = self.lines
        return f"{self.file}:{first}" if first == last else f"{self.file}:{first}-{last}"


class CheckedFinding(Struct):
    """One finding, and what of it was checked.

    Args:
        found: as the review says it.
        places: where it is; several where it spans files, none where its place does not exist.
        verified: these words stand at this place.
    """

    found: FindingRecord
    places: tuple[ChangedPlace, ...]
    verified: bool

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return self.found.severity

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return ", ".join(map(str, self.places)) or "place not found"

    @property
    def fingerprint(self) -> str:
        """The same for the same lines of the same file, however the finding is worded; 32 hexadecimal digits."""
        file = self.places[0].file if self.places else ""
        what = " ".join("".join(_lines(self.found.quote)).split()) if self.verified else self.found.title
        return hashlib.sha256(f"{file}\n{' '.join(what.split())}".encode()).hexdigest()[:32]


def checked(found: Iterable[FindingRecord], dossier: Dossier) -> list[CheckedFinding]:
    """Return findings with their places, the gravest first; a place that is off by a little is mended."""
    attachments = ids(dossier)
    return sorted((_checked(one, attachments) for one in found), key=lambda one: SEVERITIES.index(one.severity))


def borne_out(claim: ClaimRecord, dossier: Dossier) -> ClaimRecord:
    """Return a claim with the quotation that it rests on, at its place; without one that stands nowhere."""
    name, (first, last), stands = _located(claim, ids(dossier))
    place = str(ChangedPlace(name, (first, last)))
    return claim.model_copy(update={"place": place} if stands else {"quote": "", "place": ""})


def at_least(listed: Sequence[CheckedFinding], severity: Severity) -> list[CheckedFinding]:
    """Return the findings that are as grave as this or graver."""
    return [one for one in listed if SEVERITIES.index(one.severity) <= SEVERITIES.index(severity)]


def _checked(one: FindingRecord, attachments: dict[str, Attachment]) -> CheckedFinding:
    name, (first, last), stands = _located(one, attachments)
    item = attachments.get(name)
    if item is None or (first and not 1 <= first <= last <= item.lines):
        return CheckedFinding(one, (), verified=False)
    mended = one.model_copy(update={"place": str(ChangedPlace(name, (first, last)))}) if first else one
    return CheckedFinding(mended, _places(item, first, last), verified=stands)


def _located(one: FindingRecord | ClaimRecord, attachments: dict[str, Attachment]) -> tuple[str, tuple[int, int], bool]:
    """Return attachment and lines of what is claimed, and whether its words stand there."""
    name, said = _given(one.place if BEHAVIOUR.before(18) else _by_id(one.place, attachments))
    if name in attachments:
        stands = _stands(one.quote, attachments[name], *said)
    else:
        # No place, or one of nothing that is attached: the words alone may tell.
        name, stands = _alone(one.quote, attachments)
    return name, stands or said, stands is not None


def _alone(quote: str, attachments: dict[str, Attachment]) -> tuple[str, tuple[int, int] | None]:
    """Return where words stand but once; what a change brings stands in its diff and in the file, which is once."""
    hits = [(id, hit) for id, item in attachments.items() for hit in _everywhere(quote, item)]
    if not BEHAVIOUR.before(18):
        hits = [hit for hit in hits if attachments[hit[0]].name != DIFF] or hits
    return hits[0] if len(hits) == 1 else ("", None)


def _by_id(place: str, attachments: dict[str, Attachment]) -> str:
    """Return a place with its attachment's id where it has the name of the file, as ``m.py:2``."""
    called = (id for id, item in attachments.items() if f"{place}:".startswith(f"{item.name}:"))
    return next((id + place[len(attachments[id].name) :] for id in called), place)


def _given(place: str) -> tuple[str, tuple[int, int]]:
    """Return the attachment that a place names, and its lines; ``""`` and zeros where it names none."""
    given = _PLACE.search(place)
    return (given[1].upper(), (int(given[2] or 0), int(given[3] or given[2] or 0))) if given else ("", (0, 0))


def _stands(quote: str, item: Attachment, first: int, last: int) -> tuple[int, int] | None:
    """Return the lines on which words stand: those given, else the ones nearby or the only ones."""
    hits = _everywhere(quote, item)
    if not first:
        return hits[0] if len(hits) == 1 else None
    if any(first <= hit[0] and hit[1] <= last for hit in hits):
        return first, last
    near = sorted(hits, key=lambda hit: abs(hit[0] - first))
    return near[0] if near and (len(near) == 1 or abs(near[0][0] - first) <= _NEAR) else None


def _everywhere(quote: str, item: Attachment) -> list[tuple[int, int]]:
    """Return first and last line of each place where all of a quotation stands, in order."""
    bare = (_bare(line, marked=item.name == DIFF) for line in item.text.split("\n"))
    numbered = [(number, line) for number, line in enumerate(bare, 1) if line or BEHAVIOUR.before(17)]
    hits = _hits([part for part in _parts(quote) if part], [line for _, line in numbered])
    return [(numbered[start][0], numbered[end - 1][0]) for start, end in hits]


def _hits(parts: Sequence[list[str]], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    for start in _starts(parts[0], lines) if parts else ():
        end = _end(parts, lines, start)
        if end and _shows([*chain(*parts)], lines[start:end]):
            yield start, end


def _shows(said: list[str], here: Sequence[str]) -> bool:
    """Tell whether words are enough to show something: several signs, or all of the lines on which they stand."""
    return sum(map(str.isalnum, "".join(said))) >= _LEAST or (said == here and not BEHAVIOUR.before(17))


def _end(parts: Sequence[Sequence[str]], lines: Sequence[str], start: int) -> int:
    """Return where the last part ends, when the first begins at ``start``; 0 where one is missing."""
    end = start + len(parts[0])
    for part in parts[1:]:
        after = next((at for at in _starts(part, lines) if at >= end), None)
        if after is None:
            return 0
        end = after + len(part)
    return end


def _starts(part: Sequence[str], lines: Sequence[str]) -> list[int]:
    """Return where the lines of a part stand one after the other: the first from its middle, the last to it."""
    size = len(part)
    windows = ((at, lines[at : at + size]) for at in range(len(lines) - size + 1))
    return [at for at, here in windows if _fits(here, part)]


def _fits(here: Sequence[str], part: Sequence[str]) -> bool:
    """Tell whether lines say a part; of one line no part of a longer word at its ends counts."""
    if len(part) == 1:
        return bool(re.search(rf"{_WHOLE}{re.escape(part[0])}{_WHOLE}", here[0], re.ASCII))
    return here[0].endswith(part[0]) and here[-1].startswith(part[-1]) and here[1:-1] == list(part[1:-1])


def _parts(quote: str) -> list[list[str]]:
    """Return the lines of a quotation as compared, in parts where something is left out between them."""
    parts: list[list[str]] = [[]]
    for line in _lines(quote):
        if _ELLIPSIS.match(line):
            parts.append([])
        elif bare := _bare(_NUMBER.sub("", line), marked=True):
            parts[-1].append(bare)
    return parts


def _lines(quote: str) -> list[str]:
    """Return the lines of a quotation without the signs that some put around it."""
    lines = [line for line in quote.strip("\n").split("\n") if not line.strip().startswith("```")]
    if len(lines) == 1:
        bare = lines[0].strip()
        for sign in ("`", '"', "'"):
            if len(bare) > 2 and bare[0] == bare[-1] == sign and sign not in bare[1:-1]:
                return [bare[1:-1]]
    return lines


def _bare(line: str, *, marked: bool) -> str:
    """Return a line as it is compared: blanks are one, typographic signs straight, the mark of a diff gone."""
    plain = line.translate(_STRAIGHT)
    if marked and plain[:1] in ("+", "-") and not plain.startswith(("+++ ", "--- ")):
        plain = plain[1:]
    return " ".join(plain.split())


def _places(item: Attachment, first: int, last: int) -> tuple[ChangedPlace, ...]:
    if item.name != DIFF:
        return (ChangedPlace(item.name, (first, last) if first else None),)
    if not first:
        return ()
    spans: dict[tuple[str, bool], list[int]] = {}
    for file, line, gone in filter(None, diff_places(item.text)[first - 1 : last]):
        spans.setdefault((file, gone), []).extend([line] if line else [])
    return tuple(
        ChangedPlace(file, (min(lines), max(lines)) if lines else None, gone) for (file, gone), lines in spans.items()
    )


def diff_places(diff: str) -> list[tuple[str, int, bool] | None]:
    """Return for each line of a diff the file and line that it is about, and whether the file is gone.

    Lines count as they are after the change; those of a deleted file as they were before it. A removed line is
    where the next one now stands; what is said of a whole file, as that it has another name, is at line 0.
    """
    places: list[tuple[str, int, bool] | None] = []
    old = file = ""
    line, left_old, left_new, gone, heading = 0, 0, 0, False, False
    for text in diff.split("\n"):
        if left_old <= 0 and left_new <= 0:
            if text.startswith("diff --git "):
                file, gone, heading = "", False, True
            gone = gone or (heading and text.startswith("deleted file mode "))
            if head := _NAMED.match(text):
                file = _unquoted(head["same"] or head["new"], head["mark"] or "")
            elif head := _OLD.match(text):
                old = _unquoted(head[2], head[1])
            elif head := _NEW.match(text):
                gone = head[2].strip() == "/dev/null"
                file = old if gone else _unquoted(head[2], head[1])
        if hunk := _HUNK.match(text):
            left_old, left_new, heading = int(hunk[2] or 1), int(hunk[4] or 1), False
            line = int(hunk[1] if gone else hunk[3])
            places.append((file, max(line, 1), gone) if file else None)
            continue
        mark = text[:1]
        inside = bool(file) and (left_old > 0 or left_new > 0) and mark in (" ", "+", "-", "")
        places.append((file, max(line, 1) if inside else 0, gone) if inside or (file and heading) else None)
        if inside:
            left_old -= mark != "+"
            left_new -= mark != "-"
            line += mark == "-" if gone else mark != "-"
    return places


def _unquoted(name: str, mark: str) -> str:
    """Return a name as it is; Git writes one with a quote, a tab or the like behind a mark, with escapes."""
    if not mark and name[:1] != '"':
        return name
    return codecs.escape_decode(name.strip('"').encode())[0].decode("utf-8", "replace")
