"""The form of a judge's answer on the wire, and what may still be read where the form was not kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, Field, model_validator

from fire_circle.results import ALARM, Score


def valid_unicode(text: str) -> str:
    """Return ``text`` with question marks for lone surrogates, which no log, store or request can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_Words = Annotated[str, AfterValidator(valid_unicode)]


class WirePattern(BaseModel):
    """A pattern as a judge writes it: what it sees, and the words that show it."""

    pattern: _Words = Field(validation_alias=AliasChoices("pattern", "description"))
    quote: _Words = ""


def _pattern(value: Any) -> Any:
    return {"pattern": value} if isinstance(value, str) else value


_Patterns = list[Annotated[WirePattern, BeforeValidator(_pattern)]]


class BaselineAnswer(BaseModel):
    """Round 1 (section 3.1)."""

    truth: Score | None = None
    indeterminacy: Score | None = None
    falsehood: Score | None = None
    reasoning: _Words
    abstain: bool = False

    @model_validator(mode="after")
    def _has_scores(self) -> BaselineAnswer:
        if not self.abstain and None in (self.truth, self.indeterminacy, self.falsehood):
            raise ValueError("truth, indeterminacy and falsehood are all needed")
        return self

    @property
    def abstains(self) -> bool:
        """Tell whether this is no verdict. Three scores that raise the alarm are one, whatever else it says."""
        alarm = None not in (self.truth, self.indeterminacy) and (self.falsehood or 0.0) >= ALARM
        return self.abstain and not alarm

    @property
    def scores(self) -> tuple[float, float, float]:
        """Return T, I and F of an answer that does not abstain."""
        truth, indeterminacy, falsehood = self.truth, self.indeterminacy, self.falsehood
        if truth is None or indeterminacy is None or falsehood is None:
            raise ValueError("an abstention has no scores")
        return truth, indeterminacy, falsehood


class DiscussionAnswer(BaselineAnswer):
    """Round 2 (section 3.2)."""

    patterns_observed: _Patterns = []


class SynthesisAnswer(BaselineAnswer):
    """Round 3 and later (section 3.3)."""

    consensus_patterns: _Patterns = []


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Scores read out of prose."""

    truth: float
    indeterminacy: float
    falsehood: float


_MAX_PROSE = 50_000
_LABELLED = re.compile(
    r"\b(truth|indeterminacy|falsehood)\b[\"'`*)]{0,4}(?: ?\([TIF]\))?[\"'`*]{0,4}[ \t]{0,3}"
    r"(?:[:=]|is|of)[`*]{0,4}[ \t]{0,3}(-?[0-9.]{1,12}+)(?![\w%/]|,[0-9]| ?[%/]| ?[-–] ?[0-9]| out of| to )",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:cannot|can't|won't|will not|must decline)|as an ai)\b",
    re.IGNORECASE,
)


def salvage(text: str) -> Salvaged | None:
    """Return all three labelled numbers of a prose answer; ``None`` if one is missing, out of range or ambiguous.

    There is no guess from keywords: "violation" also stands in "no violation" (FC5).
    """
    if len(text) > _MAX_PROSE:
        return None
    scores: dict[str, set[float]] = {}
    for match in _LABELLED.finditer(text):
        try:
            value = float(match[2].rstrip("."))
        except ValueError:
            return None
        if not 0.0 <= value <= 1.0:
            return None
        scores.setdefault(match[1].lower(), set()).add(value)
    if len(scores) != 3 or any(len(values) > 1 for values in scores.values()):
        return None
    (truth,), (indeterminacy,), (falsehood,) = scores["truth"], scores["indeterminacy"], scores["falsehood"]
    return Salvaged(truth, indeterminacy, falsehood)


def is_refusal(text: str) -> bool:
    """Tell whether an answer without JSON says that its author will not do it."""
    return "{" not in text[:2_000] and bool(_REFUSAL.search(text[:2_000]))
