"""Every way a model server can fail, over real HTTP, becomes one typed error that says where it happened."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extent import PATIENCE

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import (
    AuthenticationFailed,
    CallError,
    ConfigurationError,
    ConnectionCut,
    ConnectionFailed,
    EmptyReply,
    ErrorInReply,
    MalformedReply,
    ModelNotFound,
    Overloaded,
    PaymentRequired,
    RateLimited,
    ReplyFiltered,
    ReplyTooLarge,
    ReplyTruncated,
    RequestRefused,
    ServerFault,
    WrongEndpoint,
)
from llm_runtime.http import Http
from llm_runtime.http.waits import read_wait, retry_after_seconds
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.providers.anthropic import anthropic
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.testing import Fault, LoopbackServer, Received

REQUEST = Request("some-model", (Message("user", "A question?"),), CallLabel("test", "ask"))
Kind = Literal["openai", "anthropic"]
PROVIDERS: dict[Kind, Callable[[Endpoint, Http], Generate]] = {"openai": openai_compatible, "anthropic": anthropic}

#: The error, its status (``None``: not even a status came), and whether there is a request id.
EXPECTED: dict[Fault, tuple[type[CallError], int | None, bool]] = {
    Fault.CONNECTION_REFUSED: (ConnectionFailed, None, False),
    Fault.NO_ANSWER: (ConnectionCut, None, False),
    Fault.NOT_HTTP: (WrongEndpoint, None, False),
    Fault.CUT_AFTER_HEADERS: (ConnectionCut, 200, True),
    Fault.RESET_MID_BODY: (ConnectionCut, 200, True),
    Fault.LENGTH_TOO_LONG: (ConnectionCut, 200, True),
    Fault.LENGTH_TOO_SHORT: (WrongEndpoint, None, False),
    Fault.STATUS_400: (RequestRefused, 400, True),
    Fault.STATUS_401: (AuthenticationFailed, 401, True),
    Fault.STATUS_402: (PaymentRequired, 402, True),
    Fault.STATUS_403: (AuthenticationFailed, 403, True),
    Fault.STATUS_404: (ModelNotFound, 404, True),
    Fault.STATUS_408: (ServerFault, 408, True),
    Fault.STATUS_422: (RequestRefused, 422, True),
    Fault.STATUS_429: (RateLimited, 429, True),
    Fault.STATUS_429_SECONDS: (RateLimited, 429, True),
    Fault.STATUS_429_DATE: (RateLimited, 429, True),
    Fault.STATUS_500: (ServerFault, 500, True),
    Fault.STATUS_502: (ServerFault, 502, True),
    Fault.STATUS_503: (Overloaded, 503, True),
    Fault.STATUS_529: (Overloaded, 529, True),
    Fault.REDIRECT: (RequestRefused, 307, True),
    Fault.UNKNOWN_MODEL: (ModelNotFound, 400, True),
    Fault.ERROR_IN_REPLY: (ErrorInReply, 200, True),
    Fault.RATE_LIMIT_IN_REPLY: (RateLimited, 429, True),
    Fault.EMPTY_CHOICES: (EmptyReply, 200, True),
    Fault.NULL_CONTENT: (EmptyReply, 200, True),
    Fault.CUT_BY_LENGTH: (ReplyTruncated, 200, True),
    Fault.FILTERED: (ReplyFiltered, 200, True),
    Fault.WRONG_SHAPE: (MalformedReply, 200, True),
    Fault.INVALID_UTF8: (MalformedReply, 200, True),
    Fault.NOT_JSON: (MalformedReply, 200, True),
    Fault.HTML_PAGE: (WrongEndpoint, 200, True),
    Fault.DEEP_JSON: (MalformedReply, 200, True),
    Fault.BAD_GZIP: (MalformedReply, 200, True),
    Fault.GZIP_BOMB: (ReplyTooLarge, 200, True),
    Fault.GIANT_BODY: (ReplyTooLarge, 200, True),
    Fault.ENDLESS_BODY: (ReplyTooLarge, 200, True),
}
#: The caller's patience ends this one; the next two are the subject of test_http_secrets.py.
UNENDING = {Fault.ONE_BYTE_A_SECOND}
SECRETIVE = {Fault.ECHOED_KEY, Fault.ECHOED_KEY_IN_REPLY}


def test_every_fault_has_an_expectation() -> None:
    assert EXPECTED.keys() | UNENDING | SECRETIVE == set(Fault)


@pytest.mark.parametrize("kind", PROVIDERS)
@pytest.mark.parametrize("fault", EXPECTED, ids=lambda fault: fault.name)
async def test_a_fault_is_one_typed_error(fault: Fault, kind: Kind) -> None:
    expected, status, has_id = EXPECTED[fault]
    http = Http()
    async with LoopbackServer(faults=fault) as server:
        with pytest.raises(CallError) as caught:
            await PROVIDERS[kind](server.endpoint("acme", dialect=kind), http)(REQUEST)
        await http.aclose()
    error = caught.value
    assert type(error) is expected
    assert (error.provider, error.model, error.status) == ("acme", "some-model", status)
    assert error.request_id == ("loopback-1" if has_id else None)
    assert "\n" not in str(error)
    assert error.__context__ is None, "an HTTP library's exception hangs on, with its headers"


@pytest.mark.parametrize("kind", PROVIDERS)
async def test_an_answer_that_never_ends_ends_with_the_callers_patience(kind: Kind) -> None:
    http = Http()
    async with LoopbackServer(faults=Fault.ONE_BYTE_A_SECOND) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await PROVIDERS[kind](server.endpoint(dialect=kind), http)(REQUEST)
        await http.aclose()


@pytest.mark.parametrize("kind", PROVIDERS)
async def test_the_call_after_a_fault_succeeds_on_the_same_client(kind: Kind) -> None:
    faults = [f for f in EXPECTED if f is not Fault.CONNECTION_REFUSED]
    http = Http()
    async with LoopbackServer("fine", faults=dict(enumerate(faults, start=1))) as server:
        generate = PROVIDERS[kind](server.endpoint(dialect=kind), http)
        for _ in faults:
            with pytest.raises(CallError):
                await generate(REQUEST)
        assert (await generate(REQUEST)).text == "fine"
        await http.aclose()
    assert len(server.requests) == len(faults) + 1, "a provider does not retry"


async def test_what_came_of_a_truncated_answer_is_kept() -> None:
    http = Http()
    async with LoopbackServer("half an ans", faults=Fault.CUT_BY_LENGTH) as server:
        with pytest.raises(ReplyTruncated) as caught:
            await openai_compatible(server.endpoint(), http)(REQUEST)
        await http.aclose()
    assert caught.value.partial is not None
    assert caught.value.partial.text == "half an ans"
    assert caught.value.partial.usage.output_tokens == 3


@pytest.mark.parametrize(("fault", "seconds"), [(Fault.STATUS_429, None), (Fault.STATUS_429_SECONDS, 7.0)])
async def test_retry_after_is_what_the_provider_asked_for(fault: Fault, seconds: float | None) -> None:
    http = Http()
    async with LoopbackServer(faults=fault) as server:
        with pytest.raises(RateLimited) as caught:
            await openai_compatible(server.endpoint(), http)(REQUEST)
        await http.aclose()
    assert caught.value.retry_after == seconds


async def test_retry_after_as_a_date_counts_from_the_clock() -> None:
    new_year_2101 = 4133980800.0
    http = Http(clock=lambda: new_year_2101 - 61)
    async with LoopbackServer(faults=Fault.STATUS_429_DATE) as server:
        with pytest.raises(RateLimited) as caught:
            await openai_compatible(server.endpoint(), http)(REQUEST)
        await http.aclose()
    assert caught.value.retry_after == 60.0


@given(st.text() | st.floats().map(str) | st.datetimes().map(lambda d: d.strftime("%a, %d %b %Y %H:%M:%S GMT")))
def test_any_retry_after_is_a_wait_or_nothing(value: str) -> None:
    seconds = retry_after_seconds(value, now=1.7e9)
    assert seconds is None or 0 <= seconds < float("inf")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1700000060", 60), ("1700000060000", 60), ("1m30s", 90), ("500ms", 0.5), ("30s", 30), ("1e300", None), ("-5", 0)],
)
def test_a_retry_after_may_be_a_moment_or_a_duration_and_is_never_beyond_counting(
    value: str, seconds: float | None
) -> None:
    assert retry_after_seconds(value, now=1.7e9) == seconds


def test_a_reset_header_in_milliseconds_says_so_by_its_name() -> None:
    assert read_wait({"x-ratelimit-reset-ms": "30000"}, now=1.7e9).seconds == 30
    assert read_wait({"x-ratelimit-reset-ms": "1700000030000"}, now=1.7e9).seconds == 30
    assert read_wait({"x-ratelimit-reset": "30"}, now=1.7e9).seconds == 30


async def test_a_redirect_is_not_followed() -> None:
    http = Http()
    async with LoopbackServer(faults=Fault.REDIRECT) as server:
        with pytest.raises(RequestRefused, match="redirects elsewhere"):
            await openai_compatible(server.endpoint(key="sk-canary-0123456789"), http)(REQUEST)
        await http.aclose()
    assert len(server.requests) == 1


async def test_the_cap_on_bytes_can_be_set() -> None:
    http = Http(max_bytes=10_000)
    async with LoopbackServer(lambda received: "7" * (20_000 if received.number == 2 else 5_000)) as server:
        generate = openai_compatible(server.endpoint(), http)
        assert len((await generate(REQUEST)).text) == 5_000
        with pytest.raises(ReplyTooLarge, match=r"10000 characters|larger than any answer"):
            await generate(REQUEST)
        await http.aclose()


def _body_of(depth: int) -> Callable[[Received], dict[str, object]]:
    nested: list[object] = []
    for _ in range(depth):
        nested = [nested]
    return lambda _: {"choices": [{"message": {"content": "ok"}}], "nested": nested}


async def test_nesting_of_a_hundred_passes_and_of_three_hundred_does_not() -> None:
    http = Http()
    async with LoopbackServer(_body_of(100)) as server:
        assert (await openai_compatible(server.endpoint(), http)(REQUEST)).text == "ok"
    async with LoopbackServer(_body_of(300)) as server:
        with pytest.raises(MalformedReply, match="nested more than 200 deep"):
            await openai_compatible(server.endpoint(), http)(REQUEST)
    await http.aclose()


def test_one_client_serves_several_event_loops_in_a_row() -> None:
    http = Http()

    async def ask() -> str:
        async with LoopbackServer("here") as server:
            return (await openai_compatible(server.endpoint(), http)(REQUEST)).text

    # No aclose between them: a session left open would be a ResourceWarning, which is an error here.
    assert [asyncio.run(ask()) for _ in range(3)] == ["here"] * 3


async def test_a_closed_client_opens_again() -> None:
    http = Http()
    async with LoopbackServer("again") as server:
        generate = openai_compatible(server.endpoint(), http)
        for _ in range(2):
            assert (await generate(REQUEST)).text == "again"
            await http.aclose()
            await http.aclose()


async def test_the_environments_proxy_is_used_except_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    http = Http()
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with LoopbackServer("through a proxy") as proxy, LoopbackServer("direct") as server:
        monkeypatch.setenv("http_proxy", proxy.url)
        far = openai_compatible(Endpoint("far", "http://models.invalid/v1"), http)
        assert (await far(REQUEST)).text == "through a proxy"
        assert proxy.requests[0].headers["host"] == "models.invalid"
        assert (await openai_compatible(server.endpoint(), http)(REQUEST)).text == "direct"
        await http.aclose()


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:1", "no proxy at all"])
async def test_what_cannot_be_reached_through_a_proxy_says_that_there_is_one(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    http = Http()
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(ConnectionFailed) as caught:
        await openai_compatible(Endpoint("far", "http://models.invalid/v1"), http)(REQUEST)
    assert "through the proxy that HTTPS_PROXY or HTTP_PROXY names" in str(caught.value)
    await http.aclose()


async def test_a_connection_that_the_server_closed_meanwhile_costs_nothing() -> None:
    """Servers close what they kept open whenever they like; a request that meets that was never read."""
    body = b'{"object": "list"}'

    async def answer_and_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    server = await asyncio.start_server(answer_and_close, "127.0.0.1", 0)
    endpoint = Endpoint("acme", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    http = Http()
    async with server:
        await http.get_json(endpoint, "/models")
        with pytest.raises(ConnectionFailed) as caught:
            # A body that does not go out at once: the end of the connection comes before that of the request.
            await http.post_json(endpoint, "/chat/completions", {"text": "x" * 2**19}, model="m")
        await http.aclose()
    assert caught.value.retryable
    assert not caught.value.maybe_charged


async def test_connections_are_kept_and_not_limited() -> None:
    http = Http()
    together = asyncio.Barrier(150)

    async def answer(_: Received) -> str:
        await together.wait()
        return "all here"

    async with LoopbackServer(answer) as server, asyncio.timeout(PATIENCE):
        generate = openai_compatible(server.endpoint(), http)
        replies = await asyncio.gather(*(generate(REQUEST) for _ in range(150)))
        await http.aclose()
    assert {reply.text for reply in replies} == {"all here"}


NO_ADDRESSES = """
    api.example.org     ftp://example.org           https://       https://user:pw@example.org
    https://[::1        https://example.org:99999   https://:443   https://example.org/v1?a=b   https://example.org/#x
"""


@pytest.mark.parametrize("url", ["", *NO_ADDRESSES.split()])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="the base URL of acme"):
        Endpoint("acme", url)


async def test_the_http_library_is_loaded_at_the_first_request() -> None:
    code = (
        "import sys; from llm_runtime.http import Http; import llm_runtime.providers.openai_compatible, "
        "llm_runtime.providers.anthropic, llm_runtime.providers.catalogue; Http(); "
        "sys.exit('aiohttp' in sys.modules or 'llm_runtime.testing' in sys.modules)"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == 0
