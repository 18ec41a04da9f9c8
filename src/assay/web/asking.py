"""What a run wants to know from a person: a brief written for people, and a place or a form for the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, cast

from markupsafe import Markup

from assay.report.story import Prose
from assay.web.templating import render
from llm_runtime.errors import ConfigurationError
from llm_runtime.http.shape import mapping
from llm_runtime.rewording import instead
from llm_runtime.structs import Struct

_FENCE = re.compile(
    r"<<<(?!END )(?P<name>[^<>\n]{1,200}) (?P<nonce>[0-9a-f]{8,64})>>>\n"
    r"(?P<text>.*?)\n<<<END (?P=name) (?P=nonce)>>>",
    re.DOTALL,
)
_FOR_MODELS = re.compile(r"(?:(?<=[.\n])|^)[^.\n]*\bJSON\b[^.\n]*\.?", re.MULTILINE)
_NUMBERED = re.compile(r"\b\d+:(?=\w)")


class BriefPart(Struct):
    """A piece of a brief, in Markdown; with a title it is material, without one it says what is asked."""

    title: str
    text: str


def brief_of(text: str, *, form: bool = False) -> tuple[BriefPart, ...]:
    """Return a prompt's pieces in their order.

    Args:
        text: the prompt, with its material behind fences as :class:`llm_runtime.prompts.Fence` writes them.
        form: whether a form asks for the answer: then what is said of its JSON is left out.
    """
    parts: list[BriefPart] = []
    end = 0
    for match in _FENCE.finditer(text):
        parts += [BriefPart("", text[end : match.start()]), BriefPart(_title(match["name"]), match["text"])]
        end = match.end()
    parts.append(BriefPart("", text[end:]))
    if form:
        parts = [part if part.title else replace(part, text=_FOR_MODELS.sub("", part.text)) for part in parts]
    return tuple(part for part in parts if part.text.strip())


def _title(name: str) -> str:
    """Return what people call ``"POSITION of 0:domain_expert"``: ``"Position of domain expert"``."""
    words = " ".join(word.lower() if word.isupper() else word for word in name.split())
    words = _NUMBERED.sub("", words).replace("_", " ")
    return words[:1].upper() + words[1:]


Options: TypeAlias = list[tuple[str, str]]
"""Value and words of each way to answer."""
_Schema: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["choice", "text", "number", "list", "group", "rows"]
_YES_NO: Options = [("true", "yes"), ("false", "no")]
_DEEPEST = 3
_ROWS = 3
"""Rows of a list of groups that says no number; those left blank are left out."""


class AnswerField(Struct):
    """One field of an answer.

    Args:
        name: in the form: ``"council.0.role"``.
        title: for people.
        kind: a choice, a text, a number, a list with a line an entry, a group of fields, or rows of groups.
        options: of a choice.
        required: whether it may stay empty.
        hint: what it means.
        inner: the fields of a group; the groups of rows.
        schema: of its value.
    """

    name: str
    title: str
    kind: Kind
    options: Options
    required: bool
    hint: str
    inner: tuple[AnswerField, ...]
    schema: Mapping[str, Any]


def parsed(schema: str) -> dict[str, Any]:
    """Return a schema as data; empty where there is none."""
    with suppress(ValueError, RecursionError):
        return mapping(json.loads(schema))
    return {}


def ways(schema: Mapping[str, Any]) -> Options:
    """Return the ways to answer, where the answer is one of a few; else nothing."""
    each = schema.get("oneOf")
    if schema.get("type") == "boolean":
        return _YES_NO
    if isinstance(schema.get("enum"), list):
        return [(str(one), str(one).replace("_", " ")) for one in schema["enum"]]
    if schema.get("type") != "string" or not isinstance(each, list):
        return []
    known = [cast("dict[str, Any]", way) for way in cast("list[object]", each) if isinstance(way, dict)]
    return [(str(way.get("const", "")), str(way.get("title", way.get("const", "")))) for way in known]


def answer_fields(schema: Mapping[str, Any]) -> tuple[AnswerField, ...]:
    """Return the fields of an answer that is an object; nothing where it is none, or no form can hold it."""
    try:
        return _fields(schema, cast("dict[str, Any]", schema.get("$defs", {})))
    except (KeyError, TypeError, AttributeError, ValueError):
        return ()


def read_answer(fields: tuple[AnswerField, ...], filled: Mapping[str, str]) -> str:
    """Return the answer as JSON.

    Raises:
        ConfigurationError: a field is missing or not what it should be; says which.
    """
    return json.dumps(_read_group(fields, filled), ensure_ascii=False)


def _fields(schema: _Schema, named: _Schema, before: str = "", depth: int = 0) -> tuple[AnswerField, ...]:
    if schema.get("type") != "object" or "properties" not in schema:
        return ()
    required = schema.get("required", [])
    properties = cast("dict[str, dict[str, Any]]", schema["properties"])
    return tuple(_field(f"{before}{name}", one, name in required, named, depth) for name, one in properties.items())


def _field(name: str, schema: _Schema, required: bool, named: _Schema, depth: int) -> AnswerField:
    known = {**_resolved(schema, named), **{key: value for key, value in schema.items() if key != "$ref"}}
    if depth > _DEEPEST:
        raise ValueError(f"{name} lies too deep for a form")
    title = str(schema.get("title", name.rpartition(".")[2].replace("_", " ")))
    title = title[:1].upper() + title[1:]
    kind: Kind = "text"
    inner: tuple[AnswerField, ...] = ()
    if options := ways(known):
        kind = "choice"
    elif known.get("type") in ("integer", "number"):
        kind = "number"
    elif known.get("type") == "object":
        kind, inner = "group", _fields(known, named, f"{name}.", depth + 1)
        if not inner:
            raise ValueError(f"{name} has no fields")
        if not required:
            inner = tuple(replace(one, required=False) for one in inner)
    elif known.get("type") == "array":
        kind, inner = _entries(name, known, named, depth)
    elif known.get("type") != "string":
        raise ValueError(f"{name} is of a type that no form has")
    return AnswerField(name, title, kind, options, required, str(schema.get("description", "")), inner, known)


def _entries(name: str, schema: _Schema, named: _Schema, depth: int) -> tuple[Kind, tuple[AnswerField, ...]]:
    """Return what a list of texts is, or of groups: a row for each that there must be, and a few more."""
    item = _resolved(cast("dict[str, Any]", schema["items"]), named)
    if item.get("type") != "object":
        return "list", ()
    least = int(schema.get("minItems", 0))
    rows = range(max(least, min(int(schema.get("maxItems", least + _ROWS)), least + _ROWS)))
    return "rows", tuple(
        replace(_field(f"{name}.{row}", item, row < least, named, depth + 1), title=str(row + 1)) for row in rows
    )


def _resolved(schema: _Schema, named: _Schema) -> _Schema:
    """Return a schema without reference, and without the alternative of nothing."""
    if "$ref" in schema:
        return _resolved(named[str(schema["$ref"]).rpartition("/")[2]], named)
    other = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    return _resolved(other[0], named) if len(other) == 1 else schema


def _read_group(fields: tuple[AnswerField, ...], filled: Mapping[str, str]) -> dict[str, Any]:
    values = {field.name.rpartition(".")[2]: _read(field, filled) for field in fields}
    return {name: value for name, value in values.items() if value is not None}


def _read(field: AnswerField, filled: Mapping[str, str]) -> Any:
    text = filled.get(field.name, "").strip()
    if field.kind == "group":
        return _read_optional(field, filled)
    if field.kind in ("rows", "list"):
        entries: list[Any] = [_read(row, filled) for row in field.inner] if field.inner else text.split("\n")
        entries = [one for one in entries if one]
        if len(entries) < int(field.schema.get("minItems", 0)):
            raise ConfigurationError(f"{field.title}: fill in at least {field.schema['minItems']}")
        return entries
    if not text:
        if field.required:
            raise _missing(field)
        return None
    if field.kind == "number":
        return _number(field, text)
    if field.options and text not in dict(field.options):
        raise ConfigurationError(f"{field.title}: choose one of {', '.join(words for _, words in field.options)}")
    return text == "true" if field.schema.get("type") == "boolean" else text


def _read_optional(group: AnswerField, filled: Mapping[str, str]) -> dict[str, Any] | None:
    values = _read_group(group.inner, filled)
    if not values and not group.required:
        return None
    for field in group.inner:
        own = field.name.rpartition(".")[2]
        if own in group.schema.get("required", ()) and own not in values:
            raise _missing(field)
    return values


def _missing(field: AnswerField) -> ConfigurationError:
    return ConfigurationError(f"{field.title or field.name} is missing; fill it in")


def _number(field: AnswerField, text: str) -> float:
    low, high = field.schema.get("minimum"), field.schema.get("maximum")
    with instead(ConfigurationError(f"{field.title} must be a number"), ValueError):
        number = int(text) if field.schema.get("type") == "integer" else float(text)
    if not (low is None or number >= low) or not (high is None or number <= high) or number - number:
        raise ConfigurationError(f"{field.title} must be from {low} to {high}")
    return number


@dataclass(frozen=True)
class Ask:
    """An open question.

    Args:
        name: unique in its run.
        title: which step and seat asks.
        messages: role and content, oldest first.
        schema: the JSON schema that the answer must fit, or empty.
        where: a mailbox letter's file, or empty for a question of this server.
        seat: the role that whoever answers has, in words; or empty.
        does: what that role does, or empty.
        asked: what the run was asked, in the words of who began it; or empty.
    """

    name: str
    title: str
    messages: tuple[tuple[str, str], ...]
    schema: str = ""
    where: str = ""
    seat: str = ""
    does: str = ""
    asked: str = ""

    @cached_property
    def brief(self) -> tuple[BriefPart, ...]:
        """What is asked and what to read for it, in order."""
        return brief_of(self.messages[-1][1], form=bool(self.fields)) if self.messages else ()

    @cached_property
    def options(self) -> Options:
        """The ways to answer, where the answer is one of a few texts; else nothing."""
        return ways(self._parsed)

    @cached_property
    def fields(self) -> tuple[AnswerField, ...]:
        """The fields of an answer that must be structured; nothing where it is a text, or no form can hold it."""
        return answer_fields(self._parsed)

    @cached_property
    def _parsed(self) -> dict[str, Any]:
        return parsed(self.schema)


def asking(run_id: str, asks: tuple[Ask, ...]) -> Markup:
    """Return the questions with a form each; an empty element where there are none."""
    return render("asks.html", run_id=run_id, asks=asks, prose=Prose)
