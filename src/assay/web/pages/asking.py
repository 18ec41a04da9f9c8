"""What a run wants to know from a person: the question in full, and a place for the answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from markupsafe import Markup

from assay.web.templating import render

Options = list[tuple[str, str]]
"""Value and words of each way to answer."""


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One text of an answer that has several; with ``options`` it is one of those."""

    name: str
    title: str
    options: Options
    required: bool


@dataclass(frozen=True)
class Ask:
    """An open question.

    Args:
        name: unique in its run.
        title: which step and seat asks.
        messages: role and content, oldest first.
        schema: the JSON schema that the answer must fit, or empty.
        where: a mailbox letter's file, or empty for a question of this server.
        since: when it was asked, in milliseconds since the epoch, where that is known.
    """

    name: str
    title: str
    messages: tuple[tuple[str, str], ...]
    schema: str = ""
    where: str = ""
    since: int | None = None

    @cached_property
    def options(self) -> Options:
        """The ways to answer, where the answer is one of a few texts; else nothing."""
        return _options(self._parsed)

    @cached_property
    def fields(self) -> list[AnswerField]:
        """The fields of an answer that is a few texts, one of them to be chosen; else nothing."""
        properties = self._parsed.get("properties")
        if self._parsed.get("type") != "object" or not isinstance(properties, dict):
            return []
        schemas = cast("dict[str, dict[str, Any]]", properties)
        required = cast("list[str]", self._parsed.get("required", []))
        fields = [
            AnswerField(name, str(schema.get("title") or ""), _options(schema), name in required)
            for name, schema in schemas.items()
        ]
        simple = all(schema.get("type") == "string" for schema in schemas.values())
        return fields if simple and any(field.options for field in fields) else []

    @cached_property
    def _parsed(self) -> dict[str, Any]:
        try:
            schema: object = json.loads(self.schema) if self.schema else {}
        except (ValueError, RecursionError):
            return {}
        return cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}


def asking(run_id: str, asks: tuple[Ask, ...]) -> Markup:
    """Return the questions with a form each; an empty element where there are none."""
    return render("asks.html", run_id=run_id, asks=asks)


def _options(schema: dict[str, Any]) -> Options:
    ways = schema.get("oneOf")
    if schema.get("type") != "string" or not isinstance(ways, list):
        return []
    each = [cast("dict[str, Any]", way) for way in cast("list[object]", ways) if isinstance(way, dict)]
    return [(str(way.get("const", "")), str(way.get("title", way.get("const", "")))) for way in each]
