"""A transcript as records: who said what, which tool was called, what it returned, each apart from the others.

The role and the source of a record stand outside its text, so no text can speak in another's name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BeforeValidator, Field

from llm_runtime.models import Model
from llm_runtime.prompts import Fence

Trust: TypeAlias = Literal["application", "user", "material", "unknown"]

_ROLES: Mapping[str, tuple[str, Trust]] = {
    "system": ("system", "application"),
    "developer": ("system", "application"),
    "user": ("user", "user"),
    "assistant": ("assistant", "application"),
    "call": ("tool call by the assistant", "application"),
    "tool": ("tool result", "material"),
    "function": ("tool result", "material"),
    "document": ("retrieved document", "material"),
    "turn": ("turn, speaker not known", "unknown"),
}
_ABOVE = ("system", "developer")
_MAX_SOURCE = 120


class Record(Model):
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


class RecordError(ValueError):
    """Something is no record; the message says which forms there are."""


def records_of(value: Any, bare: str = "document") -> tuple[Record, ...]:
    """Return the records in a list of chat messages, pairs of role and text, records, or bare texts.

    A message that says something and calls tools becomes several records.

    Args:
        bare: the role of a text by itself; a text alone is a list of one.

    Raises:
        RecordError: an entry is none of these.
    """
    if isinstance(value, str | Mapping | Record):
        return tuple(_of_entry(value, bare))
    if not isinstance(value, list | tuple):
        raise RecordError("the records are not a list")
    return tuple(record for entry in cast("list[Any]", value) for record in _of_entry(entry, bare))


def _of_entry(entry: Any, bare: str) -> Iterator[Record]:
    if isinstance(entry, Record):
        yield entry
    elif isinstance(entry, str):
        yield Record(role=bare, text=entry)
    elif isinstance(entry, list | tuple) and 2 <= len(row := cast("list[Any]", entry)) <= 3:
        yield _record(row[0] or bare, row[1], row[2] if len(row) == 3 else "")
    elif isinstance(entry, Mapping):
        yield from _of_message(cast("Mapping[str, Any]", entry), bare)
    else:
        raise RecordError('a record is neither text nor {"role", "content"}')


def _of_message(message: Mapping[str, Any], bare: str) -> Iterator[Record]:
    role, calls = message.get("role") or bare, cast("Iterable[Any]", message.get("tool_calls") or ())
    source = message.get("source") or message.get("name") or message.get("tool_call_id") or ""
    content = message.get("text", message.get("content"))
    if isinstance(content, list):
        content = "\n".join(map(_part, cast("list[Any]", content)))
    if content or not calls:
        yield _record(role, content, source)
    for call in map(_table, calls):
        called = _table(call.get("function")) or call
        given = called.get("arguments") or ""
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        yield _record("call", arguments, called.get("name") or "")


def _part(part: Any) -> str:
    return part if isinstance(part, str) else str(_table(part).get("text", ""))


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _record(role: Any, text: Any, source: Any) -> Record:
    if not isinstance(role, str) or not isinstance(text, str) or not role or len(role) > 200:
        raise RecordError('a record is neither text nor {"role", "content"}')
    return Record(role=role, text=text, source=str(source)[:2_000])


def trace_of(records: Iterable[Record]) -> dict[str, Any]:
    """Return a conversation as the fields of a prompt: what set it up, what was said before, the last user's words,
    and what the application did after them: its last words are the answer.

    Raises:
        RecordError: no record is the user's.
    """
    every = tuple(records)
    asked = max((place for place, record in enumerate(every) if record.role == "user"), default=-1)
    if asked < 0:
        raise RecordError("no message of the trace is the user's")
    above = [record.text for record in every[:asked] if record.role in _ABOVE]
    after = every[asked + 1 :]
    answer = after[-1].text if after and after[-1].role == "assistant" else ""
    fields: dict[str, Any] = {
        "system": "\n\n".join(above),
        "history": tuple(record for record in every[:asked] if record.role not in _ABOVE),
        "user": every[asked].text,
        "records": after[:-1] if answer else after,
        "answer": answer,
    }
    return {name: value for name, value in fields.items() if value}


Numbered: TypeAlias = tuple[int, Record]
"""A record, and its 1-based number in its turn."""
Records: TypeAlias = Annotated[tuple[Record, ...], BeforeValidator(records_of)]
"""What was retrieved or returned; a text by itself is a document."""


def fenced(when: str, numbered: Iterable[Numbered], fence: Fence) -> str:
    """Return each record behind a fence and a nonce of its own; ``when`` says in which turn they stand."""
    return "\n\n".join(
        fence(f"{when}, RECORD {n}: {record.title}", record.text, own=True) for n, record in numbered
    )


def flat(numbered: Iterable[Numbered]) -> str:
    """Return records as one text for people; a single one without a source is its text alone."""
    every = tuple(numbered)
    if len(every) == 1 and not every[0][1].source:
        return every[0][1].text
    return "\n\n".join(f"[{number}: {record.title}]\n{record.text}" for number, record in every)
