"""What a run wants to know from a person: the question in full, and a place for the answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from assay.report.markup import Element, element
from assay.web.pages.frame import ticking


@dataclass(frozen=True, slots=True)
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


def asking(run_id: str, asks: tuple[Ask, ...]) -> Element:
    """The questions with a form each; an empty element where there are none."""
    if not asks:
        return element("div", id="asks", hidden="")
    return element("div", [_ask(run_id, ask) for ask in asks], id="asks", role="region", aria_label="Your turn")


def _ask(run_id: str, ask: Ask) -> Element:
    *before, last = ask.messages or (("user", ""),)
    earlier = [
        element("div", element("h4", role), element("p", content, class_="plain", dir="auto"))
        for role, content in before
    ]
    kept = element("div", element("p", last[1], class_="plain", dir="auto"), class_="question", tabindex="0")
    return element(
        "form",
        element("p", "Your turn", element("span", ask.title), ticking(ask.since), class_="turn"),
        element("details", element("summary", "What was said before"), earlier, class_="more") if before else None,
        kept,
        element("input", type="hidden", name="name", value=ask.name),
        _answering(ask),
        method="post",
        action=f"/runs/{run_id}/answers",
        class_="ask",
        id=f"ask-{ask.name}",
    )


def _answering(ask: Ask) -> list[Element]:
    """Where the answer goes: buttons and fields where its form is known to be that simple, else a text."""
    schema = _parsed(ask.schema)
    waits = element("span", f"a letter in the mailbox: {ask.where}" if ask.where else "the run waits for you")
    if options := _options(schema):
        buttons = [element("button", words, name="text", value=value) for value, words in options]
        return [element("div", buttons, waits, class_="send ways")]
    fields = _fields(schema)
    send = element("p", element("button", "Answer", class_="primary"), waits, class_="send")
    if fields:
        required = cast("list[str]", schema.get("required", []))
        return [*(_field(ask, name, each, name in required) for name, each in fields.items()), send]
    return [*_text(ask), send]


def _text(ask: Ask) -> list[Element]:
    told = (
        element(
            "details",
            element("summary", "The answer must be JSON that fits this schema"),
            element("p", ask.schema, class_="plain code"),
            class_="more",
        )
        if ask.schema
        else None
    )
    area = element(
        "textarea",
        "",
        name="text",
        rows="6",
        required="",
        aria_label=f"Your answer to {ask.title}",
        placeholder="Your answer, in your own words",
        dir="auto",
    )
    return [told, area] if told else [area]


def _field(ask: Ask, name: str, schema: dict[str, Any], required: bool) -> Element:
    must = "" if required else None
    if options := _options(schema):
        ways = [
            element(
                "label",
                element("input", type="radio", name=f"field-{name}", value=value, required=must),
                element("span", words),
            )
            for value, words in options
        ]
        legend = element("legend", str(schema.get("title") or "Choose"), class_="hidden")
        return element("fieldset", legend, ways, class_="ways")
    title = str(schema.get("title") or name)
    area = element("textarea", "", name=f"field-{name}", rows="2", placeholder=title, aria_label=title, dir="auto")
    return element("p", area, class_="more")


def _parsed(schema: str) -> dict[str, Any]:
    try:
        found: object = json.loads(schema) if schema else {}
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _options(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Value and words of each way to answer, where the answer is one of a few texts."""
    ways = schema.get("oneOf")
    if schema.get("type") != "string" or not isinstance(ways, list):
        return []
    each = [cast("dict[str, Any]", way) for way in cast("list[object]", ways) if isinstance(way, dict)]
    return [(str(way.get("const", "")), str(way.get("title", way.get("const", "")))) for way in each]


def _fields(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The fields of an answer that is a few texts, one of them to be chosen; nothing where it is anything else."""
    found = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(found, dict):
        return {}
    fields = cast("dict[str, dict[str, Any]]", found)
    simple = all(each.get("type") == "string" for each in fields.values())
    return fields if simple and any(map(_options, fields.values())) else {}
