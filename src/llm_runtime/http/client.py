"""One HTTP client under every provider: sessions, caps, clocks, typed errors, and keys that never show."""

from __future__ import annotations

import asyncio
import socket
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import urlencode, urlsplit

from pydantic_core import from_json, to_json

from llm_runtime.addresses import is_loopback
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import (
    CallError,
    CallTimeout,
    ConnectionCut,
    ConnectionFailed,
    MalformedReply,
    ReplyTooLarge,
    WrongEndpoint,
)
from llm_runtime.http.causes import error_for_status, not_an_answer
from llm_runtime.http.failures import read_failure
from llm_runtime.http.public import PageRefused, judged
from llm_runtime.http.reading import Incoming, is_stream, listen, parse_json, read_whole
from llm_runtime.http.secrets import HeaderSecret, Redactor
from llm_runtime.http.shape import mapping, one_line, text
from llm_runtime.http.waits import about_waiting, read_wait
from llm_runtime.silence import HOSTED_PATIENCE, Patience, Silence
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    import aiohttp

    _Sessions: TypeAlias = tuple[aiohttp.ClientSession, aiohttp.ClientSession]
    """As every address is connected to, and public ones alone."""

_CONNECT_SECONDS = 30.0
_PROXIED = " (through the proxy that HTTPS_PROXY or HTTP_PROXY names)"
_ERROR_BODY_BYTES = 64 * 1024
_ID_CHARACTERS = 120
#: A connection that was kept and ends within so many seconds had been closed by the server before the request.
_NOTHING_DONE_SECONDS = 1.0


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
        self._known: dict[tuple[Endpoint, str], tuple[float, Any]] = {}
        #: Of each model of an endpoint: its short answers on end; below 0 where a whole one did not come.
        self.short = defaultdict[Endpoint, defaultdict[str, float]](lambda: defaultdict(float))

    async def post_json(
        self, endpoint: Endpoint, path: str, payload: dict[str, Any], *, model: str
    ) -> tuple[Any, str | None]:
        """Send ``payload`` and return the parsed body of the 2xx, with the provider's id of the request.

        Raises:
            CallError: any of its kinds that a status or a broken answer means; ``model`` is named in it.
        """
        return self._read(endpoint, model, await self._answered(endpoint, path, to_json(payload)))

    async def stream(
        self, endpoint: Endpoint, path: str, payload: dict[str, Any], incoming: Incoming, *, model: str,
        patience: Patience = HOSTED_PATIENCE,
    ) -> tuple[Any, str | None]:  # fmt: skip
        """Send ``payload`` and pass each event of the answer to ``incoming`` as it comes.

        A server that answers at once all the same is read whole: what it sent is returned, parsed, as
        :meth:`post_json` does, and ``incoming`` gets nothing. Else the body returned is ``None``.

        Raises:
            CallError: what :meth:`post_json` raises.
            CallTimeout: nothing came for longer than ``patience``; keep-alives are nothing.
        """
        silence = Silence(patience.first, patience.idle, patience.total)
        outcome = None
        try:
            async with silence:
                outcome = await self._answered(endpoint, path, to_json(payload), incoming, silence)
        except TimeoutError:
            if not silence.expired:
                raise
        incoming.end()
        if outcome is None and incoming.finish:
            # The answer was whole; only the end of the stream did not come.
            return None, None
        if outcome is None:
            raise CallTimeout(_too_slow(silence, patience), provider=endpoint.name, model=model)
        return self._read(endpoint, model, outcome)

    def redactor(self, endpoint: Endpoint) -> Redactor:
        """Return what takes this endpoint's key out of texts that are put together from a stream."""
        return (self._routes.get(endpoint) or self._route(endpoint)).redactor

    async def get_json(self, endpoint: Endpoint, path: str, *, model: str = "", fresh: float = 0.0) -> Any:
        """Return the parsed body of a GET, or the one of at most ``fresh`` seconds ago; leave it as it is.

        Raises:
            CallError: what :meth:`post_json` raises.
        """
        asked, known = time.monotonic(), self._known.get((endpoint, path))
        if known is not None and asked - known[0] < fresh:
            return known[1]
        body, _ = self._read(endpoint, model, await self._answered(endpoint, path, None))
        if fresh:
            self._known[endpoint, path] = asked, body
        return body

    async def get_bytes(self, endpoint: Endpoint, path: str, data: bytes | None = None) -> bytes:
        """Return the body of a GET as it came, or of a POST of ``data``.

        Raises:
            CallError: what :meth:`post_json` raises.
        """
        answer = await self._answered(endpoint, path, data)
        if answer.broken is not None or not answer.succeeded:
            self._read(endpoint, "", answer)
        return answer.body

    def read_answer(self, endpoint: Endpoint, model: str, status: int, body: Any) -> tuple[Any, str | None]:
        """Return what :meth:`post_json` returns for an answer that came by another way.

        Raises:
            CallError: what :meth:`post_json` raises.
        """
        return self._read(endpoint, model, _redacted(_Answer(status, to_json(body)), self.redactor(endpoint)))

    async def open(self) -> None:
        """Open the session of the running event loop now. The first one loads the HTTP library, which takes longer
        than some timeouts allow for a whole call."""
        await self._opened()

    async def aclose(self) -> None:
        """Close the session of the running event loop, if there is one. The object may be used again."""
        opened = self._open.get(asyncio.get_running_loop())
        if opened is not None:
            await opened.keeper.aclose()

    async def _answered(
        self, endpoint: Endpoint, path: str, data: bytes | None, incoming: Incoming | None = None,
        silence: Silence | None = None,
    ) -> _Answer:  # fmt: skip
        route = self._routes.get(endpoint) or self._route(endpoint)
        opened = await self._opened()
        begun = time.monotonic()
        try:
            session = opened.sessions[route.judged]
            answer = await _exchange(session, route, path, data, self._max_bytes, incoming, silence)
            if answer.status:
                opened.answered.add(route.base_url)
            elif route.base_url in opened.answered and time.monotonic() - begun < _NOTHING_DONE_SECONDS:
                answer = _kept_too_long(answer)
            return _redacted(answer, route.redactor)
        except asyncio.CancelledError as cancelled:
            # Cancelled all the same, only without the frames below, whose locals hold answers not yet redacted.
            raise cancelled.with_traceback(None) from None

    def _read(self, endpoint: Endpoint, model: str, answer: _Answer) -> tuple[Any, str | None]:
        if answer.broken is not None:
            kind, message = answer.broken
            status, request_id = answer.status or None, answer.request_id
            raise kind(message, provider=endpoint.name, model=model, status=status, request_id=request_id)
        if not answer.succeeded:
            raise self._refused(endpoint, model, answer)
        if answer.streamed:
            return None, answer.request_id
        body, fault = parse_json(answer.body)
        if fault is not None:
            stranger = not_an_answer(answer.body)
            message = f"the answer {fault}; try again or choose another model"
            broken = (WrongEndpoint, stranger) if stranger else (MalformedReply, message)
            return self._read(endpoint, model, answer._replace(body=b"", broken=broken))
        return body, answer.request_id or _line_of(mapping(body).get("id"))

    def _refused(self, endpoint: Endpoint, model: str, answer: _Answer) -> CallError:
        try:
            body = from_json(answer.body)
        except ValueError:
            # A proxy's HTML page, or the start of something endless: the status says enough.
            body = None
        failure = read_failure(body, answer.status)
        return error_for_status(
            # Once more: JSON inside a message may have spelled a secret in another way.
            failure._replace(words=self.redactor(endpoint).text(failure.words)),
            provider=endpoint.name,
            model=model,
            dialect=endpoint.dialect.name,
            request_id=answer.request_id or _line_of(mapping(body).get("request_id")),
            wait=read_wait(answer.waits, self._clock()),
        )

    def _route(self, endpoint: Endpoint) -> _Route:
        route = self._routes[endpoint] = _Route.to(endpoint)
        return route

    async def _opened(self) -> _OpenSession:
        loop = asyncio.get_running_loop()
        opened = self._open.get(loop)
        if opened is None:
            keeper = self._keep_session(loop)
            # An event loop closes its unfinished async generators before it ends: the hook that closes ours.
            opened = self._open[loop] = _OpenSession(keeper, await anext(keeper), set())
        return opened

    async def _keep_session(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[_Sessions]:
        # Apart, so that no connection that was kept is used by what would not have been let through to it.
        sessions = _session(None), _session(judged)
        try:
            yield sessions
        finally:
            self._open.pop(loop, None)
            for session in sessions:
                await session.close()


def _session(sockets: Callable[[tuple[Any, ...]], socket.socket] | None) -> aiohttp.ClientSession:
    import aiohttp

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60, socket_factory=sockets),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


