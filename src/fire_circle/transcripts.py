"""A transcript as records: who said what, which tool was called, what it returned, each apart from the others.

The role and the source of a record stand outside its text, so no text can speak in another's name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from llm_runtime.models import Model
from llm_runtime.prompts import Fence
from llm_runtime.rewording import instead
from llm_runtime.tables import DataError
from llm_runtime.toml import own_table

Trust: TypeAlias = Literal["application", "user", "material", "unknown"]

_ROLES: Mapping[str, tuple[str, Trust]] = own_table("fire_circle", "data/roles.toml")
_SPEAKERS: Mapping[str, str] = own_table("fire_circle", "data/speakers.toml")
_ABOVE = ("system", "developer")
_WORDS = ("text", "content", "parts", "value", "message", "output", "page_content")
_NAMES = ("source", "name", "tool_call_id", "call_id", "tool_name")
_MAX_SOURCE = 120
#: Parts that hold no words of who sends them; a thought is said to nobody.
_NO_WORDS = ("thinking", "redacted_thinking", "reasoning")


class TranscriptRecord(Model):
    """One record of a transcript.

    Args:
        role: ``user``, ``assistant``, ``call`` (the application calls a tool), ``tool`` (what it returned),
            ``document`` (what was retrieved), ``turn`` (a whole turn whose speaker is not known), ``system``; any
            other names a speaker that nothing is known of.
        text: what was said, the arguments of a call, or what came back.
        source: the tool, file or address, where it is known.
    """

    role: str = Field(min_length=1, max_length=200)
    text: str
    source: str = Field(default="", max_length=2_000, exclude_if=lambda source: not source)

    @property
    def trust(self) -> Trust:
        """Whose word it is, by its role alone."""
        return _ROLES.get(self.role, ("", "unknown"))[1]

    @property
    def title(self) -> str:
        """What it is, in words of ours and a quoted name."""
        named = [self.source] if self.source else []
        title = _ROLES[self.role][0] if self.role in _ROLES else "another speaker"
        named += [] if self.role in _ROLES else [self.role]
        return ", ".join([title, *(json.dumps(name[:_MAX_SOURCE]).translate(_NO_MARKERS) for name in named)])

    @property
    def row(self) -> list[str]:
        """The record as a short list: role, text, and the source where there is one."""
        return [self.role, self.text, *([self.source] if self.source else [])]


_NO_MARKERS = str.maketrans("<>", "()")


class RecordError(DataError):
    """Something is no record; the message says which forms there are."""


class _Call(BaseModel):
    name: str = ""
    arguments: Any = Field(default="", validation_alias=AliasChoices("arguments", "input", "args"))
    function: _Call | None = Field(default=None, validation_alias=AliasChoices("function", "custom"))

    @property
    def record(self) -> TranscriptRecord:
        called = self.function or self
        told = called.arguments
        text = told if isinstance(told, str) else json.dumps(told)
        return TranscriptRecord(role="call", text=text, source=called.name)


_Said: TypeAlias = str | list["str | _Part"] | None


class _Part(_Call):
    """A part of a message, where words, calls and what these returned are parts alike."""

    type: str = ""
    text: str | None = Field(default=None, validation_alias=AliasChoices("text", "refusal"))
    content: _Said | Mapping[str, object] = Field(default=None, validation_alias=AliasChoices("content", "response"))
    tool_use_id: str = Field(default="", validation_alias=AliasChoices("tool_use_id", "toolUseId", "name"))
    call: _Call | None = Field(default=None, validation_alias=AliasChoices("toolUse", "functionCall"))
    result: _Part | None = Field(default=None, validation_alias=AliasChoices("toolResult", "functionResponse"))

    @property
    def tool(self) -> _Call | None:
        return self.call or self.result or (self if self.type.startswith("tool_") else None)

    @property
    def words(self) -> str:
        if self.text is None and not self.tool and self.type not in _NO_WORDS:
            raise RecordError(f"a part of a message, of the kind {self.type!r}, is nothing that judges are shown")
        return self.text or ""

    @property
    def record(self) -> TranscriptRecord:
        if self.type == "tool_use":
            return super().record
        return TranscriptRecord(role="tool", text=_joined(self.content), source=self.tool_use_id)


def _joined(parts: _Said | Mapping[str, object]) -> str:
    if isinstance(parts, Mapping):
        return json.dumps(parts, ensure_ascii=False)
    every = [parts] if isinstance(parts, str) else parts or ()
    return "\n".join(filter(None, (part if isinstance(part, str) else part.words for part in every)))


class _Message(BaseModel, extra="allow"):
    """A chat message, or a call or a result of a tool beside messages, as the usual interfaces have it."""

    role: str | None = Field(default=None, validation_alias=AliasChoices("role", "from"))
    type: str = ""
    text: _Said = Field(default=None, validation_alias=AliasChoices(*_WORDS))
    refusal: str | None = None
    source: str | None = Field(default=None, validation_alias=AliasChoices(*_NAMES))
    arguments: Any = Field(default=None, validation_alias=AliasChoices("arguments", "input"))
    tool_calls: list[_Call] | None = None
    function_call: _Call | None = None

    def records(self, bare: str) -> Iterator[TranscriptRecord]:
        role = _SPEAKERS.get((self.role or self.type).lower(), self.role or bare)
        parts = [part for part in self.text or () if isinstance(part, _Part)]
        text = _joined(self.text) or self.refusal or ""
        # What a tool returned stands behind the words beside it: so it is material of this turn, and judged.
        calls = (*(part.tool for part in parts), *(self.tool_calls or ()), self.function_call)
        told = [call.record for call in calls if call is not None]
        if role == "call" and self.arguments is not None:
            yield _Call(name=self.source or "", arguments=self.arguments).record
            role = "tool"
        elif "text" not in self.model_fields_set and self.model_extra and not (told or text or self.type in _NO_WORDS):
            named = self.type or ", ".join(self.model_extra)
            raise RecordError(f"an entry of the kind {named[:80]!r} is nothing that judges are shown; leave it out")
        if text or not (parts or self.tool_calls or self.text is None):
            yield TranscriptRecord(role=role, text=text, source=self.source or "")
        yield from told


_Pair: TypeAlias = tuple[str | None, str] | tuple[str | None, str, str]
_ENTRIES: TypeAdapter[list[TranscriptRecord | str | _Pair | _Message]] = TypeAdapter(
    list[TranscriptRecord | str | _Pair | _Message]
)


def records_of(value: Any, bare: str = "document") -> tuple[TranscriptRecord, ...]:
    """Return the records in a list of chat messages, pairs of role and text, records, or bare texts.

    A message that says something and calls tools becomes several records.

    Args:
        bare: the role of a text by itself; a text alone is a list of one.

    Raises:
        RecordError: an entry is none of these.
    """
    with instead(RecordError('a record is neither text nor {"role", "content"}'), ValidationError):
        entries = _ENTRIES.validate_python([value] if isinstance(value, str | Mapping | TranscriptRecord) else value)
        return tuple(record for entry in entries for record in _of_entry(entry, bare))


def _of_entry(entry: TranscriptRecord | str | _Pair | _Message, bare: str) -> Iterator[TranscriptRecord]:
    match entry:
        case TranscriptRecord():
            yield entry
        case _Message():
            yield from entry.records(bare)
        case str():
            yield TranscriptRecord(role=bare, text=entry)
        case (role, text, *source):
            yield TranscriptRecord(role=role or bare, text=text, source="".join(source))


Records: TypeAlias = Annotated[tuple[TranscriptRecord, ...], BeforeValidator(records_of)]
"""What was retrieved or returned; a text by itself is a document."""


def trace_of(records: Iterable[TranscriptRecord]) -> dict[str, Any]:
    """Return a conversation as the fields of a prompt: what set it up, what was said before, the last user's words,
    and what the application did after them: its last words are the answer.

    Raises:
        RecordError: no record is the user's.
    """
    every = tuple(records)
    asked = max((place for place, record in enumerate(every) if record.role == "user"), default=-1)
    if asked < 0:
        raise RecordError("no message of the trace is the user's")
    before, after = every[:asked], every[asked + 1 :]
    answer = after[-1].text if after and after[-1].role == "assistant" else ""
    fields: dict[str, Any] = {
        "system": "\n\n".join(record.text for record in before if record.role in _ABOVE),
        "history": tuple(record for record in before if record.role not in _ABOVE),
        "user": every[asked].text,
        "records": after[:-1] if answer else after,
        "answer": answer,
    }
    return {name: value for name, value in fields.items() if value}


Numbered: TypeAlias = tuple[int, TranscriptRecord]
"""A record, and its 1-based number in its turn."""


def fenced(when: str, numbered: Iterable[Numbered], fence: Fence) -> str:
    """Return each record behind a fence and a nonce of its own; ``when`` says in which turn they stand."""
    return "\n\n".join(fence(f"{when}, RECORD {n}: {record.title}", record.text, own=True) for n, record in numbered)


def flat(numbered: Iterable[Numbered]) -> str:
    """Return records as one text for people; a single one without a source is its text alone."""
    every = tuple(numbered)
    if len(every) == 1 and not every[0][1].source:
        return every[0][1].text
    return "\n\n".join(f"[{number}: {record.title}]\n{record.text}" for number, record in every)
