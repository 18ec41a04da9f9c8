"""What vendors say when they refuse is named right: recorded bodies, their waits, and any body at all."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from llm_runtime import errors
from llm_runtime.errors import AuthenticationFailed, CallError, ContextExceeded
from llm_runtime.http import Http
from llm_runtime.http.causes import TABLE, error_for_status, error_in_reply
from llm_runtime.http.failures import read_failure
from llm_runtime.http.waits import RetryAdvice, about_waiting, read_wait
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.openai_compatible import openai_compatible
from llm_runtime.testing import LoopbackServer
from llm_runtime.toml import own_table

BODIES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("error_bodies.toml").read_text(encoding="utf-8"))[
    "body"
]
NOW = 1_795_000_000.0


def error_of(body: dict[str, Any]) -> CallError:
    failure = read_failure(from_json(body["text"]), body["status"])
    return error_for_status(failure, provider="acme", model="some-model", dialect=body["vendor"])


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body['vendor']}-{body['status']}-{body['means']}")
def test_a_recorded_body_is_named_right(body: dict[str, Any]) -> None:
    error = error_of(body)
    assert type(error) is getattr(errors, body["means"]), str(error)
    assert error.retry_after == body.get("wait")
    if isinstance(error, ContextExceeded):
        assert error.window == body.get("window")
        assert error.asked == body.get("asked") or "asked" not in body
    assert "\n" not in str(error)
    assert len(error.args[0]) < 600


def test_there_are_enough_vendors_and_each_body_says_where_it_comes_from() -> None:
    assert len(BODIES) >= 30
    assert len({body["vendor"] for body in BODIES}) >= 12
    assert all(body["source"].startswith(("https://", "measured: ")) for body in BODIES)


def test_each_cause_names_an_error_and_an_advice() -> None:
    advice = own_table("llm_runtime.http", "causes.toml")["advice"]
    assert all(issubclass(getattr(errors, row.kind), CallError) and row.advice in advice for row in TABLE)


def test_a_body_is_named_the_same_where_nobody_knows_whose_it_is() -> None:
    """A base URL of one's own has no dialect; only what OpenRouter calls endpoints depends on it."""
    apart = [body for body in BODIES if type(error_of(body)) is not type(error_of({**body, "vendor": ""}))]
    assert {body["vendor"] for body in apart} <= {"openrouter"}


@pytest.mark.parametrize(
    ("error", "means"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "Overloaded"),
        ({"code": 502, "message": "Upstream error"}, "ServerFault"),
        ({"code": "context_length_exceeded", "message": "too long"}, "ContextExceeded"),
        ("The number of tokens to keep from the initial prompt is greater than the context length.", "ContextExceeded"),
        ({"code": "server_error", "message": "Internal Server Error"}, "ErrorInReply"),
        ({"type": "rate_limit_error", "message": "slower"}, "RateLimited"),
        ({"code": 402, "message": "Insufficient credits"}, "PaymentRequired"),
    ],
)
def test_an_error_inside_a_200_is_named_by_what_it_says(error: Any, means: str) -> None:
    assert type(error_in_reply(error, provider="acme", model="m", request_id=None)) is getattr(errors, means)


def test_what_no_wait_mends_is_not_retried() -> None:
    by_name = {body["means"]: error_of(body) for body in BODIES}
    final = ("QuotaExhausted", "PaymentRequired", "ContextExceeded", "Moderated", "WrongEndpoint", "ModelRetired")
    assert not any(by_name[name].retryable for name in final)
    assert by_name["Overloaded"].retryable
    assert by_name["RateLimited"].retryable


