"""Structured answers: a pydantic model becomes a schema, the answer is read tolerantly and validated strictly."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from llm_runtime.behaviour import RUNTIME
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import Generate, Message, Reply, Request
from llm_runtime.models import first_fault
from llm_runtime.objects import Objects
from llm_runtime.quoting import Material, says_little
from llm_runtime.structs import Struct

T = TypeVar("T", bound=BaseModel)

_COLON_OR_COMMA = re.compile("[:,]")

#: Signs of print in the place of JSON's own. Those that stand within words, an apostrophe or a comma, stay.
_PRINTED = str.maketrans("“”„‟＂｛｝", '"""""{}')
_NARROW = {"：": ":", "，": ","}
_WIDE = re.compile(r'(?<=")\s*：|(?<=["\]}\dle])，(?=\s*["{])')
_UNSEEN = re.compile("[\u200b\u2060\ufeff]")
_COMMENTS = re.compile(r"\{\s*+(?:(?:(?://|#)[^\n]{0,500}+\n|/\*(?:[^*]|\*(?!/)){0,200}+\*/)\s*+)++")

#: Longer answers are refused before any pattern sees them, and longer broken ones are not repaired.
MAX_CHARS = 1_000_000
MAX_REPAIR_CHARS = 200_000
#: Opening brackets in a broken answer beyond which nobody meant an object, and repairing one takes minutes.
MAX_REPAIR_BRACKETS = 2_000
#: Quotes in a row without the colon or comma that JSON would have between them: as bad to repair.
MAX_REPAIR_QUOTES = 200
#: Of more objects in one answer only the last so many are looked at, and of broken ones so few.
MAX_OBJECTS = 1_000
MAX_BROKEN = 3


class Structured(Struct, Generic[T]):
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
    """Return the JSON schema of a pydantic model as text, its properties in the order of the fields.

    Engines that decode by a schema write the properties in its order, so a model's fields stand in the order in
    which they are best thought of.
    """
    return json.dumps(model.model_json_schema(), ensure_ascii=False, separators=(",", ":"))


async def ask(
    generate: Generate, request: Request, model: type[T], *, reasks: int = 1,
    check: Callable[[T], str | None] | None = None, repair: bool = True, shown: str | None = None,
    read: Callable[[str], tuple[T, bool]] | None = None,
) -> Structured[T]:  # fmt: skip
    """Ask for an object of type ``model``.

    An answer that cannot be read is sent back with what is wrong, up to ``reasks`` times (0 or more); each
    further request counts up ``label.attempt``.

    Args:
        check: says in one line what is wrong with a valid object, or ``None``; for what a schema cannot hold.
        repair: whether broken JSON may be repaired, as a last resort.
        shown: what :func:`parse` takes for shown; left out, the request's messages. To be set where the prompt
            itself dictates an answer.

    Raises:
        StructuredOutputError: no answer fits; ``raw`` is the last one.
        CallError: a call failed.
    """
    request = dataclasses.replace(request, schema=schema_text(model))
    if shown is None:
        shown = "\n".join(message.content for message in request.messages)
    for attempt in range(1, reasks + 2):
        reply = await generate(request)
        try:
            value, repaired = read(reply.text) if read else parse(reply.text, model, repair=repair, shown=shown)
            fault = check(value) if check else None
            if fault is None:
                return Structured(value, reply, repaired, attempt)
            error = StructuredOutputError(fault, reply.text)
        except StructuredOutputError as unreadable:
            error = unreadable
        if attempt > reasks:
            times = "once" if attempt == 1 else f"{attempt} times"
            error.asked = f"{reply.model or request.model} was asked {times} for {request.label.words}"
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


def parse(text: str, model: type[T], *, repair: bool = True, shown: str = "") -> tuple[T, bool]:
    """Read an object of type ``model`` from an answer; the flag says whether its JSON was repaired.

    Of the objects that stand in the answer, bare, in a fence or in prose, the last that fits counts: drafts and
    quotes come before the answer. What an object holds belongs to it and is no answer of its own. Only where none
    fits, and only with ``repair``, those are repaired whose JSON is broken. Validation is strict about the data
    and never guesses.

    Args:
        text: the answer.
        model: what is asked for.
        repair: whether broken JSON may be repaired.
        shown: all that the model had before it. An object that stands there too is a quote, however it is spelled
            and escaped. One without a number and without free words (``{"same": true}``) cannot be told from an
            honest answer: it counts where the answer ends with it.

    Raises:
        StructuredOutputError: no object is there, none fits, or those that do were shown; one line.
    """
    material, quoted = Material(shown, model), False
    reading = AnswerObjects(text, model, repair=repair)
    for spelling, value, repaired, last in reading:
        if not material.holds(spelling, value) or (last and says_little(from_json(spelling), model)):
            return value, repaired
        quoted = True
    if quoted:
        reading.fault = "the answer only repeats an object that was shown; an answer of its own is needed"
    raise StructuredOutputError(reading.fault or "the answer holds no JSON object", text)


