"""The records of a council: what seats, critic and synthesis answer, each as an object with a schema (CR26).

Fields stand in the order in which they are best thought of. What a schema cannot hold, the forms' ``check`` in
:mod:`crucible.council` does.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from crucible.behaviour import first_records
from crucible.ledger import Effect

T = TypeVar("T", bound=BaseModel)
Severity: TypeAlias = Literal["critical", "major", "minor"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor")


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _words(value: Any) -> Any:
    return "" if value is None else value


_Lower = BeforeValidator(_lower)
_Text: TypeAlias = Annotated[str, BeforeValidator(_words)]
"""Words; a model that writes ``null`` for none means none."""
_Some: TypeAlias = Annotated[str, Field(min_length=1, pattern=r"\S")]
Confidence: TypeAlias = Annotated[Literal["low", "medium", "high"], _Lower]


class ClaimRecord(BaseModel):
    """One claim, and the words of an attachment that it rests on; without them it is the seat's own judgement.

    Args:
        id: ``"B2"``: the seat's letter and a number; it lasts for the run.
        place: ``"A1:12"`` or ``"A1:12-14"``.
    """

    id: _Text = ""
    text: _Some
    quote: _Text = ""
    place: _Text = ""


class PositionRecord(BaseModel):
    """What a seat holds."""

    claims: list[ClaimRecord] = Field(min_length=1, max_length=12)
    conclusion: _Some
    confidence: Confidence = "medium"


class AnswerRecord(BaseModel):
    """What a seat says to one objection."""

    objection: str
    does: Annotated[Literal["concede", "refute"], _Lower]
    words: _Some


class RevisionRecord(BaseModel):
    """What a seat holds after objections."""

    answers: list[AnswerRecord] = []
    claims: list[ClaimRecord] = Field(min_length=1, max_length=12)
    conclusion: _Some
    confidence: Confidence = "medium"


class DraftRecord(BaseModel):
    """A version of a text that passes from seat to seat."""

    answers: list[AnswerRecord] = []
    text: _Some
    conclusion: _Some


class AttackRecord(BaseModel):
    """One objection of the critic.

    Args:
        claim: the id of the claim that it strikes; empty where a draft is attacked.
        words: those that it strikes, copied.
    """

    claim: _Text = ""
    words: _Text = ""
    fails: _Some
    settles: _Text = ""


class Looked(BaseModel):
    """What the critic finds of an earlier objection of its own."""

    id: str
    holds: bool
    why: _Text = ""


class CritiqueRecord(BaseModel):
    """What the critic says."""

    earlier: list[Looked] = []
    objections: list[AttackRecord] = []


class Rest(BaseModel):
    """A claim of the answer, and the claims of seats that it rests on."""

    text: _Some
    rests_on: list[str] = []


class Use(BaseModel):
    """What the synthesis says that the answer does with an objection."""

    objection: str
    does: _Text = ""


class Synthesis(BaseModel):
    """The answer as prose for a person, and what it rests on."""

    answer: _Some
    claims: list[Rest] = []
    objections: list[Use] = []


class FindingRecord(BaseModel):
    """One finding of a review, as the synthesis writes it.

    Args:
        place: ``"A1:12-14"``, of an attachment.
        quote: the words at that place, copied.
        title: what is wrong, in a sentence.
        fails: what goes wrong, with which input or in which order of events.
        mend: what to do.
    """

    severity: Annotated[Severity, _Lower]
    place: _Text = ""
    quote: _Text = ""
    title: _Some
    fails: _Text = ""
    mend: _Text = ""


class Review(BaseModel):
    """The findings of a review. An empty list means: none, and ``looked_at`` says of what."""

    findings: list[FindingRecord] = Field(max_length=200)
    looked_at: _Some
    objections: list[Use] = []


class Told(BaseModel):
    """What a reader of the answer says that it does with one attacked claim."""

    id: str
    does: Annotated[Effect, _Lower]
    words: _Text = ""


class EffectsRecord(BaseModel):
    """What a reader of the answer says of all attacked claims."""

    claims: list[Told]


def wanting(kind: type[T], field: str, least: int) -> type[T]:
    """Return a record whose schema wants so many entries of a field; with none to give it has no such field."""
    return kind if first_records() else _wanting(kind, field, least)


@cache
def _wanting(kind: type[T], field: str, least: int) -> type[T]:
    def narrowed(schema: Any) -> None:
        if least:
            schema["properties"][field]["minItems"] = least
            schema["required"] = list(dict.fromkeys([*schema.get("required", ()), field]))
        else:
            del schema["properties"][field]

    own = {"model_config": ConfigDict(json_schema_extra=narrowed), "__doc__": kind.__doc__, "__module__": __name__}
    return type(kind)(kind.__name__, (kind,), own)
