"""A chat request as it arrives: read from the wire, what cannot be done refused by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from assay.api.calling import read_functions, without_calls
from assay.api.refused import Refused, invalid
from llm_runtime.canonical import canonical_json
from llm_runtime.documents import DocumentError
from llm_runtime.documents.pictures import picture_at
from llm_runtime.http.shape import mapping, reason_of, sequence
from llm_runtime.models import first_fault
from llm_runtime.toml import own_table
from llm_runtime.tool_calls import ToolSpec

_FIELDS = own_table(__package__ or "", "asked.toml")
_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


_Bound: TypeAlias = Annotated[int, Field(ge=1, le=2**31)]


class ChatRequest(BaseModel):
    """What a program asks for; fields that are not told have OpenAI's names and meaning."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", use_attribute_docstrings=True)

    model: str = Field(min_length=1)
    stream: bool | None = None
    stream_options: Mapping[str, Any] | None = None
    max_tokens: _Bound | None = None
    max_completion_tokens: _Bound | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    """Heard where one model is asked."""
    seed: int | None = Field(None, ge=0, le=2**53 - 1)
    """Of the run."""
    assay: Mapping[str, Any] | None = None
    """Further fields of the run."""
    turns: tuple[tuple[str, str], ...]
    """Pairs of role and text, oldest first."""
    pictures: tuple[str, ...] = ()
    """As ``data:`` addresses, in the order of the messages."""
    form: str = ""
    """The JSON schema that the answer must fit, as text; ``"{}"`` for any object, empty for a text."""
    functions: tuple[ToolSpec, ...] = ()
    """Of the program; the answer may call one."""
    must: str = "auto"
    """``"auto"``, ``"required"``, or the name of the function that it must call."""

    @property
    def usage(self) -> bool:
        """Whether a stream ends with the tokens."""
        return bool((self.stream_options or {}).get("include_usage"))

    @property
    def terms(self) -> Mapping[str, Any]:
        """Bounds that were sent with it."""
        effort = "max" if self.reasoning_effort == "xhigh" else self.reasoning_effort
        sent = {"max_tokens": self.max_completion_tokens or self.max_tokens, "effort": effort}
        return {name: value for name, value in sent.items() if value is not None}

    def data(self) -> Any:
        """Return what the same request has again, and no other."""
        return self.model_dump(mode="json", exclude={"stream", "stream_options"}, exclude_defaults=True)


def read_request(raw: bytes, as_chat: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict) -> ChatRequest:
    """Read the body of a request; ``as_chat`` makes it one of chat completions.

    Raises:
        Refused: it is no such request, or asks for something that is not done; names the field.
    """
    body = as_chat(_object(raw))
    _check_fields(body)
    if not body.get("model"):
        raise invalid("model", "model is missing; GET /v1/models lists those that there are")
    messages = without_calls(body.get("messages"))
    functions, must = read_functions(body.get("tools"), body.get("tool_choice"))
    read = {"pictures": _pictures(messages), "turns": _turns(messages), "form": _form(body)}
    try:
        return ChatRequest.model_validate({**body, **read, "functions": functions, "must": must})
    except ValidationError as fault:
        raise invalid(str(fault.errors()[0]["loc"][0]), first_fault(fault)) from None


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
    form = mapping(body.get("response_format"))
    kind, schema = form.get("type", "text"), mapping(form.get("json_schema")).get("schema")
    if body.get("response_format") is None or (form and kind == "text"):
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
        raise Refused(400, f"the body is not JSON that can be kept: {reason_of(fault)}", "invalid_json") from None
    if not isinstance(body, dict):
        raise Refused(400, "the body must be a JSON object", "invalid_json")
    return cast("dict[str, Any]", body)


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
        raise invalid(where, f"{where}: a call and its result must follow a message of the user's")
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
