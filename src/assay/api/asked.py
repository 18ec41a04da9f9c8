"""A chat request as it arrives: read from the wire, what cannot be done refused by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic_core import from_json

from llm_runtime.canonical import canonical_json
from llm_runtime.documents import DocumentError
from llm_runtime.documents.pictures import picture_at
from llm_runtime.http.shape import mapping, sequence
from llm_runtime.toml import own_table

_FIELDS = own_table(__package__ or "", "asked.toml")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


class Refused(Exception):
    """A request that is not carried out.

    Args:
        status: of HTTP.
        message: one line.
        code: a word for programs.
        param: the field that is at fault.
        again: whether the same request may succeed later; ``None`` leaves that to the client.
    """

    def __init__(
        self, status: int, message: str, code: str, param: str | None = None, *, again: bool | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.again = again
        self.about: dict[str, object] = {}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a program asks for.

    Args:
        model: its name, as it was sent.
        turns: pairs of role and text, oldest first.
        stream: whether the answer is wanted piece by piece.
        usage: whether a stream ends with the tokens.
        terms: bounds that were sent with it.
        temperature: heard where one model is asked.
        seed: of the run.
        extra: further fields of the run, as the member ``assay`` has them.
        pictures: as ``data:`` addresses, in the order of the messages.
        form: the JSON schema that the answer must fit, as text; ``"{}"`` for any object, empty for a text.
    """

    model: str
    turns: tuple[tuple[str, str], ...]
    stream: bool = False
    usage: bool = False
    terms: Mapping[str, Any] = field(default_factory=dict[str, Any])
    temperature: float | None = None
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pictures: tuple[str, ...] = ()
    form: str = ""

    def data(self) -> list[Any]:
        """Return what the same request has again, and no other."""
        turns = [list(turn) for turn in self.turns]
        more = [list(self.pictures), self.form] if self.pictures or self.form else []
        return [self.model, turns, dict(self.terms), self.temperature, self.seed, dict(self.extra), *more]


def read_request(raw: bytes, as_chat: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict) -> ChatRequest:
    """Read the body of a request; ``as_chat`` makes it one of chat completions.

    Raises:
        Refused: it is no such request, or asks for something that is not done; names the field.
    """
    body = as_chat(_object(raw))
    _check_fields(body)
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise invalid("model", "model is missing; GET /v1/models lists those that there are")
    options = cast("dict[str, Any]", _part(body, "stream_options", dict) or {})
    shown = _pictures(body.get("messages"))
    return ChatRequest(
        model,
        _turns(body.get("messages")),
        bool(_part(body, "stream", bool)),
        bool(options.get("include_usage")),
        _terms(body),
        _number(body, "temperature"),
        _whole(body, "seed", 2**53 - 1),
        cast("dict[str, Any]", _part(body, "assay", dict) or {}),
        shown,
        _form(body),
    )


def _check_fields(body: Mapping[str, Any]) -> None:
    """Refuse fields that are not known, and those that ask for what is not done."""
    for name, value in body.items():
        if name in _FIELDS["heard"] or name in _FIELDS["passed_over"]:
            continue
        if name not in _FIELDS["nothing"]:
            raise invalid(name, f"{name[:60]} is no field of a chat completion that is known here; leave it out")
        if value is not None and value not in _FIELDS["nothing"][name]:
            only = ", or 1" if name == "n" else ""
            raise invalid(name, f"{name} is not supported here: a run answers with one text; leave it out{only}")


def _form(body: Mapping[str, Any]) -> str:
    """Return the schema of the answer's form as text; empty where a text is wanted."""
    form = mapping(_part(body, "response_format", dict))
    kind, schema = form.get("type", "text"), mapping(form.get("json_schema")).get("schema")
    if kind == "text":
        return ""
    if kind == "json_object" or (kind == "json_schema" and isinstance(schema, dict)):
        return "{}" if kind == "json_object" else json.dumps(schema, ensure_ascii=False)
    raise invalid("response_format", "response_format must be text, json_object, or json_schema with its schema")


