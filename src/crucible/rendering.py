"""Records as prose, for seats, report and exports: by code, so that nothing is lost and each part has a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crucible.passages import Passage, Span
from crucible.records import AnswerRecord, ClaimRecord, FindingRecord, Review

_CUT = " […]"
_DOES = {"concede": "Concedes", "refute": "Refutes", "": "On"}


class ProsePage:
    """A text that is put together of parts; each part knows where it came to stand."""

    def __init__(self) -> None:
        self._text = ""
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, text: str, name: str = "", *, before: str = "\n\n") -> None:
        """Put ``text`` at the end, behind ``before`` where something stands there; ``name`` finds it again."""
        self._text += (before if self._text else "") + text
        if name:
            self._places[name] = len(self._text) - len(text), len(self._text)

    def span(self, source: str, name: str) -> Span | None:
        """Return where the part of that name stands; ``None`` where there is none."""
        place = self._places.get(name)
        return Passage(source, self._text).span(*place) if place else None

    def __str__(self) -> str:
        return self._text


def cut(text: str, most: int | None) -> str:
    """Return a text of at most ``most`` characters; ``None`` leaves it whole."""
    return text if most is None or len(text) <= most else text[: max(most - len(_CUT), 1)].rstrip() + _CUT


def claim_words(claim: ClaimRecord, most: int | None = None) -> str:
    """Return a claim on a line, its quotation behind it: ``Text. "words" [A1:3]``."""
    line = cut(claim.text, most)
    if claim.quote and most is None:
        line += f' "{claim.quote}"' + (f" [{claim.place}]" if claim.place else "")
    return line


def position_page(
    conclusion: str, claims: Sequence[ClaimRecord], confidence: str = "", answers: Iterable[AnswerRecord] = ()
) -> ProsePage:
    """Write out what a seat holds: its conclusion, its claims, and what it says to objections."""
    page = ProsePage()
    page.add(conclusion, "conclusion")
    for claim in claims:
        page.add(f"{claim.id}: ")
        page.add(claim_words(claim), claim.id, before="")
    _add_answers(page, answers)
    if confidence:
        page.add(f"Confidence: {confidence}.")
    return page


def draft_page(text: str, answers: Iterable[AnswerRecord] = ()) -> ProsePage:
    """Write out a draft. What its author says to objections stands in no part of it."""
    page = ProsePage()
    page.add(text, "draft")
    _add_answers(page, answers)
    return page


def _add_answers(page: ProsePage, answers: Iterable[AnswerRecord]) -> None:
    for one in answers:
        page.add(f"{_DOES[one.does]} {one.objection}: ")
        page.add(one.words, f"reply {one.objection}", before="")


def objection_text(id: str, claim: str, words: str, fails: str, settles: str, most: int | None = None) -> str:
    """Return an objection as models are shown it."""
    head = f"{id}, against {claim}" if claim else id
    parts = [f'{head}: "{cut(words, most)}"' if words else f"{head}:", cut(fails, most)]
    if settles and most is None:
        parts.append(f"What would settle it: {settles}")
    return "\n".join(parts)


def finding_text(number: int, one: FindingRecord) -> str:
    """Return a finding as Markdown, under a heading with its severity and place."""
    place = f" {one.place}" if one.place else ""
    parts = [f"### {number}. [{one.severity}]{place} {' '.join(one.title.split())}"]
    if one.quote:
        parts.append("\n".join(f"    {line}" for line in one.quote.split("\n")))
    parts += [part for part in (one.fails, one.mend and f"What to do: {one.mend}") if part]
    return "\n\n".join(parts)


def review_text(review: Review) -> str:
    """Return a review as Markdown, the gravest finding first."""
    parts = [finding_text(number, one) for number, one in enumerate(review.findings, 1)] or ["No findings."]
    return "\n\n".join([*parts, f"What was looked at: {review.looked_at}"])
