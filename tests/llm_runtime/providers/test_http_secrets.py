"""A key goes out in one header and comes back nowhere."""

from __future__ import annotations

import asyncio
import base64
import traceback
from typing import Literal
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from tests.extent import PATIENCE

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.http import Http
from llm_runtime.http.secrets import REDACTED, Redactor
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.anthropic import anthropic
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.testing import Fault, LoopbackServer

REQUEST = Request("some-model", (Message("user", "A question?"),), CallLabel("test", "ask"))
_CANARY = SecretStr("sk-canary/+" + "0123456789abcdefXYZ")


def canaries() -> list[str]:
    key = _CANARY.get_secret_value()
    raw = key.encode()
    return [
        key,
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        quote(key, safe=""),
    ]


def assert_no_canary(text: str) -> None:
    # Not a plain assert: pytest would print what it must not.
    if any(canary in text for canary in canaries()):
        pytest.fail("a key came out")


def with_locals(error: BaseException) -> str:
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)
async def test_no_fault_brings_a_key_out(fault: Fault, kind: Literal["openai", "anthropic"]) -> None:
    http = Http()
    seen: list[str] = []
    async with LoopbackServer(faults=fault) as server:
        endpoint = server.endpoint(key=_CANARY.get_secret_value(), dialect=kind)
        generate = openai_compatible(endpoint, http) if kind == "openai" else anthropic(endpoint, http)
        try:
            async with asyncio.timeout(0.1 if fault is Fault.ONE_BYTE_A_SECOND else PATIENCE):
                reply = await generate(REQUEST)
            seen.append(repr(reply))
        except (LlmRuntimeError, TimeoutError) as error:
            seen += [str(error), repr(error), repr(vars(error)), with_locals(error)]
        await http.aclose()
    for text in seen:
        assert_no_canary(text)
    if fault in (Fault.ECHOED_KEY, Fault.ECHOED_KEY_IN_REPLY):
        assert any(REDACTED in text for text in seen)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_the_key_is_sent_in_its_header_only(kind: Literal["openai", "anthropic"]) -> None:
    http = Http()
    async with LoopbackServer() as server:
        endpoint = server.endpoint(key=_CANARY.get_secret_value(), dialect=kind)
        await (openai_compatible(endpoint, http) if kind == "openai" else anthropic(endpoint, http))(REQUEST)
        await http.aclose()
    [received] = server.requests
    carrying = [name for name, value in received.headers.items() if _CANARY.get_secret_value() in value]
    assert carrying == [{"openai": "authorization", "anthropic": "x-api-key"}[kind]]
    assert_no_canary(repr(received.payload))


async def test_no_repr_shows_a_key_or_a_header() -> None:
    key = _CANARY.get_secret_value()
    endpoint = Endpoint("acme", "https://example.org", _CANARY, headers=(("x-extra-token", key),))
    assert_no_canary(repr(endpoint))
    http = Http()
    async with LoopbackServer() as server:
        local = Endpoint("acme", f"{server.url}/v1", _CANARY, headers=(("x-extra-token", key),))
        await openai_compatible(local, http)(REQUEST)
        assert_no_canary(repr(vars(http)))
        await http.aclose()
    assert server.requests[0].headers["x-extra-token"] == key


async def test_an_escaped_echo_is_found_too() -> None:
    key = _CANARY.get_secret_value()
    escaped = "".join(f"\\u{ord(character):04x}" for character in key)
    raw = f'{{"a": "{escaped}", "b": "' + key.replace("/", "\\/") + '"}'
    assert Redactor((key,)).body(raw.encode()) == b'{"a":"[redacted]","b":"[redacted]"}'


@given(st.text("abcdefghijklmnopqrstuvwxyzABC0123456789-_+/=", min_size=10, max_size=80), st.text(), st.text())
def test_no_spelling_of_a_key_survives(key: str, before: str, after: str) -> None:
    raw = key.encode()
    for spelled in (key, base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(), quote(key, safe="")):
        redacted = Redactor((key,)).text(before + spelled + after)
        assert key not in redacted.replace(REDACTED, "\0")
        assert REDACTED in redacted


def test_a_placeholder_for_a_key_is_a_word_like_any_other() -> None:
    assert Redactor(("ollama",)).body(b"run it with ollama") == b"run it with ollama"


def test_a_key_does_not_travel_unencrypted_beyond_this_machine() -> None:
    with pytest.raises(ConfigurationError, match="use https://") as caught:
        Endpoint("acme", "http://models.example.org/v1", _CANARY)
    assert_no_canary(with_locals(caught.value))
    for local in ("http://localhost:1234/v1", "http://127.0.0.2/v1", "http://[::1]:80/v1"):
        assert Endpoint("acme", local, _CANARY).base_url == local
    assert Endpoint("acme", "http://models.example.org/v1").key is None


@pytest.mark.parametrize("suffix", ["\n", "ü", "\0"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(suffix: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be sent") as caught:
        Endpoint("acme", "https://example.org", SecretStr(_CANARY.get_secret_value() + suffix))
    assert_no_canary(with_locals(caught.value))
