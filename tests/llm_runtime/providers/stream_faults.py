"""The ways in which a streamed answer can go wrong, or merely look odd, and how the server performs each."""

from __future__ import annotations

import asyncio
import base64
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import chain, repeat
from typing import Any, TypeAlias
from urllib.parse import quote

from aiohttp import web
from pydantic_core import to_json

from llm_runtime.testing import Received
from llm_runtime.testing.loopback import Send


class Act(Enum):
    """What a server does in place of sending bytes."""

    CLOSE = "closes the connection"
    RESET = "resets it"
    STALL = "sends nothing more, for as long as anyone waits"
    PAUSE = "lets a moment pass"


Part: TypeAlias = bytes | Act


@dataclass(slots=True)
class Stream:
    """A whole stream of a protocol, to be spoiled.

    Args:
        kind: the protocol: ``"openai"`` or ``"anthropic"``.
        events: all of it; the first holds no words.
        key: the client's.
        first: index of the first event with words.
        last: index of the event that says why it ended.
        headers: of the response.
    """

    kind: str
    events: list[bytes]
    key: str
    first: int
    last: int
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def whole(self) -> bytes:
        return b"".join(self.events)

    @property
    def middle(self) -> int:
        return (self.first + self.last) // 2

    @property
    def half(self) -> list[bytes]:
        return self.events[: self.middle]

    def at(self, index: int, *parts: Part) -> list[Part]:
        """Put something before the event of this index."""
        return [*self.events[:index], *parts, *self.events[index:]]

    def said(self, *pieces: str, reasoning: bool = False) -> list[Part]:
        """Say something else, in these pieces."""
        spoken = [words(self.kind, piece, reasoning) for piece in pieces]
        head, tail = self.events[: self.first], self.events[self.last :]
        return [*head, *spoken, words(self.kind, "."), *tail]

    def error(self, **fields: Any) -> bytes:
        return event({"type": "error", "error": {"message": "the provider behind failed", **fields}})

    def ended(self, reason: str) -> list[Part]:
        """End for another reason."""
        old = b'"stop"' if self.kind == "openai" else b'"end_turn"'
        return [part.replace(old, to_json(reason)) for part in self.events]

    def typed(self, content_type: str, *parts: Part) -> Iterable[Part]:
        self.headers["Content-Type"] = content_type
        return parts or self.events

    def zipped(self, *parts: bytes) -> Iterable[Part]:
        self.headers["Content-Encoding"] = "gzip"
        return parts


