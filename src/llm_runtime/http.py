"""One HTTP client under every provider: sessions, caps, typed errors, and keys that never show."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from pydantic_core import from_json, to_json

from llm_runtime.addresses import is_loopback
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import (
    CallError,
    ConnectionCut,
    ConnectionFailed,
    MalformedReply,
    ReplyTooLarge,
)
from llm_runtime.providers._failures import error_detail, error_for_status, retry_after_seconds
from llm_runtime.providers._secrets import HeaderSecret, Redactor
from llm_runtime.providers._shape import mapping, one_line, text

if TYPE_CHECKING:
    import aiohttp

_CONNECT_SECONDS = 30.0
_ERROR_BODY_BYTES = 64 * 1024
_ID_CHARACTERS = 120
_MANY_BYTES = 2**20
_MANY_CONTAINERS = 100_000


class Http:
    """Posts JSON and reads JSON, for any number of endpoints and event loops.

    A session belongs to the event loop that opened it and is closed when that loop shuts down, so that one
    object serves several ``asyncio.run`` in a row. :meth:`aclose` closes that of the running loop.

    Args:
        max_bytes: the largest body read, in bytes after decompression.
        clock: seconds since the epoch, for a Retry-After that is a date.
    """

    def __init__(self, *, max_bytes: int = 16 * 2**20, clock: Callable[[], float] = time.time) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._open: dict[asyncio.AbstractEventLoop, _OpenSession] = {}
        self._routes: dict[Endpoint, _Route] = {}

    async def post_json(
        self, endpoint: Endpoint, path: str, payload: dict[str, Any], *, model: str
    ) -> tuple[Any, str | None]:
        """Send ``payload`` and return the parsed body of the 2xx, with the provider's id of the request.

        Raises:
            CallError: any of its kinds that a status or a broken answer means; ``model`` is named in it.
        """
        return await self._call(endpoint, path, to_json(payload), model)

    async def get_json(self, endpoint: Endpoint, path: str, *, model: str = "") -> Any:
        """Return the parsed body of a GET. Raises what :meth:`post_json` raises."""
        body, _ = await self._call(endpoint, path, None, model)
        return body

    async def open(self) -> None:
        """Open the session of the running event loop now. The first one loads the HTTP library, which takes longer
        than some timeouts allow for a whole call."""
        await self._session()

    async def aclose(self) -> None:
        """Close the session of the running event loop, if there is one. The object may be used again."""
        opened = self._open.get(asyncio.get_running_loop())
        if opened is not None:
            await opened.keeper.aclose()

    async def _call(self, endpoint: Endpoint, path: str, data: bytes | None, model: str) -> tuple[Any, str | None]:
        route = self._routes.get(endpoint) or self._route(endpoint)
        session = await self._session()
        try:
            answer = _redacted(await _exchange(session, route, path, data, self._max_bytes), route.redactor)
        except asyncio.CancelledError as cancelled:
            # Cancelled all the same, only without the frames below, whose locals hold answers not yet redacted.
            raise cancelled.with_traceback(None) from None
        if answer.broken is not None:
            kind, message = answer.broken
            status, request_id = answer.status or None, answer.request_id
            raise kind(message, provider=endpoint.name, model=model, status=status, request_id=request_id)
        if not answer.succeeded:
            raise self._refused(endpoint.name, model, answer)
        body = _parse(answer, endpoint.name, model)
        return body, answer.request_id or _line_of(mapping(body).get("id"))

    def _refused(self, provider: str, model: str, answer: _Answer) -> CallError:
        try:
            body = from_json(answer.body)
        except ValueError:
            # A proxy's HTML page, or the start of something endless: the status says enough.
            body = None
        return error_for_status(
            answer.status,
            error_detail(body),
            provider=provider,
            model=model,
            request_id=answer.request_id or _line_of(mapping(body).get("request_id")),
            retry_after=retry_after_seconds(answer.retry_after, self._clock()),
        )

    def _route(self, endpoint: Endpoint) -> _Route:
        route = self._routes[endpoint] = _Route.to(endpoint)
        return route

    async def _session(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        opened = self._open.get(loop)
        if opened is None:
            keeper = self._keep_session(loop)
            # An event loop closes its unfinished async generators before it ends: the hook that closes ours.
            opened = self._open[loop] = _OpenSession(keeper, await anext(keeper))
        return opened.session

    async def _keep_session(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[aiohttp.ClientSession]:
        import aiohttp

        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        try:
            yield session
        finally:
            self._open.pop(loop, None)
            await session.close()


class _OpenSession(NamedTuple):
    keeper: AsyncGenerator[aiohttp.ClientSession]
    session: aiohttp.ClientSession


@dataclass(frozen=True, slots=True)
class _Route:
    base_url: str
    query: str = field(repr=False)
    proxy: str | None = field(repr=False)
    redactor: Redactor
    headers: dict[str, str]

    @classmethod
    def to(cls, endpoint: Endpoint) -> _Route:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers.update((name, HeaderSecret(value)) for name, value in endpoint.headers)
        secret = ""
        if endpoint.key is not None:
            secret = HeaderSecret(endpoint.key.get_secret_value())
            if endpoint.dialect.auth == "bearer":
                headers["Authorization"] = HeaderSecret("Bearer " + secret)
            else:
                headers[endpoint.dialect.auth] = secret
        redactor = Redactor(endpoint.secrets())
        query = urlencode(endpoint.query)
        return cls(endpoint.base_url.rstrip("/"), query, _proxy_for(endpoint.base_url), redactor, headers)

    def url(self, path: str) -> str:
        """Return the address of a path, with the endpoint's own parameters."""
        if not self.query:
            return self.base_url + path
        return f"{self.base_url}{path}{'&' if '?' in path else '?'}{self.query}"


