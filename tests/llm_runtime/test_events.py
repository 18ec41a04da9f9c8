"""Events keep their type through JSON; unknown ones are kept as they are."""

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from llm_runtime.errors import StoreDamaged
from llm_runtime.events import CallFinished, CallRetried, CallStarted, Event, UnknownEvent, parse_event, tee
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage, request_digest

RETRIED = CallRetried(label="a/b//0/1", attempt=1, error="ServerFault", message="down", wait_ms=500)


def test_a_payload_comes_back_as_its_own_type() -> None:
    assert RETRIED.payload()["type"] == "call.retried"
    assert parse_event(RETRIED.payload()) == RETRIED


def test_an_unknown_type_is_kept_whole() -> None:
    payload = {"type": "tomorrow.invented", "x": [1, 2]}
    event = parse_event(payload)
    assert isinstance(event, UnknownEvent)
    assert event.payload() == payload


def test_a_known_type_with_other_data_is_damage() -> None:
    with pytest.raises(StoreDamaged, match=r"call\.retried does not fit: attempt"):
        parse_event({**RETRIED.payload(), "attempt": "many"})


def test_one_event_reaches_every_sink_in_order() -> None:
    heard = list[tuple[str, Event]]()
    tee(lambda e: heard.append(("screen", e)), lambda e: heard.append(("log", e)))(RETRIED)
    assert heard == [("screen", RETRIED), ("log", RETRIED)]


text = st.text(st.characters(exclude_categories=["Cs"]))
count = st.integers(0, 2**53 - 1)


@given(
    st.builds(
        Request,
        text,
        st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), text)).map(tuple),
        st.builds(CallLabel, text, text, text, count, count),
        fallbacks=st.lists(text).map(tuple),
        temperature=st.none() | st.floats(0, 2),
        max_tokens=st.none() | count,
        seed=st.none() | count,
        schema=st.none() | text,
        session_id=st.none() | text,
    ),
    st.builds(
        Reply,
        text,
        text,
        text,
        st.builds(Usage, count, count, st.booleans()),
        cost=st.none() | count,
        request_id=st.none() | text,
        latency_ms=count,
    ),
    st.booleans(),
)
def test_a_call_is_logged_in_canonical_form_whatever_was_said(request: Request, reply: Reply, replayed: bool) -> None:
    started = CallStarted.of(request, {}, lambda digest, occurrence: replayed)
    finished = CallFinished.of(started, reply)
    for event in (started, finished):
        assert event.canonical() == rfc8785.dumps(event.payload())
        assert parse_event(from_json(event.canonical())) == event
    assert started.digest == request_digest(request.to_dict())


def test_the_spliced_form_of_a_started_call_is_its_canonical_form() -> None:
    messages = (Message("user", 'Is it "so"?\n\x01é'),)
    request = Request("m", messages, CallLabel("p", "ask"), temperature=0.7, session_id="s-1")
    started = CallStarted.of(request, {}, lambda digest, occurrence: False)
    assert started.canonical() == rfc8785.dumps(started.payload())
    assert started.digest == request_digest(request.to_dict())
    assert parse_event(from_json(started.canonical())) == started
