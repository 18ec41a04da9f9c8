"""Every way a stream can go wrong, over real HTTP: a whole answer, or one typed error with what came before it."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable
from typing import Literal

import pytest
from pydantic import SecretStr
from tests.extent import PATIENCE
from tests.llm_runtime.providers.stream_faults import BAD, ODD, SECRETIVE, spoiled

from llm_runtime.errors import (
    BadFinish,
    CallError,
    CallTimeout,
    ConnectionCut,
    EmptyReply,
    ErrorInReply,
    MalformedReply,
    RateLimited,
    ReplyFiltered,
    ReplyTooLarge,
    ReplyTruncated,
    WrongEndpoint,
)
from llm_runtime.http import Http
from llm_runtime.http.secrets import REDACTED
from llm_runtime.messages import CallLabel, Delta, Generate, Message, Reply, Request
from llm_runtime.providers.anthropic import anthropic
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.silence import Patience
from llm_runtime.testing import LoopbackServer

Kind = Literal["openai", "anthropic"]
KINDS: tuple[Kind, ...] = ("openai", "anthropic")
PROVIDERS: dict[Kind, Callable[..., Generate]] = {"openai": openai_compatible, "anthropic": anthropic}
REQUEST = Request("some-model", (Message("user", "A question?"),), CallLabel("test", "ask"))
KEY = SecretStr("sk-canary/+" + "0123456789abcdefXYZ")
ANSWER = "Words of an answer, one after the other, until all of them are there."
#: For what never ends by itself, before its first words or after them; all else has a busy machine's time.
HASTE = {True: Patience(first=0.3), False: Patience(idle=0.5)}

EXPECTED: dict[type[CallError], tuple[str, ...]] = {
    CallTimeout: (
        *("stalls before the first event", "stalls before the words", "stalls in the middle"),
        *("stalls in an event", "keep-alives before the words", "keep-alives in the middle"),
    ),
    EmptyReply: ("no words",),
    MalformedReply: (
        *("an event that is no JSON", "an event that is a page", "no gzip"),
        *("a body that is no UTF-8", "an event that is nested deep", "an event of many values"),
    ),
    WrongEndpoint: ("a page that is called a stream",),
    ReplyTooLarge: (
        *("a gzip bomb", "a huge event", "an endless line", "an endless event", "endless comments"),
        *("endless blank lines", "endless empty events", "endless words"),
    ),
    ErrorInReply: (
        *("an error first", "an error in the middle", "an error that is a text"),
        *("an event named error", "an error after which it stalls"),
    ),
    RateLimited: ("an error with a code",),
    ReplyTruncated: ("ended by length",),
    ReplyFiltered: ("ended by a filter",),
    BadFinish: ("ended by an error", "ended by a tool call", "ended by what nobody knows"),
}
KIND_OF_ERROR = {name: kind for kind, names in EXPECTED.items() for name in names}


async def call(name: str, kind: Kind, watch: Callable[[Request, Delta], None] | None = None) -> Reply | CallError:
    """Ask a server whose stream is spoiled in one way; return the reply or the error."""
    http = Http()
    hasty = "stall" in name or "alive" in name
    patience = HASTE["before" in name] if hasty else Patience()
    async with LoopbackServer(ANSWER, send=spoiled(name), piece=6) as server, asyncio.timeout(PATIENCE):
        endpoint = server.endpoint("acme", key=KEY.get_secret_value(), dialect=kind)
        more = {"on_delta": watch} if watch else {}
        generate = PROVIDERS[kind](endpoint, http, patience=patience, **more)
        try:
            return await generate(REQUEST)
        except CallError as error:
            return error
        finally:
            await http.aclose()


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(ODD) + len(BAD) + len(SECRETIVE) >= 60
    assert KIND_OF_ERROR.keys() <= BAD.keys()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ODD)
async def test_an_odd_stream_is_a_whole_answer(name: str, kind: Kind) -> None:
    seen: list[str] = []
    reply = await call(name, kind, lambda _, delta: seen.append(delta.text))
    if isinstance(reply, CallError):
        raise reply
    more = {"a character cut in two": "ü", "a surrogate pair in two events": "😀", "words after the finish": " More."}
    assert reply.text == ANSWER + more.get(name, "")
    assert reply.finish_reason == "stop"
    assert "".join(seen).encode(errors="replace")[:40] == ANSWER.encode()[:40]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BAD)
async def test_a_bad_stream_is_one_typed_error_with_what_came(name: str, kind: Kind) -> None:
    error = await call(name, kind)
    assert isinstance(error, CallError), f"an answer: {error}"
    assert type(error) is KIND_OF_ERROR.get(name, ConnectionCut)
    assert (error.provider, error.model) == ("acme", "some-model")
    assert "\n" not in str(error)
    assert error.__context__ is None
    if error.partial is not None:
        assert ANSWER.startswith(error.partial.text[:30])
        assert error.partial.usage.input_tokens > 0
    half = ("cut between events", "reset", "ends between events", "stalls in the middle", "an error in the middle")
    if name in half:
        assert error.partial is not None and error.partial.text and ANSWER.startswith(error.partial.text)
        assert error.partial.usage.estimated and error.partial.usage.output_tokens > 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SECRETIVE)
async def test_no_stream_brings_a_key_out(name: str, kind: Kind) -> None:
    seen: list[Delta] = []
    outcome = await call(name, kind, lambda _, delta: seen.append(delta))
    shown = [*(delta.text for delta in seen), "".join(delta.text for delta in seen), repr(outcome)]
    if isinstance(outcome, CallError):
        shown += [str(outcome), repr(outcome.partial)]
        shown += traceback.TracebackException.from_exception(outcome, capture_locals=True).format()
    key = KEY.get_secret_value()
    pieces = {key[at : at + 8] for at in range(len(key) - 7)}
    if any(piece in text for text in shown for piece in pieces):
        # Not a plain assert: pytest would print what it must not.
        pytest.fail("a key came out")
    assert any(REDACTED in text for text in shown)


_CLIENT = """
import asyncio, re, sys
from llm_runtime.errors import CallError
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http
from llm_runtime.providers.openai_compatible import openai_compatible

def peak():
    # Not ru_maxrss, which begins with the peak of whoever started this process.
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1])

async def main():
    http = Http()
    generate = openai_compatible(Endpoint("hostile", sys.argv[1]), http)
    request = Request("m", (Message("user", "?"),), CallLabel("test", "ask"))
    await generate(request)
    before = peak()
    for _ in range(int(sys.argv[2])):
        try:
            await generate(request)
        except CallError as error:
            print(type(error).__name__)
    print(peak() - before)
    await http.aclose()

asyncio.run(main())
"""
GIANT = (
    *("a gzip bomb", "a huge event", "an endless line", "an endless event", "endless comments", "endless words"),
    *("endless empty events", "an event of many values", "an event that is nested deep"),
)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
async def test_giant_streams_stay_within_60_mebibytes() -> None:
    async with LoopbackServer(ANSWER, send=spoiled("", *GIANT)) as server:
        command = (sys.executable, "-c", _CLIENT, f"{server.url}/v1", str(len(GIANT)))
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
    *names, kibibytes = output.decode().split()
    assert len(names) == len(GIANT)
    assert int(kibibytes) < 60 * 1024