def _proxy_for(base_url: str) -> str | None:
    """Return the environment's proxy for this address, looked up once; none for this machine."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if is_loopback(host):
        return None
    # Half of the standard library's HTTP stack comes with this import.
    from urllib.request import getproxies, proxy_bypass

    return None if proxy_bypass(host) else getproxies().get(parts.scheme)


class _Answer(NamedTuple):
    """What came over the wire; ``status`` is 0 where not even a status did."""

    status: int = 0
    body: bytes = b""
    request_id: str | None = None
    retry_after: str | None = None
    broken: tuple[type[CallError], str] | None = None

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300


async def _exchange(
    session: aiohttp.ClientSession, route: _Route, path: str, data: bytes | None, max_bytes: int
) -> _Answer:
    """Send one request. What fails is returned, not raised: an error that is raised elsewhere carries
    neither the HTTP library's exception, with its headers, nor this frame."""
    import aiohttp

    head = _Answer()
    try:
        async with session.request(
            "GET" if data is None else "POST",
            route.url(path),
            data=data,
            headers=route.headers,
            proxy=route.proxy,
            allow_redirects=False,
        ) as response:
            headers = response.headers
            request_id = headers.get("x-request-id") or headers.get("request-id")
            head = _Answer(response.status, b"", request_id, headers.get("retry-after"))
            cap = max_bytes if head.succeeded else min(max_bytes, _ERROR_BODY_BYTES)
            body, whole = await _read(response.content, cap)
            if not whole:
                response.close()
                if head.succeeded:
                    message = f"the answer is larger than {cap} bytes; ask for less, or raise the cap"
                    return head._replace(broken=(ReplyTooLarge, message))
            return head._replace(body=body)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # A status of failure says what happened better than the way in which its body broke off.
        return head if head.status and not head.succeeded else head._replace(broken=_reason(error, head.status))


async def _read(content: aiohttp.StreamReader, cap: int) -> tuple[bytes, bool]:
    """Read the whole body; or return its first piece and ``False`` once more than ``cap`` bytes have come."""
    first = await content.readany()
    size = len(first)
    if content.at_eof() and size <= cap:
        return first, True
    chunks = [first]
    while size <= cap and (chunk := await content.readany()):
        chunks.append(chunk)
        size += len(chunk)
    return (b"".join(chunks), True) if size <= cap else (first[:cap], False)


def _reason(error: Exception, status: int) -> tuple[type[CallError], str]:
    import aiohttp

    if status and "content-encoding" in str(error).lower():
        return MalformedReply, "the answer cannot be decompressed; try again"
    if status:
        return ConnectionCut, "the connection ended before the answer did; try again"
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)):
        cause = one_line(str(getattr(error, "strerror", None) or type(error).__name__), 120)
        return ConnectionFailed, f"no connection ({cause}); is the server running, is the address right?"
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return ConnectionFailed, f"the proxy refused with HTTP {error.status}; check the proxy settings"
    if isinstance(error, aiohttp.ClientResponseError):
        return MalformedReply, "what answers there does not speak HTTP; correct the base URL"
    if isinstance(error, ValueError):
        return ConnectionFailed, "the base URL is not one that can be reached; correct it"
    return ConnectionCut, "the connection ended without an answer; try again"


def _redacted(answer: _Answer, redactor: Redactor) -> _Answer:
    request_id = one_line(redactor.text(answer.request_id), _ID_CHARACTERS) if answer.request_id else None
    return answer._replace(body=redactor.body(answer.body), request_id=request_id)


def _parse(answer: _Answer, provider: str, model: str) -> Any:
    """Parse JSON, nested at most about 200 deep: the parser stops there without recursing any further."""
    reason = "holds more values than an answer can have"
    if len(answer.body) < _MANY_BYTES or not _has_many_values(answer.body):
        try:
            return from_json(answer.body, allow_inf_nan=False)
        except ValueError as error:
            reason = _parse_problem(str(error))
    message = f"the answer {reason}; try again or choose another model"
    status, request_id = answer.status, answer.request_id
    raise MalformedReply(message, provider=provider, model=model, status=status, request_id=request_id)


def _has_many_values(raw: bytes) -> bool:
    """Tell whether the parsed form could be many times larger than the text: ``[],[],[],`` is, prose is not."""
    return raw.count(b"[") + raw.count(b"{") > _MANY_CONTAINERS or raw.count(b",") > 10 * _MANY_CONTAINERS


def _parse_problem(words: str) -> str:
    if "recursion limit" in words:
        return "is nested more than 200 deep"
    return "is not UTF-8" if "unicode" in words else "is not JSON"


def _line_of(value: Any) -> str | None:
    return one_line(text(value), _ID_CHARACTERS) or None
