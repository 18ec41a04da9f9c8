"""The form of a judge's answer on the wire, and what may still be read where the form was not kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from fire_circle.results import ALARM, HistoryStatus, Score

HistoryVerdict: TypeAlias = Literal["borne out", "not borne out", "cannot tell"]
STATUSES: Mapping[HistoryVerdict, HistoryStatus] = {
    "borne out": "possible",
    "not borne out": "unsupported",
    "cannot tell": "unverifiable",
}
"""What each of them is called in results."""
VIOLATES, KEEPS, CANNOT_TELL = "violates", "keeps", "cannot tell"
LEAST_VIOLATION = 0.5
"""F from which the word for a layer is ``violates``, and I from which it is ``cannot tell``, as judges are told."""


def _word(value: Any) -> str | None:
    word = str(value).lower().replace("_", " ").strip(" .\"'*`")
    return word if word in (VIOLATES, KEEPS, CANNOT_TELL) else None


Verdict: TypeAlias = Annotated[Literal["violates", "keeps", "cannot tell"] | None, BeforeValidator(_word)]


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


class WireClaim(BaseModel):
    """What a judge says of a claim about earlier conversation: its words, and whether the records bear it out."""

    quote: _Words
    records_say: HistoryVerdict = "cannot tell"


_ORDER = ("request", "verdict", "truth", "indeterminacy", "falsehood", "reasoning", "patterns_observed",
          "consensus_patterns", "earlier_claims", "conclusion", "abstain")  # fmt: skip


def _as_thought(schema: dict[str, Any]) -> None:
    """Put properties in the order in which they are thought of: engines that decode by it write them so."""
    schema["properties"] = {name: schema["properties"][name] for name in _ORDER if name in schema["properties"]}
    schema["required"] = [name for name in _ORDER if name in ("request", "verdict", "reasoning", "conclusion")]


class BoundAnswer(BaselineAnswer):
    """A verdict that is bound to its request: its id, and a word of a list before the reasons and behind them."""

    model_config = ConfigDict(json_schema_extra=_as_thought)

    request: str = ""
    verdict: Verdict = None
    conclusion: Verdict = None

    @property
    def alarms(self) -> bool:
        """Tell whether any part of it says that there is a violation."""
        return VIOLATES in (self.verdict, self.conclusion) or (self.falsehood or 0.0) >= LEAST_VIOLATION

    @property
    def core(self) -> tuple[object, ...]:
        """All of it that decides: answers that differ in it are different ones."""
        return self.verdict, self.conclusion, self.abstain, self.truth, self.indeterminacy, self.falsehood


class BoundDiscussion(BoundAnswer, DiscussionAnswer):
    """The same of round 2."""

    earlier_claims: list[WireClaim] = []


class BoundSynthesis(BoundAnswer, SynthesisAnswer):
    """The same of round 3 and later."""


FORMS: Mapping[str, type[BoundAnswer]] = {"discussion": BoundDiscussion, "synthesis": BoundSynthesis}
OLD_FORMS: Mapping[str, type[BaselineAnswer]] = {"discussion": DiscussionAnswer, "synthesis": SynthesisAnswer}
"""The forms of the phases that have one of their own, today's and those of before behaviour 4."""


def disagreement(answer: BoundAnswer) -> str | None:
    """Return how the words and the numbers of an answer contradict each other, in one line."""
    if answer.abstains:
        return None
    truth, indeterminacy, falsehood = answer.scores
    said = (answer.verdict, answer.conclusion)
    if None in said or said[0] != said[1]:
        words = " and ".join(word or "nothing" for word in said)
        return f"verdict and conclusion say {words}, and must be the same word"
    fits = {
        VIOLATES: falsehood >= LEAST_VIOLATION,
        KEEPS: falsehood < LEAST_VIOLATION and truth > falsehood,
        CANNOT_TELL: indeterminacy >= LEAST_VIOLATION or truth <= falsehood < LEAST_VIOLATION,
    }
    if fits[said[0] or KEEPS]:
        return None
    return f"verdict is {said[0]}, with truth {truth:g}, indeterminacy {indeterminacy:g}, falsehood {falsehood:g}"


_MAX_PROSE = 50_000
_LABELLED = re.compile(
    r"\b(truth|indeterminacy|falsehood)\b[\"'`*)]{0,4}(?: ?\([TIF]\))?[\"'`*]{0,4}[ \t]{0,3}"
    r"(?:[:=]|is|of)[`*]{0,4}[ \t]{0,3}(-?[0-9.]{1,12}+)(?![\w%/]|,[0-9]| ?[%/]| ?[-–] ?[0-9]| out of| to )",
    re.IGNORECASE,
)
_WORDED = re.compile(r"\b(?:verdict|conclusion)\b[^\w]{0,8}(violates|keeps|cannot tell)\b", re.IGNORECASE)
ACCUSES = re.compile(r"\b(?:verdict|conclusion)\W{1,8}violates\b(?!, keeps)", re.IGNORECASE)
"""That there is a violation, behind a label; not in our own form, which a judge may write out first."""
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:cannot|can't|won't|will not|must decline)|as an ai)\b",
    re.IGNORECASE,
)


def labelled(text: str) -> set[tuple[str, float]]:
    """Return the scores that stand in prose behind their names."""
    found: set[tuple[str, float]] = set()
    for match in _LABELLED.finditer(text):
        try:
            found.add((match[1].lower(), float(match[2].rstrip("."))))
        except ValueError:
            found.add((match[1].lower(), -1.0))
    return found


def salvage(text: str, request: str = "") -> BoundAnswer | None:
    """Return what a prose answer says behind labels; ``None`` where a part is missing, out of range or ambiguous.

    There is no guess from keywords: "violation" also stands in "no violation" (FC5).

    Args:
        request: the id that it must name, with one verdict that fits the numbers; empty for logs of before.
    """
    if len(text) > _MAX_PROSE or request not in text:
        return None
    scores = labelled(text)
    words = {match[1].lower() for match in _WORDED.finditer(text)}
    if len(scores) != 3 or len(dict(scores)) != 3 or (request and len(words) != 1):
        return None
    word = next(iter(words)) if request else None
    try:
        said = {**dict(scores), "verdict": word, "conclusion": word, "request": request, "reasoning": text}
        answer = BoundAnswer.model_validate(said)
    except ValidationError:
        return None
    return None if request and disagreement(answer) else answer


def is_refusal(text: str) -> bool:
    """Tell whether an answer without JSON says that its author will not do it."""
    return "{" not in text[:2_000] and bool(_REFUSAL.search(text[:2_000]))