# waits


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1200", "retry-after": "2"}, 1.2),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "30s"}, 30.0),
        ({"retry-after": "soon", "x-ratelimit-reset-tokens": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-requests": "7.66s"}, 7.66),
        ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-requests": "399ms"}, 0.399),
        ({"x-ratelimit-reset-requests": "10"}, 10.0),
        ({"x-ratelimit-reset": str(int(NOW * 1000) + 5000)}, 5.0),
        ({"x-ratelimit-reset": str(int(NOW) + 5)}, 5.0),
        ({"anthropic-ratelimit-requests-reset": "2026-11-18T13:07:10Z"}, 1_795_007_230 - NOW),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "90",
                "x-ratelimit-reset-tokens": "2s",
            },
            360.0,
        ),
        ({"x-ratelimit-reset-requests": "eventually"}, None),
        ({"content-type": "application/json"}, None),
    ],
)
def test_every_form_of_a_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    wait = read_wait(about_waiting({name.title(): value for name, value in headers.items()}), NOW)
    assert wait.seconds == (None if seconds is None else pytest.approx(seconds))


def test_a_wait_in_words_counts_where_the_headers_are_silent() -> None:
    body = {"error": {"message": "Limit 100000, Used 97050. Please try again in 9m38.016s. Need more? Upgrade."}}
    error = error_for_status(read_failure(body, 429), provider="groq", model="m")
    assert error.retry_after == pytest.approx(578.016)
    assert "(in 10 min at the earliest)" in str(error)
    error = error_for_status(read_failure(body, 429), provider="groq", model="m", wait=RetryAdvice(3.0))
    assert error.retry_after == 3.0
    assert "earliest" not in str(error)


@pytest.mark.parametrize(
    ("header", "status", "retried"), [("false", 503, False), ("true", 409, True), ("", 409, False)]
)
def test_the_provider_may_say_itself_whether_to_ask_again(header: str, status: int, retried: bool) -> None:
    wait = read_wait({"x-should-retry": header}, NOW)
    assert error_for_status(read_failure({}, status), provider="p", model="m", wait=wait).retryable is retried


@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "x-should-retry"]), st.text()
    )
)
def test_any_header_is_a_wait_or_nothing(headers: dict[str, str]) -> None:
    seconds = read_wait(headers, NOW).seconds
    assert seconds is None or 0 <= seconds < float("inf")


# anything else


KEYS = st.sampled_from(["error", "message", "detail", "code", "type", "metadata", "raw", "msg", "loc", "retryDelay"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS | st.text(), inner) | inner.map(json.dumps),
)


@given(VALUES, st.integers(min_value=300, max_value=599))
def test_any_body_is_a_typed_error_of_one_line(body: Any, status: int) -> None:
    error = error_for_status(read_failure(body, status), provider="acme", model="some-model")
    line = str(error)
    assert line.isprintable()
    assert len(line) < 700
    assert error.status == status


@given(VALUES)
def test_any_error_in_a_reply_is_a_typed_error_of_one_line(error: Any) -> None:
    named = error_in_reply(error, provider="acme", model="m", request_id=None)
    assert isinstance(named, CallError)
    assert str(named).isprintable()


def test_a_body_that_nests_or_repeats_without_end_costs_little() -> None:
    deep: Any = "x"
    for _ in range(150):
        deep = {"error": [deep] * 2 if isinstance(deep, str) else [deep]}
    wide = {"error": {"details": [{"code": str(number)} for number in range(50_000)]}}
    for body in (deep, wide, "[" * 10_000):
        assert isinstance(error_for_status(read_failure(body, 500), provider="p", model="m"), CallError)


async def test_a_key_that_a_message_spells_as_json_in_json_is_not_shown() -> None:
    key = "sk-canary-0123456789"
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in key)
    body = {"error": {"message": f'{{"error": {{"message": "no such key: {spelled}"}}}}'}}
    async with LoopbackServer(lambda _: (401, body)) as server:
        http = Http()
        with pytest.raises(AuthenticationFailed) as caught:
            await openai_compatible(server.endpoint(key=key), http)(
                Request("m", (Message("user", "A question?"),), CallLabel("test", "ask"))
            )
        await http.aclose()
    assert "no such key" in str(caught.value)
    assert key not in str(caught.value)