class _OpenSession(NamedTuple):
    keeper: AsyncGenerator[_Sessions]
    sessions: _Sessions
    #: Base URLs that have answered, so that a connection to them may be one that was kept.
    answered: set[str]


class _Route(Struct):
    base_url: str
    query: str = field(repr=False)
    proxy: str | None = field(repr=False)
    redactor: Redactor
    headers: dict[str, str]
    judged: bool

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
        proxy = _proxy_for(endpoint.base_url)
        # Behind a proxy it is the proxy that finds the address.
        return cls(endpoint.base_url.rstrip("/"), query, proxy, redactor, headers, endpoint.judged and proxy is None)

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
    waits: dict[str, str] = {}
    broken: tuple[type[CallError], str] | None = None
    streamed: bool = False

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300


async def _exchange(
    session: aiohttp.ClientSession, route: _Route, path: str, data: bytes | None, max_bytes: int,
    incoming: Incoming | None = None, silence: Silence | None = None,
) -> _Answer:  # fmt: skip
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
            head = _Answer(response.status, b"", request_id, {} if response.ok else about_waiting(headers))
            cap = max_bytes if head.succeeded else min(max_bytes, _ERROR_BODY_BYTES)
            first = await response.content.readany()
            streams = incoming is not None and is_stream(incoming, headers.get("content-type", ""), first)
            if incoming is not None and silence is not None and streams and head.succeeded:
                head = head._replace(streamed=True)
                broken = await listen(response.content, first, incoming, silence, max_bytes)
                if broken is not None or not incoming.finish:
                    # What goes on after that would be paid for: the server is to notice at once.
                    response.close()
                return head._replace(broken=broken)
            body, whole = await read_whole(response.content, first, cap)
            if not whole:
                response.close()
                if head.succeeded:
                    message = f"the answer is larger than {cap} bytes; ask for less, or raise the cap"
                    return head._replace(broken=(ReplyTooLarge, message))
            return head._replace(body=body)
    except PageRefused:
        return _Answer(broken=(WrongEndpoint, "its address is one of this machine or its network; ask an admin"))
    except (aiohttp.ClientError, OSError, ValueError) as error:
        if head.streamed and incoming is not None and incoming.finish:
            # The answer was whole; only what stands behind it was cut.
            return head
        # A status of failure says what happened better than the way in which its body broke off.
        if head.status and not head.succeeded:
            return head
        kind, message = _reason(error, head.status)
        return head._replace(broken=(kind, message if head.status or not route.proxy else message + _PROXIED))