def _pictures(messages: Any) -> tuple[str, ...]:
    """Return what messages show as ``data:`` addresses, each looked at; no address of another kind is followed."""
    found: list[str] = []
    for number, message in enumerate(sequence(messages)):
        for part in filter(_is_picture, sequence(mapping(message).get("content"))):
            where = f"messages[{number}].content"
            address = mapping(part["image_url"]).get("url", part["image_url"])
            try:
                found.append(picture_at("image_url", str(address)).address)
            except DocumentError as fault:
                raise invalid(where, f"{where}: {fault}") from None
    return tuple(found)


def _is_picture(part: Any) -> bool:
    return mapping(part).get("type") in ("image_url", "input_image") and "image_url" in part


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = from_json(raw)
        # What no log can hold, such as half of a surrogate pair, is refused here and not in the middle of a run.
        canonical_json(body)
    except (ValueError, RecursionError) as fault:
        raise Refused(400, f"the body is not JSON that can be kept: {_line(fault)}", "invalid_json") from None
    if not isinstance(body, dict):
        raise Refused(400, "the body must be a JSON object", "invalid_json")
    return cast("dict[str, Any]", body)


def _line(fault: Exception) -> str:
    return " ".join(str(fault).split())[:200]


def _turns(messages: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(messages, list) or not messages:
        raise invalid("messages", "messages is missing or empty; send one of the user at least")
    turns = tuple(_turn(number, one) for number, one in enumerate(cast("list[Any]", messages)))
    if not any(role == "user" and text.strip() for role, text in turns):
        raise invalid("messages", "messages holds no text of the user; send one at least")
    # The last word must be the user's: a run answers a question and does not write on at a text.
    if turns[-1][0] == "assistant":
        raise invalid("messages", "messages must end with the user's: a text that was begun is not gone on with")
    return turns


def _turn(number: int, message: Any) -> tuple[str, str]:
    where = f"messages[{number}]"
    if not isinstance(message, dict):
        raise invalid(where, f"{where} must be an object with role and content")
    turn = cast("dict[str, Any]", message)
    role = turn.get("role")
    if role in ("tool", "function") or turn.get("tool_calls") or turn.get("function_call"):
        raise invalid(where, f"{where}: tool calls are not supported here; leave tools out")
    if role not in _ROLES:
        raise invalid(f"{where}.role", f"{where}.role must be system, developer, user or assistant")
    content = turn.get("content")
    if content is None and role == "assistant":
        content = ""
    if isinstance(content, list):
        texts = (part for part in cast("list[Any]", content) if not _is_picture(part))
        content = "\n".join(_text_part(where, part) for part in texts)
    if not isinstance(content, str):
        raise invalid(f"{where}.content", f"{where}.content must be a text")
    return _ROLES[role], content


def _text_part(where: str, part: Any) -> str:
    kind = cast("dict[str, Any]", part).get("type") if isinstance(part, dict) else None
    text = cast("dict[str, Any]", part).get("text") if kind in ("text", "input_text", "output_text") else None
    if not isinstance(text, str):
        name = kind if isinstance(kind, str) and kind != "text" else "a part without text"
        raise invalid(f"{where}.content", f"{where}.content: {name[:40]} is not supported here; send text or image_url")
    return text


def _terms(body: Mapping[str, Any]) -> dict[str, Any]:
    terms: dict[str, Any] = {}
    for name in ("max_tokens", "max_completion_tokens"):
        if (most := _whole(body, name, 2**31)) is not None:
            if not most:
                raise invalid(name, f"{name} must be 1 or more")
            terms["max_tokens"] = most
    effort = body.get("reasoning_effort")
    if effort is not None:
        if effort not in _EFFORTS:
            raise invalid("reasoning_effort", f"reasoning_effort must be one of {', '.join(_EFFORTS)}")
        terms["effort"] = "max" if effort == "xhigh" else effort
    return terms


def _whole(body: Mapping[str, Any], name: str, most: int) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise invalid(name, f"{name} must be a whole number from 0 to {most}")
    return value


def _number(body: Mapping[str, Any], name: str) -> float | None:
    value = body.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2):
        raise invalid(name, f"{name} must be a number from 0 to 2")
    return value


def _part(body: Mapping[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if value is not None and not isinstance(value, kind):
        raise invalid(name, f"{name} must be {'true or false' if kind is bool else 'an object'}")
    return value


def invalid(param: str, message: str) -> Refused:
    """Return that a field is at fault."""
    return Refused(400, message, "invalid_request", param)
