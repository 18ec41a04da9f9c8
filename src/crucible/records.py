"""The records of a council: what seats, critic and synthesis answer, each as an object with a schema (CR26).

Fields stand in the order in which they are best thought of. What a schema cannot hold, the forms' ``check`` in
:mod:`crucible.council` does.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from crucible.behaviour import BEHAVIOUR, first_records
from crucible.ledger import Effect
from llm_runtime.http.shape import mapping

T = TypeVar("T", bound=BaseModel)
Severity: TypeAlias = Literal["critical", "major", "minor"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor")


#: How sure a number from 0 to 1 is at least.
_SURE: tuple[tuple[float, str], ...] = ((0.75, "high"), (0.4, "medium"), (0.0, "low"))
_IDS = re.compile(r"[A-Z]\d+")


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _sure(value: Any) -> Any:
    """Read a share or a per cent as the word for it, and "very high" as "high"."""
    said = _lower(value)
    if BEHAVIOUR.before(7):
        return said
    number = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)\s*%?", str(said))
    if number is None:
        return next((word for _, word in _SURE if word in str(said)), said if BEHAVIOUR.before(8) else "medium")
    share = float(number[1]) / (100 if float(number[1]) > 1 else 1)
    return next(word for least, word in _SURE if share >= least)


def _does(value: Any) -> Any:
    """Read "Conceded" as "concede", and what is neither as nothing: its claims show what a seat has done."""
    said = _lower(value)
    words = () if BEHAVIOUR.before(7) or not isinstance(said, str) else ("concede", "refute")
    return next((word for word in words if said.startswith(word[:-1])), said if BEHAVIOUR.before(8) else "")


def _entries(value: Any) -> Any:
    """Read claims by their ids as the list that they stand for."""
    known = {} if BEHAVIOUR.before(7) else mapping(value)
    return [{"id": id, **(mapping(one) or {"text": one})} for id, one in known.items()] or value


def _named(value: Any) -> Any:
    return value if BEHAVIOUR.before(7) or not isinstance(value, str) else _IDS.findall(value)


_Lower = BeforeValidator(_lower)
_Entries = BeforeValidator(_entries)
_Text: TypeAlias = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""Words; a model that writes ``null`` for none means none."""
_Some: TypeAlias = Annotated[str, Field(min_length=1, pattern=r"\S")]
Confidence: TypeAlias = Annotated[Literal["low", "medium", "high"], BeforeValidator(_sure)]


class _Record(BaseModel, defer_build=True):
    """One record. A field that is ``null`` was left out; a bare text is the text of one; one in another is it."""

    @model_validator(mode="before")
    @classmethod
    def _given(cls, data: Any) -> Any:
        if BEHAVIOUR.before(7):
            return data
        if isinstance(data, str):
            return {"text": data}
        if not BEHAVIOUR.before(8) and len(mapping(data)) == 1 and not data.keys() & cls.model_fields.keys():
            data = next(iter(data.values()))
        return {name: value for name, value in mapping(data).items() if value is not None} or data


class ClaimRecord(_Record):
    """One claim, and the words of an attachment that it rests on; without them it is the seat's own judgement.

    Args:
        id: ``"B2"``: the seat's letter and a number; it lasts for the run.
        place: ``"A1:12"`` or ``"A1:12-14"``.
    """

    id: _Text = ""
    text: _Some
    quote: _Text = ""
    place: _Text = ""


class PositionRecord(_Record):
    """What a seat holds."""

    claims: Annotated[list[ClaimRecord], _Entries] = Field(min_length=1, max_length=12)
    conclusion: _Some
    confidence: Confidence = "medium"


class AnswerRecord(_Record):
    """What a seat says to one objection."""

    objection: str
    does: Annotated[
        Literal["concede", "refute", ""],
        BeforeValidator(_does),
        WithJsonSchema({"enum": ["concede", "refute"], "type": "string"}),
    ]
    words: _Some


class RevisionRecord(_Record):
    """What a seat holds after objections."""

    answers: list[AnswerRecord] = []
    claims: Annotated[list[ClaimRecord], _Entries] = Field(min_length=1, max_length=12)
    conclusion: _Some
    confidence: Confidence = "medium"


class DraftRecord(_Record):
    """A version of a text that passes from seat to seat."""

    answers: list[AnswerRecord] = []
    text: _Some
    conclusion: _Some


class AttackRecord(_Record):
    """One objection of the critic.

    Args:
        claim: the id of the claim that it strikes; empty where a draft is attacked.
        words: those that it strikes, copied.
    """

    claim: _Text = ""
    words: _Text = ""
    fails: _Some
    settles: _Text = ""


class Looked(_Record):
    """What the critic finds of an earlier objection of its own."""

    id: str
    holds: bool
    why: _Text = ""


class CritiqueRecord(_Record):
    """What the critic says."""

    earlier: list[Looked] = []
    objections: list[AttackRecord] = []


class Rest(_Record):
    """A claim of the answer, and the claims of seats that it rests on."""

    text: _Some
    rests_on: Annotated[list[str], BeforeValidator(_named)] = []


class Use(_Record):
    """What the synthesis says that the answer does with an objection."""

    objection: str
    does: _Text = ""


class Synthesis(_Record):
    """The answer as prose for a person, and what it rests on."""

    answer: _Some
    claims: Annotated[list[Rest], _Entries] = []
    objections: list[Use] = []


class Short(_Record):
    """What one model answers in short, before it is known whether a council is needed."""

    reasons: _Text = ""
    conclusion: _Some
    answer: _Some


class Doubts(_Record):
    """What a reader of short answers finds: in what their conclusions differ, and what is wrong in them."""

    differences: list[str] = []
    faults: list[str] = []
    agree: bool
    best: _Text = ""


class Weighed(_Record):
    """What a reader says of a text: what it says of the question, and whether it answers it."""

    says: _Text = ""
    answers: bool


class FindingRecord(_Record):
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


class Review(_Record):
    """The findings of a review. An empty list means: none, and ``looked_at`` says of what."""

    findings: list[FindingRecord] = Field(max_length=200)
    looked_at: _Some
    objections: list[Use] = []


class Told(_Record):
    """What a reader of the answer says that it does with one attacked claim."""

    id: str
    does: Annotated[Effect, _Lower]
    words: _Text = ""


class EffectsRecord(_Record):
    """What a reader of the answer says of all attacked claims."""

    claims: Annotated[list[Told], _Entries]


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