def _too_slow(silence: Silence, patience: Patience) -> str:
    if silence.over:
        return f"no whole answer within {patience.total:g} s; allow more with call_timeout, or ask for less"
    if silence.spoken:
        return f"the answer stopped for {patience.idle:g} s in the middle; try again, or raise idle_timeout"
    return f"no words within {patience.first:g} s; choose a faster model, or raise first_timeout"


def _reason(error: Exception, status: int) -> tuple[type[CallError], str]:
    import aiohttp

    if status and "content-encoding" in str(error).lower():
        return MalformedReply, "the answer cannot be decompressed; try again"
    if status:
        return ConnectionCut, "the connection ended before the answer did; try again"
    if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)):
        return ConnectionFailed, _unconnected(error)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return ConnectionFailed, f"the proxy refused with HTTP {error.status}; check the proxy settings"
    if isinstance(error, aiohttp.ClientResponseError):
        return WrongEndpoint, "what answers there does not speak HTTP; wrong base URL?"
    if isinstance(error, ValueError):
        return ConnectionFailed, "its address is not one that can be reached; correct it"
    return ConnectionCut, "the connection ended without an answer; try again"


def _unconnected(error: Exception) -> str:
    """Return why there is no connection, and what to do."""
    import aiohttp

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        cause = f"none within {_CONNECT_SECONDS:g} s"
    else:
        cause = one_line(str(getattr(error, "strerror", None) or "closed at once"), 120)
    untrusted = isinstance(error, aiohttp.ClientConnectorCertificateError)
    advice = "name its authority by SSL_CERT_FILE" if untrusted else "is the server running, is the address right?"
    return f"no connection ({cause}); {advice}"


def _kept_too_long(answer: _Answer) -> _Answer:
    """Return that nothing was reached, where a kept connection has ended at once without a byte of an answer."""
    if answer.broken is None or answer.broken[0] is not ConnectionCut:
        return answer
    return answer._replace(broken=(ConnectionFailed, "the server had closed the connection; try again"))


def _redacted(answer: _Answer, redactor: Redactor) -> _Answer:
    request_id = one_line(redactor.text(answer.request_id), _ID_CHARACTERS) if answer.request_id else None
    return answer._replace(body=redactor.body(answer.body), request_id=request_id)


def _line_of(value: Any) -> str | None:
    return one_line(text(value), _ID_CHARACTERS) or None