class AnswerObjects(Generic[T]):
    """The objects of type ``model`` in an answer.

    Args:
        text: the answer.
        model: what is asked for.
        repair: whether broken JSON may be repaired.

    Raises:
        StructuredOutputError: the answer is too long.
    """

    def __init__(self, text: str, model: type[T], *, repair: bool = True) -> None:
        if len(text) > MAX_CHARS:
            raise StructuredOutputError(
                f"the answer is {len(text):,} characters long, the limit is {MAX_CHARS:,}", text
            )
        # A lone surrogate is no text: JSON cannot hold it, and neither can a log.
        self._text = text.encode("utf-8", "replace").decode()
        self._model = model
        self._repair = repair
        #: What is wrong with the first object that does not fit, in one line; empty until all were looked at.
        self.fault = ""

    def __iter__(self) -> Iterator[tuple[str, T, bool, bool]]:
        """Yield each with its spelling, whether it was repaired, whether the answer ends with it; last first."""
        fits = False
        for found in self._read(self._text):
            yield found
            fits = True
        if self._repair and not fits and not RUNTIME.before(4) and (plain := _respelled(self._text)) != self._text:
            yield from ((spelling, value, True, last) for spelling, value, _, last in self._read(plain))

    def _read(self, text: str) -> Iterator[tuple[str, T, bool, bool]]:
        places = list(Objects(text))
        whole = [place for place in places if place.data is not None][-MAX_OBJECTS:]
        broken = [place for place in places if place.data is None][-MAX_BROKEN:] if self._repair else []
        for place in (*whole, *broken) if RUNTIME.before(2) else (*reversed(whole), *reversed(broken)):
            spelling, data = text[place.start : place.end], place.data
            if data is None:
                data = _repaired(spelling)
                if data is None:
                    continue
                spelling = json.dumps(data, ensure_ascii=False)
            elif name := _contradicted(spelling):
                self.fault = self.fault or f"{name}: it stands twice, with different values"
                continue
            try:
                value = self._model.model_validate(data)
            except ValidationError as misfit:
                self.fault = self.fault or _first_fault(misfit)
                continue
            yield spelling, value, place.data is None, not text[place.end :].strip(' \t\r\n`"')


def _contradicted(spelling: str) -> str:
    """Return a name that an object gives two values, at any depth; empty where none has."""
    found: list[str] = []

    def held(pairs: list[tuple[str, Any]]) -> object:
        last = dict(pairs)
        found.extend(name for name, value in pairs if last[name] != value)
        return last

    with suppress(ValueError, RecursionError):
        json.loads("{}" if RUNTIME.before(5) else spelling, object_pairs_hook=held, strict=False)
    return found[0] if found else ""


def _repaired(broken: str) -> dict[str, Any] | None:
    if len(broken) > MAX_REPAIR_CHARS or broken.count("{") + broken.count("[") > MAX_REPAIR_BRACKETS:
        return None
    if any(part.count('"') > MAX_REPAIR_QUOTES for part in _COLON_OR_COMMA.split(broken)):
        return None
    import json_repair

    try:
        data = json_repair.loads(broken)
    except (RecursionError, ValueError):
        return None
    return data if isinstance(data, dict) and data else None


def _respelled(text: str) -> str:
    """Return an answer as JSON spells it: quotes of print, comments, invisible signs, an object that is a string."""
    opening = text.find('{\\"')
    if opening >= 0 and opening == text.find("{"):
        with suppress(ValueError):
            return json.loads(f'"{text[opening : text.rfind("}") + 1]}"', strict=False)
    plain = _UNSEEN.sub("", text[:MAX_REPAIR_CHARS]).translate(_PRINTED)
    plain = _COMMENTS.sub("{", plain)
    return _WIDE.sub(lambda sign: _NARROW[sign[0][-1]], plain)


def _first_fault(fault: ValidationError) -> str:
    more = f" (and {fault.error_count() - 1} more)" if fault.error_count() > 1 else ""
    return first_fault(fault, "the object") + more
