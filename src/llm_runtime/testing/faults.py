"""The ways in which a model server can fail, and how the loopback server performs each of them."""

from __future__ import annotations

import asyncio
import base64
import struct
import zlib
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic_core import from_json

from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from aiohttp import web

_MEGABYTE = 2**20
_JSON, _HTML = {"Content-Type": "application/json"}, {"Content-Type": "text/html; charset=utf-8"}
_GZIP = {**_JSON, "Content-Encoding": "gzip"}


class Fault(Enum):
    """One way to fail, for one call. The value says what the client sees."""

    CONNECTION_REFUSED = "nobody listens any more"
    NO_ANSWER = "the connection closes before a status line"
    NOT_HTTP = "the first line is not HTTP"
    CUT_AFTER_HEADERS = "the connection closes after the headers"
    RESET_MID_BODY = "the connection is reset within the body"
    LENGTH_TOO_LONG = "Content-Length promises more than there is"
    LENGTH_TOO_SHORT = "Content-Length promises less than there is"
    STATUS_400 = "400"
    STATUS_401 = "401"
    STATUS_402 = "402"
    STATUS_403 = "403"
    STATUS_404 = "404"
    STATUS_408 = "408"
    STATUS_422 = "422"
    STATUS_429 = "429"
    STATUS_429_SECONDS = "429 with Retry-After: 7"
    STATUS_429_DATE = "429 with a Retry-After that is a date"
    STATUS_500 = "500"
    STATUS_502 = "502 with an HTML page"
    STATUS_503 = "503"
    STATUS_529 = "529"
    REDIRECT = "307 to another host"
    UNKNOWN_MODEL = "400 that says the model is unknown"
    ERROR_IN_REPLY = "200 with an error object"
    RATE_LIMIT_IN_REPLY = "200 with an error object whose code is 429"
    EMPTY_CHOICES = "200 without a choice"
    NULL_CONTENT = "200 with a choice without text"
    CUT_BY_LENGTH = "200 with an answer cut by its token limit"
    FILTERED = "200 with a filtered answer"
    WRONG_SHAPE = "200 with JSON that is no answer"
    INVALID_UTF8 = "200 with bytes that are not UTF-8"
    NOT_JSON = "200 with JSON that breaks off"
    HTML_PAGE = "200 with an HTML page"
    DEEP_JSON = "200 with JSON nested a million deep"
    BAD_GZIP = "200 with a body that claims to be gzip"
    GZIP_BOMB = "200 with 256 MiB of zeros in a quarter of a MiB"
    GIANT_BODY = "200 with 100 MB"
    ENDLESS_BODY = "200 with a body that goes on for as long as anyone reads"
    ONE_BYTE_A_SECOND = "200 with the key repeated in a header and in the body, then a byte a second, for ever"
    ECHOED_KEY = "401 that repeats the key in its body, its headers and its request id"
    ECHOED_KEY_IN_REPLY = "200 whose answer repeats the key"


_DATA: dict[str, Any] = own_table("llm_runtime.testing", "faults.toml")


def perform(fault: Fault, request: web.Request, request_id: str) -> Awaitable[web.StreamResponse] | None:
    """Return the response of a fault of the wire or the status; ``None`` for one within an answer's fields."""
    if fault.name in _DATA["bodies"]:
        return _body(request_id, _DATA["bodies"][fault.name].encode("latin-1"))
    if fault.name in _DATA["raw"]:
        return _raw(request, request_id, fault)
    if fault in _PERFORMERS:
        return _PERFORMERS[fault](request, request_id)
    return _status(fault, request_id) if fault.value[0] in "345" else None


