"""Structured answers: a pydantic model becomes a schema, the answer is read tolerantly and validated strictly."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from llm_runtime.canonical import canonical_json
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import Generate, Message, Reply, Request
from llm_runtime.models import first_fault

T = TypeVar("T", bound=BaseModel)

_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(.*?)\r?\n?```", re.DOTALL)
#: Longer answers are refused before any pattern sees them, and longer broken ones are not repaired.
MAX_CHARS = 1_000_000
MAX_REPAIR_CHARS = 200_000
#: Opening brackets in a broken answer beyond which nobody meant an object, and repairing one takes minutes.
MAX_REPAIR_BRACKETS = 2_000


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """A validated answer.

    Args:
        value: the object.
        reply: the reply it was read from, the last one where it was asked again.
        repaired: the JSON was broken and had to be repaired.
        attempts: how often the model was asked, 1 or more.
    """

    value: T
    reply: Reply
    repaired: bool
    attempts: int


@cache
def schema_text(model: type[BaseModel]) -> str:
    """Return the JSON schema of a pydantic model as canonical JSON text."""
    return canonical_json(model.model_json_schema()).decode()


async def ask(
    generate: Generate,
    request: Request,
    model: type[T],
    *,
    reasks: int = 1,
    check: Callable[[T], str | None] | None = None,
    repair: bool = True,
) -> Structured[T]:
    """Ask for an object of type ``model``.

    An answer that cannot be read is sent back with what is wrong, up to ``reasks`` times (0 or more); each
    further request counts up ``label.attempt``.

    Args:
        check: says in one line what is wrong with a valid object, or ``None``; for what a schema cannot hold.
        repair: whether broken JSON may be repaired, as a last resort.

    Raises:
        StructuredOutputError: no answer fits; ``raw`` is the last one.
        CallError: a call failed.
    """
    request = dataclasses.replace(request, schema=schema_text(model))
    for attempt in range(1, reasks + 2):
        reply = await generate(request)
        try:
            value, repaired = parse(reply.text, model, repair=repair)
            fault = check(value) if check else None
            if fault is None:
                return Structured(value, reply, repaired, attempt)
            error = StructuredOutputError(fault, reply.text)
        except StructuredOutputError as unreadable:
            error = unreadable
        if attempt > reasks:
            raise error
        request = _again(request, reply.text, str(error))
    raise AssertionError("unreachable: the last attempt returns or raises")


def _again(request: Request, answer: str, fault: str) -> Request:
    label = dataclasses.replace(request.label, attempt=request.label.attempt + 1)
    complaint = (
        f"That answer cannot be used: {fault}. Answer again with the whole JSON object and nothing else, "
        "in the form that was asked for."
    )
    turns = (Message("assistant", answer[:20_000]), Message("user", complaint))
    return dataclasses.replace(request, messages=(*request.messages, *turns), label=label)


def parse(text: str, model: type[T], *, repair: bool = True) -> tuple[T, bool]:
    """Read an object of type ``model`` from an answer; the flag says whether its JSON was repaired.

    In this order: the whole text as JSON; the first fenced block; the first balanced object. Only then, and only
    with ``repair``, a repair of what is broken. The first that is JSON is validated; validation is strict about
    the data and never guesses.

    Raises:
        StructuredOutputError: no JSON object is found, or it does not fit; one line that says where.
    """
    if len(text) > MAX_CHARS:
        raise StructuredOutputError(
            f"the answer is {len(text):,} characters long, the limit is {MAX_CHARS:,}", text
        )
    # A lone surrogate is no text: JSON cannot hold it, and neither can a log.
    value = _object(text.encode("utf-8", "replace").decode(), repair)
    if value is None:
        raise StructuredOutputError("the answer holds no JSON object", text)
    data, repaired = value
    try:
        return model.model_validate(data), repaired
    except ValidationError as fault:
        raise StructuredOutputError(_first_fault(fault), text) from None


def _object(text: str, repair: bool) -> tuple[Any, bool] | None:
    stripped = text.strip()
    fenced = _FENCED.search(stripped)
    candidates = [stripped, fenced[1] if fenced else "", _first_object(stripped)]
    for candidate in candidates:
        if candidate.startswith("{"):
            try:
                return from_json(candidate), False
            except ValueError:
                continue
    broken = candidates[1] or stripped[stripped.find("{") :]
    if repair and broken.startswith("{") and _worth_repairing(broken):
        data = _repaired(broken)
        if isinstance(data, dict) and data:
            return cast("dict[str, Any]", data), True
    return None


def _worth_repairing(broken: str) -> bool:
    return len(broken) <= MAX_REPAIR_CHARS and broken.count("{") + broken.count("[") <= MAX_REPAIR_BRACKETS


def _repaired(broken: str) -> object:
    import json_repair

    try:
        return json_repair.loads(broken)
    except (RecursionError, ValueError):
        return None


def _first_object(text: str) -> str:
    """Cut from the first brace to the one that closes it, strings respected; empty where none does."""
    start = text.find("{")
    depth, quoted, escaped = 0, False, False
    for index in range(max(start, 0), len(text) if start >= 0 else 0):
        char = text[index]
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return text[start : index + 1]
    return ""


def _first_fault(fault: ValidationError) -> str:
    more = f" (and {fault.error_count() - 1} more)" if fault.error_count() > 1 else ""
    return first_fault(fault, "the object") + more
