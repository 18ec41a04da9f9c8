"""Bodies of answers, whole or as a stream, within their caps."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pydantic_core import from_json

from llm_runtime.errors import CallError, MalformedReply, ReplyRepeats, ReplyTooLarge
from llm_runtime.http.streams import EventStream, LineStream, StreamEvent
from llm_runtime.silence import Silence

if TYPE_CHECKING:
    import aiohttp

REPEATS = "the model repeats one passage without end and was stopped; ask again, or another model"

Broken: TypeAlias = tuple[type[CallError], str]
"""The kind of error that an answer is, and its message."""

_MANY_BYTES = 2**20
_MANY_CONTAINERS = 100_000
#: What a stream may be: bytes of one event, characters of the answer, events, bytes in all (how many times the cap
#: of a whole body), and bytes that bring no words, to begin with and for each character (an event carries a word in
#: three hundred bytes).
_EVENT_BYTES = 2 * 2**20
_STREAM_CHARACTERS = 4 * 2**20
_STREAM_EVENTS = 500_000
_STREAM_FACTOR = 4
_SPARE_BYTES = 2 * 2**20
_BYTES_A_CHARACTER = 1000
#: How long to wait for the end of a body whose answer is whole, so that its connection can be used again.
_LAST_BYTES_SECONDS = 1.0
_EVENT_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")


class Incoming(Protocol):
    """What takes in a streamed answer, event by event; see :class:`~llm_runtime.providers._answer.Answer`."""

    lines: bool
    size: int
    done: bool

    @property
    def finish(self) -> str: ...

    @property
    def loops(self) -> bool: ...

    def take(self, name: bytes, data: Any) -> None: ...

    def end(self) -> None: ...


def is_stream(incoming: Incoming, content_type: str, first: bytes) -> bool:
    """Tell whether a body is a stream of events, by its type and, since types are wrong at times, its beginning."""
    if incoming.lines:
        return True
    begin = first[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if "event-stream" in content_type:
        return not begin.startswith((b"{", b"[", b"<"))
    return begin.startswith(_EVENT_STARTS)


async def listen(
    content: aiohttp.StreamReader, chunk: bytes, incoming: Incoming, silence: Silence, max_bytes: int
) -> Broken | None:
    """Pass the events on until the answer is whole; return what is wrong with them."""
    stream = (LineStream if incoming.lines else EventStream)(_EVENT_BYTES)
    size = count = 0
    while True:
        before = incoming.size
        events = stream.read(chunk) if chunk else stream.close()
        fault = _pass_on(events, incoming)
        if incoming.size != before:
            silence.heard()
        size += len(chunk)
        count += len(events)
        if incoming.size > (longest := min(max_bytes, _STREAM_CHARACTERS)):
            return ReplyTooLarge, f"the answer is longer than {longest} characters; ask for less, or raise the cap"
        most = min(_STREAM_FACTOR * max_bytes, _SPARE_BYTES + _BYTES_A_CHARACTER * incoming.size)
        if stream.overflow or size > most or count > _STREAM_EVENTS:
            return ReplyTooLarge, "the stream is larger than any answer; ask for less, or choose another model"
        if incoming.loops:
            return ReplyRepeats, REPEATS
        if incoming.done or not chunk:
            if incoming.finish:
                await _last_bytes(content)
            return None
        if fault:
            return MalformedReply, f"an event of the stream {fault}; try again"
        chunk = await content.readany()


def _pass_on(events: list[StreamEvent], incoming: Incoming) -> str | None:
    """Pass events on up to the last that counts; return what is wrong with one that cannot be read."""
    for name, data in events:
        if data == b"[DONE]":
            incoming.done = True
            return None
        if not data:
            continue
        value, fault = parse_json(data)
        if fault and b"\\ud" in data.lower():
            value, fault = _with_halves(data, fault)
        if fault:
            return fault
        incoming.take(name, value)
        if incoming.done or incoming.loops:
            return None
    return None


def _with_halves(data: bytes, fault: str) -> tuple[Any, str | None]:
    """Parse an event that may hold half of a character, whose other half is in the next one."""
    try:
        return json.loads(data), None
    except (ValueError, RecursionError):
        return None, fault


async def _last_bytes(content: aiohttp.StreamReader) -> None:
    """Read on to the end of the body, if it is near: only then can the connection be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LAST_BYTES_SECONDS):
            await content.readany()


async def read_whole(content: aiohttp.StreamReader, first: bytes, cap: int) -> tuple[bytes, bool]:
    """Read the whole body; or return its first piece and ``False`` once more than ``cap`` bytes have come."""
    size = len(first)
    if content.at_eof() and size <= cap:
        return first, True
    chunks = [first]
    while size <= cap and (chunk := await content.readany()):
        chunks.append(chunk)
        size += len(chunk)
    return (b"".join(chunks), True) if size <= cap else (first[:cap], False)


def parse_json(raw: bytes) -> tuple[Any, str | None]:
    """Parse JSON, nested at most about 200 deep: the parser stops there without recursing any further.

    Returns:
        The value, and ``None``; or nothing, and what is wrong in words that follow "the answer".
    """
    if len(raw) > _MANY_BYTES and _has_many_values(raw):
        return None, "holds more values than an answer can have"
    try:
        return from_json(raw, allow_inf_nan=False), None
    except ValueError as error:
        return None, _parse_problem(str(error))


def _has_many_values(raw: bytes) -> bool:
    """Tell whether the parsed form could be many times larger than the text: ``[],[],[],`` is, prose is not."""
    return raw.count(b"[") + raw.count(b"{") > _MANY_CONTAINERS or raw.count(b",") > 10 * _MANY_CONTAINERS


def _parse_problem(words: str) -> str:
    if "recursion limit" in words:
        return "is nested more than 200 deep"
    return "is not UTF-8" if "unicode" in words else "is not JSON"