def spoil(fault: Fault | None, answer: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return a whole answer, with the fields of it changed that the fault concerns."""
    name = fault.name if fault else ""
    if name in _DATA["instead"]:
        return from_json(_DATA["instead"][name])
    if kind != "anthropic" and name in _DATA["choice"]:
        return answer | {"choices": [answer["choices"][0] | from_json(_DATA["choice"][name])]}
    return answer | from_json(_DATA["answer"]["anthropic" if kind == "anthropic" else "openai"].get(name, "{}"))


def echoes_of(key: str) -> str:
    """Return a text that holds a key as it is, in base64 (alone, and as a part of more), and URL-encoded."""
    parts = [key, base64.b64encode(key.encode()).decode(), base64.b64encode(f"user:{key}".encode()).decode()]
    return " ".join([*parts, quote(key, safe="")])


def key_of(request: web.Request) -> str:
    """Return the key that a request came with."""
    return request.headers.get("x-api-key") or request.headers.get("Authorization", "").removeprefix("Bearer ")


async def _status(fault: Fault, request_id: str) -> web.StreamResponse:
    """Answer with the status that the fault's description begins with."""
    from aiohttp import web

    error = {"type": "some_error", "message": _DATA["words"].get(fault.name, "it is refused")}
    headers = {"x-request-id": request_id, **_DATA["headers"].get(fault.name, {})}
    return web.json_response({"type": "error", "error": error}, status=int(fault.value[:3]), headers=headers)


async def _body(
    request_id: str, body: bytes, headers: Mapping[str, str] = _JSON, status: int = 200
) -> web.StreamResponse:
    from aiohttp import web

    return web.Response(body=body, status=status, headers={"x-request-id": request_id, **headers})


async def _raw(request: web.Request, request_id: str, fault: Fault) -> web.StreamResponse:
    from aiohttp import web

    transport = request.transport
    if transport is not None:
        transport.write(_DATA["raw"][fault.name].replace("%s", request_id).encode())
        if fault is Fault.RESET_MID_BODY:
            transport.abort()
        else:
            transport.close()
    # The connection is gone, so this goes nowhere.
    return web.Response()


@cache
def _bomb() -> bytes:
    zeros, crc = bytes(_MEGABYTE), 0
    for _ in range(256):
        crc = zlib.crc32(zeros, crc)
    deflate = zlib.compressobj(level=9, wbits=-15)
    # What was fully flushed stands alone, so one packed megabyte is repeated: packing all takes half a second.
    packed = deflate.compress(zeros) + deflate.flush(zlib.Z_FULL_FLUSH)
    head = zlib.compressobj(wbits=31).flush()[:10]
    return b"".join([head, packed * 256, deflate.flush(), struct.pack("<II", crc, 256 * _MEGABYTE)])


async def _stream(
    request: web.Request, request_id: str, chunk: bytes, *, first: str = "", times: int | None = None,
    pause: float = 0.0,
) -> web.StreamResponse:  # fmt: skip
    from aiohttp import web

    headers = {"x-request-id": request_id, "x-echo": first, "Content-Type": "application/json"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    await response.write(first.encode())
    for _ in count() if times is None else range(times):
        await response.write(chunk)
        await asyncio.sleep(pause)
    return response


async def _echoed_key(request: web.Request, request_id: str) -> web.StreamResponse:
    from aiohttp import web

    key = key_of(request)
    headers = {"x-request-id": f"{request_id}-{key}", "x-echo": key}
    return web.json_response({"error": {"message": f"bad key {echoes_of(key)}"}}, status=401, headers=headers)


_PERFORMERS: dict[Fault, Callable[[web.Request, str], Awaitable[web.StreamResponse]]] = {
    Fault.STATUS_502: lambda _, name: _body(name, b"<h1>502 Bad Gateway</h1>", _HTML, 502),
    Fault.DEEP_JSON: lambda _, name: _body(name, b'{"choices": ' + b"[" * 10**6),
    Fault.BAD_GZIP: lambda _, name: _body(name, b"this is not gzip", _GZIP),
    Fault.GZIP_BOMB: lambda _, name: _body(name, _bomb(), _GZIP),
    Fault.GIANT_BODY: lambda request, name: _stream(request, name, b"a" * _MEGABYTE, times=100),
    Fault.ENDLESS_BODY: lambda request, name: _stream(request, name, b"a" * _MEGABYTE),
    Fault.ONE_BYTE_A_SECOND: lambda request, name: _stream(
        request, name, b" ", first=echoes_of(key_of(request)), pause=1.0
    ),
    Fault.ECHOED_KEY: _echoed_key,
}