def event(data: dict[str, Any], name: str = "") -> bytes:
    """Return one server-sent event."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + to_json(data) + b"\n\n"


def words(kind: str, text: str, reasoning: bool = False) -> bytes:
    """Return the event that says ``text`` in a protocol with server-sent events."""
    if kind == "anthropic":
        name = "thinking" if reasoning else "text"
        delta = {"type": f"{name}_delta", name: text}
        return event({"type": "content_block_delta", "index": 0, "delta": delta}, "content_block_delta")
    delta = {"reasoning_content" if reasoning else "content": text}
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


def _every(stream: Stream, number: int) -> list[Part]:
    whole = stream.whole
    return [whole[at : at + number] for at in range(0, len(whole), number)]


def _cut_within(text: str, at: int) -> Callable[[Stream], Iterable[Part]]:
    """Cut an event that says ``text``, some bytes after where it begins."""

    def parts(stream: Stream) -> Iterable[Part]:
        said = words(stream.kind, text)
        return [*stream.half, said[: said.rindex(text.encode()) + at], Act.CLOSE]

    return parts


def _split(stream: Stream, text: str) -> list[Part]:
    said = words(stream.kind, text)
    at = said.index(text.encode()) + 1
    return [*stream.events[: stream.last], said[:at], Act.PAUSE, said[at:], *stream.events[stream.last :]]


def _surrogates(stream: Stream) -> list[Part]:
    high, low = (words(stream.kind, "@").replace(b'"@"', half) for half in (b'"\\ud83d"', b'"\\ude00"'))
    return stream.at(stream.last, high, low)


def _renamed(stream: Stream) -> list[Part]:
    return [part.replace(b'"model":"', b'"model":"' + stream.key.encode()) for part in stream.events]


def _identified(stream: Stream) -> list[Part]:
    stream.headers["x-request-id"] = f"id-{stream.key}"
    return [*stream.half, Act.CLOSE]


def _gzip(raw: bytes) -> bytes:
    return zlib.compress(raw, wbits=31)


@cache
def _bomb() -> list[bytes]:
    gzip = zlib.compressobj(level=1, wbits=31)
    return [*(gzip.compress(b": nothing" * 2**17) for _ in range(128)), gzip.flush()]


def _letters(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _escaped(stream: Stream) -> list[Part]:
    text = "".join(f"\\u{ord(character):04x}" for character in stream.key)
    return stream.at(stream.last, words(stream.kind, "@@@").replace(b"@@@", text.encode()))


def _encoded(stream: Stream) -> list[Part]:
    text = base64.b64encode(f"user:{stream.key}".encode()).decode() + " " + quote(stream.key, safe="")
    return stream.said(*_letters(text, 5))


def _endless(part: bytes) -> Callable[[Stream], Iterable[Part]]:
    return lambda stream: chain(stream.half, repeat(part))


_Spoil: TypeAlias = Callable[[Stream], Iterable[Part]]

#: Those whose answer is whole all the same.
ODD: dict[str, _Spoil] = {
    "an error after the finish": lambda s: s.at(s.last + 1, s.error()),
    "cut after the finish": lambda s: [*s.events[: s.last + 1], Act.CLOSE],
    "cut before the last event": lambda s: [*s.events[:-1], Act.CLOSE],
    "no last event": lambda s: s.events[:-1],
    "no blank line at the end": lambda s: [s.whole.rstrip(b"\n")],
    "stalls after the finish": lambda s: [*s.events[: s.last + 1], Act.STALL],
    "stalls after the last event": lambda s: [*s.events, Act.STALL],
    "lines end with CRLF": lambda s: [s.whole.replace(b"\n", b"\r\n")],
    "lines end with CR": lambda s: [s.whole.replace(b"\n", b"\r")],
    "CRLF cut in two": lambda s: [p for e in s.events for p in (e.replace(b"\n", b"\r\n")[:-1], Act.PAUSE, b"\n")],
    "all kinds of line ends": lambda s: [
        e.replace(b"\n", (b"\n", b"\r\n", b"\r")[n % 3]) for n, e in enumerate(s.events)
    ],
    "a byte order mark": lambda s: [b"\xef\xbb\xbf", *s.events],
    "comments": lambda s: [p for e in s.events for p in (b": still here\n\n", e)],
    "a comment within an event": lambda s: [e.replace(b"data:", b":hm\ndata:") for e in s.events],
    "no space after the colon": lambda s: [e.replace(b"data: ", b"data:") for e in s.events],
    "data on several lines": lambda s: [e.replace(b',"', b',\ndata: "', 1) for e in s.events],
    "ids and retries": lambda s: [b"id: 7\nretry: 10\n" + e for e in s.events],
    "unknown fields": lambda s: [b"weight: 3\n" + e for e in s.events],
    "garbage lines": lambda s: s.at(s.middle, b"what is this\n\n\x00\xff\n"),
    "empty data": lambda s: s.at(s.middle, b"data:\n\n", b"data\n\n"),
    "data that is null": lambda s: s.at(s.middle, b"data: null\n\n", b"data: 5\n\n", b"data: []\n\n"),
    "unknown events": lambda s: s.at(s.middle, event({"type": "news", "choices": [5, {}]}, "news")),
    "a byte at a time": lambda s: _every(s, 1),
    "seven bytes at a time": lambda s: _every(s, 7),
    "a character cut in two": lambda s: _split(s, "ü"),
    "a surrogate pair in two events": _surrogates,
    "the finish twice": lambda s: s.at(s.last, s.events[s.last]),
    "words after the finish": lambda s: s.at(s.last + 1, words(s.kind, " More.")),
    "garbage after the last event": lambda s: [*s.events, b"data: {\n\n\xff"],
    "called plain text": lambda s: s.typed("text/plain"),
    "called JSON": lambda s: s.typed("application/json"),
    "compressed": lambda s: s.zipped(_gzip(s.whole)),
    "much that is no answer": lambda s: s.at(s.middle, b": " + b"x" * 2**20 + b"\n\n"),
    "a late error after the last event": lambda s: [*s.events, s.error()],
}
#: Those that end in an error.
BAD: dict[str, _Spoil] = {
    "cut before the first event": lambda s: [b"\n", Act.CLOSE],
    "cut in a field's name": lambda s: [b"da", Act.CLOSE],
    "cut in the first event": lambda s: [s.events[0][:20], Act.CLOSE],
    "cut before the words": lambda s: [*s.events[: s.first], Act.CLOSE],
    "cut between events": lambda s: [*s.half, Act.CLOSE],
    "cut before a blank line": lambda s: [*s.half, s.events[s.middle][:-1], Act.CLOSE],
    "cut in an event": lambda s: [*s.half, s.events[s.middle][:-9], Act.CLOSE],
    "cut in a character": _cut_within("ü", 1),
    "cut in an escape": lambda s: [*s.half, words(s.kind, "@").split(b"@")[0] + b"\\u00", Act.CLOSE],
    "cut before the finish": lambda s: [*s.events[: s.last], Act.CLOSE],
    "reset": lambda s: [*s.half, Act.RESET],
    "nothing": lambda s: [],
    "only comments": lambda s: [b": wait\n\n", b": wait\n\n"],
    "ends before the words": lambda s: s.events[: s.first],
    "ends between events": lambda s: s.half,
    "ends in an event": lambda s: [*s.half, s.events[s.middle][:-9]],
    "no finish": lambda s: [*s.events[: s.last], *s.events[s.last + 1 :]],
    "only the last event": lambda s: s.events[-1:],
    "no words": lambda s: [*s.events[: s.first], *s.events[s.last :]],
    "an event that is no JSON": lambda s: s.at(s.middle, b"data: {broken\n\n"),
    "an event that is a page": lambda s: s.at(s.middle, b"data: <html>\n\n"),
    "a page that is called a stream": lambda s: [b"<!doctype html><title>Sign in</title>"],
    "a body that is no UTF-8": lambda s: s.at(s.middle, b'data: {"a": "\xff\xfe"}\n\n'),
    "an event that is nested deep": lambda s: s.at(s.middle, b"data: " + b"[" * 10**6 + b"\n\n"),
    "an event of many values": lambda s: s.at(s.middle, b"data: [" + b"[]," * 400_000 + b"0]\n\n"),
    "no gzip": lambda s: s.zipped(s.whole),
    "gzip cut": lambda s: s.zipped(_gzip(s.whole)[:60]),
    "a gzip bomb": lambda s: s.zipped(*_bomb()),
    "a huge event": lambda s: s.at(s.middle, b'data: {"a": "' + b"x" * 2**23 + b'"}\n\n'),
    "an endless line": _endless(b"x" * 2**16),
    "an endless event": _endless(b"data: x\n" * 2**12),
    "endless comments": _endless(b": nothing\n\n" * 2**12),
    "endless blank lines": _endless(b"\n" * 2**16),
    "endless empty events": _endless(b"data: {}\n\n" * 2**12),
    "endless words": lambda s: chain(s.half, repeat(words(s.kind, " ".join(f"word {n}" for n in range(3_000))) * 8)),
    "an error first": lambda s: [s.error(), *s.events],
    "an error in the middle": lambda s: s.at(s.middle, s.error()),
    "an error with a code": lambda s: s.at(s.middle, s.error(code=429)),
    "an error that is a text": lambda s: s.at(s.middle, event({"error": "the provider behind failed"})),
    "an event named error": lambda s: s.at(s.middle, event({"message": "the provider behind failed"}, "error")),
    "an error after which it stalls": lambda s: [*s.half, s.error(), Act.STALL],
    "ended by an error": lambda s: s.ended("error"),
    "ended by length": lambda s: s.ended("length" if s.kind == "openai" else "max_tokens"),
    "ended by a filter": lambda s: s.ended("content_filter" if s.kind == "openai" else "refusal"),
    "ended by a tool call": lambda s: s.ended("tool_calls" if s.kind == "openai" else "tool_use"),
    "ended by what nobody knows": lambda s: s.ended("because"),
    "stalls before the first event": lambda s: [b"\n", Act.STALL],
    "stalls before the words": lambda s: [*s.events[: s.first], Act.STALL],
    "stalls in the middle": lambda s: [*s.half, Act.STALL],
    "stalls in an event": lambda s: [*s.half, s.events[s.middle][:9], Act.STALL],
    "keep-alives before the words": lambda s: chain(s.events[: s.first], repeat(_ALIVE)),
    "keep-alives in the middle": lambda s: chain(s.half, repeat(_ALIVE)),
}
#: Those that bring the key of the client back; the last two in an error.
SECRETIVE: dict[str, _Spoil] = {
    "the key in one piece": lambda s: s.said(f"It is {s.key}", " indeed"),
    "the key letter by letter": lambda s: s.said(*s.key),
    "the key in five pieces": lambda s: s.said(*_letters(s.key, 1 + len(s.key) // 5)),
    "the key encoded": _encoded,
    "the key escaped": _escaped,
    "the key in the reasoning": lambda s: s.said(*_letters(s.key, 3), reasoning=True),
    "the key as the model": _renamed,
    "the key in an error": lambda s: s.at(s.middle, s.error(detail=s.key, metadata={"raw": s.key})),
    "the key as the id of a cut call": _identified,
    "the key cut": lambda s: [*s.said(*_letters(s.key, 3))[:-4], Act.CLOSE],
}
_ALIVE = b": still here\n\n"


def spoiled(*names: str) -> Send:
    """Return what spoils each call's stream in the way of its name, none where that is empty; the last goes on."""
    ways: dict[str, _Spoil] = {"": lambda s: s.events, **ODD, **BAD, **SECRETIVE}

    async def send(request: web.Request, received: Received, parts: list[bytes]) -> web.StreamResponse:
        stream = _stream_of(received, parts)
        name = names[min(received.number, len(names)) - 1]
        return await _sent(request, stream, ways[name](stream))

    return send


def _stream_of(received: Received, events: list[bytes]) -> Stream:
    kind, headers = received.kind, received.headers
    speaks, ends = (b'"content":"', b'"finish_reason":"') if kind == "openai" else (b"_delta", b'"stop_reason":"')
    first = next(n for n, e in enumerate(events) if speaks in e and b'"content":""' not in e)
    last = next(n for n, e in enumerate(events) if ends in e)
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    about = {"x-request-id": received.request_id, "Content-Type": "text/event-stream"}
    return Stream(kind, events, key, first, last, about)


async def _sent(request: web.Request, stream: Stream, parts: Iterable[Part]) -> web.StreamResponse:
    response = web.StreamResponse(headers=stream.headers)
    await response.prepare(request)
    for part in parts:
        if isinstance(part, bytes):
            await response.write(part)
            await asyncio.sleep(0.01 if part is _ALIVE else 0)
        elif part is Act.STALL:
            await asyncio.Event().wait()
        elif part is Act.PAUSE:
            await asyncio.sleep(0.001)
        elif request.transport is not None:
            # What is written so far is sent first, unless the connection is reset.
            (request.transport.close if part is Act.CLOSE else request.transport.abort)()
            break
    return response
