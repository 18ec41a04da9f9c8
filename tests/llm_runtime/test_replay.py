"""Record a run, play it again, go on where it stopped, and say what differs when it is not the same run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from llm_runtime import errors
from llm_runtime.errors import (
    BudgetExceeded,
    CallError,
    ConnectionFailed,
    RateLimited,
    ReplayMismatch,
    ReplyTruncated,
    ServerFault,
)
from llm_runtime.events import CallFailed, CallFinished, CallStarted, Event, parse_event
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage, request_digest
from llm_runtime.providers.scripted import scripted
from llm_runtime.replay import Recording
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import as_recorded, replaying


def question(text: str = "why?", seat: str = "0:sceptic", model: str = "a/b", **fields: object) -> Request:
    label = CallLabel("crucible", "position", seat, 1)
    return Request(model, (Message("system", "Be brief."), Message("user", text)), label, **fields)  # pyright: ignore[reportArgumentType]


async def ask(generate: Generate, *requests: Request) -> list[Reply | Exception]:
    """Ask one after another; a failure is an outcome too."""
    outcomes: list[Reply | Exception] = []
    for request in requests:
        try:
            outcomes.append(await generate(request))
        except Exception as error:
            outcomes.append(error)
    return outcomes


async def recorded(script: Callable[[Request], str | Reply | BaseException], *requests: Request) -> list[Event]:
    events: list[Event] = []
    await ask(recording(scripted(script), events.append), *requests)
    return events


async def test_a_call_is_two_events_of_one_key() -> None:
    request = question(session_id="run-7")
    started, finished = await recorded(lambda _: "because", request)

    assert isinstance(started, CallStarted) and isinstance(finished, CallFinished)
    assert started.request == request.to_dict()
    assert started.digest == finished.digest == request_digest(request.to_dict())
    assert (started.occurrence, started.replayed, finished.replayed) == (1, False, False)
    assert Reply.from_dict(finished.reply).text == "because"


async def test_equal_requests_are_told_apart_by_their_number() -> None:
    events = await recorded(lambda _: "yes", question(), question("else"), question())
    assert [e.occurrence for e in events if isinstance(e, CallStarted)] == [1, 1, 2]


async def test_a_failure_is_recorded_and_knows_where_it_happened() -> None:
    events: list[Event] = []
    fault = ServerFault("the provider is down", provider="x", model="a/b", status=503, request_id="r1")
    request = question()
    with pytest.raises(ServerFault) as caught:
        await recording(scripted(lambda _: fault), events.append)(request)

    assert caught.value.label == request.label
    failed = events[-1]
    assert isinstance(failed, CallFailed)
    assert (failed.error, failed.message) == ("ServerFault", "the provider is down")
    assert (failed.status, failed.request_id) == (503, "r1")


async def test_a_cancelled_call_says_nothing_more() -> None:
    events: list[Event] = []
    begun = asyncio.Event()

    async def never(request: Request) -> Reply:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    task = asyncio.ensure_future(recording(never, events.append)(question()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.type for event in events] == ["call.started"]


async def test_what_the_log_refuses_ends_the_call_before_it_is_made() -> None:
    asked: list[Request] = []

    def full(event: Event) -> None:
        raise errors.StoreUnwritable("no room left")

    with pytest.raises(errors.StoreUnwritable):
        await recording(scripted(lambda r: asked.append(r) or "answer"), full)(question())
    assert asked == []


async def test_a_replay_gives_the_same_answers_without_a_model() -> None:
    answers = iter(["one", "two", "three"])
    requests = [question(), question(), question("else")]
    events = await recorded(lambda _: next(answers), *requests)

    replies = await ask(replaying(Recording.from_events(events)), *requests)

    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["one", "two", "three"]


async def test_another_runs_session_id_does_not_matter() -> None:
    events = await recorded(lambda _: "because", question(session_id="run-1"))
    (reply,) = await ask(replaying(Recording.from_events(events)), question(session_id="run-2"))
    assert isinstance(reply, Reply) and reply.text == "because"


def truncated() -> ReplyTruncated:
    error = ReplyTruncated("cut at 5 tokens", provider="x", model="a/c")
    error.partial = Reply("half an ans", "a/c", "x", Usage(9, 5), finish_reason="length", cost=3)
    return error


@pytest.mark.parametrize(
    "fault",
    [
        RateLimited("slow down", provider="x", model="a/c", status=429),
        ConnectionFailed("nobody there"),
        truncated(),
        BudgetExceeded("0.10 USD are spent"),
        errors.StructuredOutputError("no JSON", raw="hm"),
        errors.DeadlineExceeded("time is up"),
    ],
)
async def test_a_failure_fails_again_in_the_same_way(fault: Exception) -> None:
    written = await recorded(lambda _: fault, question())
    events = [parse_event(event.payload()) for event in written]

    (again,) = await ask(replaying(Recording.from_events(events)), question())

    assert type(again) is type(fault) and str(again) == str(fault)
    if isinstance(fault, CallError) and isinstance(again, CallError):
        assert again.label == question().label
        assert (again.status, again.provider, again.model) == (fault.status, fault.provider, fault.model)
    if isinstance(again, ReplyTruncated):
        assert again.partial == truncated().partial


async def test_an_error_of_pythons_own_fails_as_itself_and_one_of_no_known_class_as_a_call() -> None:
    class Unheard(Exception):
        pass

    faults = (ZeroDivisionError("by zero"), ZeroDivisionError), (Unheard("of"), CallError)
    many = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "odd"), CallError
    for fault, kind in (*faults, many):
        events = await recorded(lambda _, fault=fault: fault, question())
        (again,) = await ask(replaying(Recording.from_events(events)), question())
        assert type(again) is kind and str(fault) in str(again)


@pytest.mark.parametrize("name", ["TYPE_CHECKING", "annotations", "__builtins__", "Exception", "", "a.b"])
async def test_a_recording_names_errors_and_nothing_else(name: str) -> None:
    digest = request_digest(question().to_dict())
    failed = CallFailed(digest=digest, occurrence=1, error=name, message="m")
    (again,) = await ask(replaying(Recording.from_events([failed])), question())
    assert type(again) is CallError


async def test_going_on_asks_again_only_what_failed_or_is_missing() -> None:
    first, second, third = question("1"), question("2"), question("3")
    events = await recorded(lambda r: ServerFault("down") if r == second else "old", first, second)
    old = Recording.from_events(events)
    asked: list[str] = []

    def live(request: Request) -> str:
        asked.append(request.messages[-1].content)
        return "new"

    more: list[Event] = []
    ask_on = recording(replaying(old, scripted(live)), more.append, replayed=old.has_reply)
    replies = await ask(ask_on, first, second, third)

    assert asked == ["2", "3"]
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["old", "new", "new"]
    flags = [e.replayed for e in more if isinstance(e, CallStarted | CallFinished)]
    assert flags == [True, True, False, False, False, False]
    # the second try has replaced the failure for whoever goes on from here
    whole = Recording.from_events([*events, *more])
    assert all(isinstance(reply, Reply) for reply in await ask(replaying(whole), first, second, third))


async def test_a_replay_that_is_recorded_says_the_same_with_a_flag() -> None:
    requests = [question("1"), question("2")]
    events = await recorded(lambda r: ServerFault("down", model="m") if r == requests[0] else "old", *requests)
    old = Recording.from_events(events)
    again: list[Event] = []
    await ask(recording(replaying(old), again.append, replayed=old.has), *requests)
    assert again == [event.model_copy(update={"replayed": True}) for event in events]


async def test_a_fork_shares_the_first_events() -> None:
    events = await recorded(lambda r: r.messages[-1].content, question("1"), question("2"))
    assert [len(Recording.from_events(events, until=n)) for n in range(5)] == [0, 0, 1, 1, 2]


async def test_the_pace_is_told_how_long_the_answer_took() -> None:
    request = question()
    reply = Reply("because", "a/b", "x", Usage(1, 1), latency_ms=1234)
    old = Recording.from_events(await recorded(lambda _: reply, request))
    waits: list[int] = []

    async def pace(latency_ms: int) -> None:
        waits.append(latency_ms)

    await replaying(old, pace=pace)(request)
    assert waits == [1234]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (question(model="c/d"), "model was 'a/b' in the recording and is 'c/d' now"),
        (question(temperature=0.5), "temperature was None in the recording and is 0.5 now"),
        (question("why not?"), "message 2 (user) differs at character 3: 'why?' in the recording, 'why not?' now"),
        (question("why?\x1b[2J"), r"'why?' in the recording, 'why?\x1b[2J' now"),
        (question(seat="7:other"), "the recording has no such call"),
    ],
)
async def test_a_mismatch_says_what_differs(asked: Request, said: str) -> None:
    old = Recording.from_events(await recorded(lambda _: "because", question()))
    (error,) = await ask(replaying(old), asked)
    assert isinstance(error, ReplayMismatch)
    assert said in str(error) and str(asked.label) in str(error)
    assert str(error).isprintable() and len(str(error)) < 300


async def test_a_mismatch_in_a_long_text_shows_only_the_place() -> None:
    long = "word " * 20_000
    old = Recording.from_events(await recorded(lambda _: "because", question(long + "left" + long)))
    (error,) = await ask(replaying(old), question(long + "right" + long))
    assert isinstance(error, ReplayMismatch)
    assert "at character 100000" in str(error) and "left" in str(error) and "right" in str(error)
    assert len(str(error)) < 300


async def test_asking_more_often_than_recorded_is_a_mismatch() -> None:
    old = Recording.from_events(await recorded(lambda _: "because", question()))
    outcomes = await ask(replaying(old), question(), question())
    assert isinstance(outcomes[1], ReplayMismatch) and "2 times" in str(outcomes[1])


async def test_a_call_that_was_cut_off_is_a_mismatch_that_says_so() -> None:
    events = await recorded(lambda _: "because", question())
    (error,) = await ask(replaying(Recording.from_events(events[:1])), question())
    assert isinstance(error, ReplayMismatch) and "breaks off" in str(error)


async def test_a_recording_older_than_a_schema_still_answers_and_is_asked_the_same_to_the_byte() -> None:
    events = await recorded(lambda r: f"{r.schema}", question(), question(schema="{}", seat="1:judge"))
    old, again = Recording.from_events(events), list[Event]()
    replay = as_recorded(recording(replaying(old), again.append, replayed=old.has), old)
    newer = question(schema="{}", grammar="{}", effort="low", fallbacks=("c/d",), session_id="another run")
    assert (await replay(newer)).text == "None"
    assert (await replay(question(schema="{}", grammar="{}", seat="1:judge"))).text == "{}"
    assert [e.canonical() for e in again if isinstance(e, CallFinished)] == [
        e.model_copy(update={"replayed": True}).canonical() for e in events if isinstance(e, CallFinished)
    ]
    with pytest.raises(ReplayMismatch, match="schema was"):
        await replay(question(schema='{"type": "object"}', seat="1:judge"))


async def test_a_schema_is_the_same_whatever_the_order_of_its_names_in_an_older_log() -> None:
    events = await recorded(lambda _: "so", question(schema='{"a":{},"b":{}}'))
    replay = as_recorded(replaying(Recording.from_events(events)), Recording.from_events(events))
    assert (await replay(question(schema='{"b":{},"a":{}}'))).text == "so"
    with pytest.raises(ReplayMismatch, match="schema was"):
        await replay(question(schema='{"b":{},"a":{"type":"null"}}'))
