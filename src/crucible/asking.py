"""Asking a seat for a record: by schema, once more with what was wrong, in parts, then from a spare."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from crucible.behaviour import BEHAVIOUR
from crucible.events import SpareAsked
from crucible.openrouter.client import OpenRouterClient
from llm_runtime.errors import CallError, ContextExceeded, StructuredOutputError
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel, Message, Reply, Request
from llm_runtime.objects import Objects
from llm_runtime.prompts import load_prompt
from llm_runtime.structs import Struct
from llm_runtime.structured import ask

T = TypeVar("T", bound=BaseModel)
Compose: TypeAlias = "Callable[[int | None], Sequence[Message]]"
"""What is asked; the number bounds the characters of each text that the council itself wrote, ``None`` none."""
Say: TypeAlias = "Callable[[str], Awaitable[str]]"
"""Asks one more question in plain words, after what was said."""

#: Characters of each text of the council's own, where a prompt does not fit the model's window.
_BOUNDS = (None, 600, 200)
#: A spare's calls are counted from here: a model's own are at most two and those of the parts.
_SPARE = 10
#: Who answers there is a person, or what speaks for one.
_PEOPLE = ("terminal", "mailbox")
_MARKS = "-*•#>0123456789.) "


class _InWords(StructuredOutputError):
    """A person is not asked again for a form."""


class Wanted(Struct, Generic[T]):
    """A record that is asked for.

    Args:
        kind: its type.
        compose: the conversation.
        check: says in one line what is wrong with a valid record, or ``None``.
        parts: ``async (say) -> record``, for a model that cannot keep the form; ``None`` for none.
        words: makes a record of what a person wrote, who need not keep a form; ``None`` for who must.
        shown: what the prompt shows besides the form that it dictates: an object that stands there is no answer.
        weigh: says in one line what is wrong with a record that a model gave, where code cannot tell.
    """

    kind: type[T]
    compose: Compose
    check: Callable[[T], str | None] | None = None
    parts: Callable[[Say], Awaitable[T]] | None = None
    words: Callable[[str], T] | None = None
    shown: str = ""
    weigh: Callable[[T], Awaitable[str | None]] | None = None


class Asker:
    """Gets records from models.

    Args:
        client: makes the calls.
        emit: hears which spare was asked, and why.
    """

    def __init__(self, client: OpenRouterClient, emit: Emit) -> None:
        self._client, self._emit = client, emit

    async def record(self, wanted: Wanted[T], label: CallLabel, models: Sequence[Sequence[str]]) -> T:
        """Return a record from the first model that gives one.

        Args:
            wanted: the record.
            label: of the first call; later ones count ``attempt`` up.
            models: who is asked, in order: each a model with those that stand in where nobody serves it. The
                second is a spare, which may be the same model once more.

        Raises:
            CallError, StructuredOutputError: what the last of them failed with.
        """
        fault: CallError | StructuredOutputError | None = None
        for number, model in enumerate(models):
            if fault is not None:
                self._emit(SpareAsked(phase=label.phase, seat=label.seat, model=model[0], reason=str(fault)[:500]))
            try:
                return await self._of(wanted, replace(label, attempt=label.attempt + number * _SPARE), model)
            except (CallError, StructuredOutputError) as failed:
                fault = failed
        assert fault is not None, "nobody was to be asked"
        raise fault

    async def _of(self, wanted: Wanted[T], label: CallLabel, model: Sequence[str]) -> T:
        for bound in _BOUNDS:
            turns = tuple(wanted.compose(bound))
            request, replies = Request(model[0], turns, label, tuple(model[1:])), list[Reply]()

            async def heard(request: Request, replies: list[Reply] = replies) -> Reply:
                if wanted.words is not None and replies and replies[-1].provider in _PEOPLE:
                    raise _InWords("a person answered in plain words", replies[-1].text)
                replies.append(await self._client.generate(request))
                return replies[-1]

            def sound(record: T, replies: list[Reply] = replies) -> str | None:
                if not BEHAVIOUR.before(8) and breaks_off(replies[-1].text):
                    return "the object breaks off; write it whole"
                return wanted.check(record) if wanted.check else None

            try:
                # The prompt dictates a form, and an object that follows it is the model's own.
                got = (await ask(heard, request, wanted.kind, check=sound, shown=wanted.shown)).value
            except _InWords as fault:
                assert wanted.words is not None
                return wanted.words(fault.raw)
            except ContextExceeded:
                if bound == _BOUNDS[-1]:
                    raise
                continue
            except StructuredOutputError as fault:
                if wanted.parts is None:
                    raise
                got = await self._in_parts(wanted.parts, request, fault)
            if wanted.weigh and (wrong := await wanted.weigh(got)):
                raise StructuredOutputError(wrong, got.model_dump_json())
            return got
        raise AssertionError("unreachable: the last bound returns or raises")

    async def _in_parts(self, parts: Callable[[Say], Awaitable[T]], request: Request, fault: Exception) -> T:
        turns = [*request.messages, Message("assistant", getattr(fault, "raw", "")[:4_000] or "(nothing)")]
        attempt = request.label.attempt + 1

        async def say(words: str) -> str:
            nonlocal attempt
            attempt += 1
            turns.append(Message("user", words))
            label = replace(request.label, attempt=attempt)
            reply: Reply = await self._client.generate(Request(request.model, tuple(turns), label, request.fallbacks))
            turns.append(Message("assistant", reply.text))
            return reply.text.strip()

        return await parts(say)


def breaks_off(text: str) -> bool:
    """Tell whether the only object of an answer has no end: mended, it is half of what was to be said."""
    return "{" in text and "}" not in text[text.rfind('"') :] and all(one.data is None for one in Objects(text))


def kept(got: T, check: Callable[[T], str | None]) -> T:
    """Return a record that was put together of parts, where a check finds nothing wrong with it.

    Raises:
        StructuredOutputError: it does.
    """
    if fault := check(got):
        raise StructuredOutputError(fault, got.model_dump_json())
    return got


def lines_of(text: str, *, listed: bool = False) -> list[str]:
    """Return the lines of a text without what marks them; of ``listed`` ones those alone that are marked."""
    lines = [line.strip() for line in text.split("\n")]
    return [bare for line in lines if (bare := line.lstrip(_MARKS).strip()) and (not listed or line[0] in _MARKS)]


def part(name: str, **values: str) -> str:
    """Return the question for one part of a record."""
    return load_prompt("crucible", f"part_{name}").render(**values)
