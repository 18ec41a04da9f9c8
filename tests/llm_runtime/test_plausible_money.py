"""What is booked where a server counts too little, or sends an error with status 200; and what a deadline costs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from llm_runtime.errors import (
    AuthenticationFailed,
    CallError,
    ContextExceeded,
    ErrorInReply,
    MalformedReply,
    Moderated,
    PaymentRequired,
    RateLimited,
)
from llm_runtime.events import BudgetMoved, Event
from llm_runtime.gateway import Gateway
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.settings import Settings
from llm_runtime.testing import LoopbackServer, Received
from llm_runtime.wrappers.accounts import Caps
from llm_runtime.wrappers.retrying import Backoff

TEXTS = {
    "prose": "The council weighs what each of the seats has said before it answers. " * 160,
    "german": "Der Rat wägt ab, was jeder Sitz gesagt hat, bevor er antwortet. " * 160,
    "chinese": "委员会在回答之前权衡每个席位所说的话。" * 300,
}


def gateway(server: LoopbackServer, events: list[Event] | None = None, **caps: Any) -> Gateway:
    settings = Settings(
        keys={"openai": Key(SecretStr("sk-0123456789"), "test")},
        base_urls={"openai": f"{server.url}/v1"},
        environment={"ASSAY_LOCAL_SERVERS": ""},
    )
    return Gateway(
        settings, caps=Caps(**caps), backoff=Backoff(base=0), emit=(events if events is not None else []).append
    )


def ask(text: str) -> Request:
    return Request("openai:gpt-4o-mini", (Message("user", text),), CallLabel("test", "ask"))


def whole(**usage: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Yes, for three reasons."}
    return {"id": "x-1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


@pytest.mark.parametrize("counted", [0, 7, 400])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
async def test_a_count_below_what_the_words_allow_is_not_believed_and_the_answer_is_kept(
    text: str, counted: int
) -> None:
    async with (
        LoopbackServer(whole(prompt_tokens=counted, completion_tokens=6)) as server,
        gateway(server, cost=1_000_000) as asked,
    ):
        reply = await asked.generate(ask(text))
    expected = (len(text) + 3) // 4
    assert (reply.text, len(server.requests)) == ("Yes, for three reasons.", 1)
    assert (reply.usage.input_tokens, reply.usage.estimated) == (expected, True)
    price = asked.prices.find("openai", "gpt-4o-mini")
    assert price and asked.budget.spent.cost == price.of(reply.usage) > 50
    assert f"counted {counted} tokens of a prompt of about {expected}" in reply.repairs[0]


async def test_a_count_without_the_cached_part_loses_no_answer() -> None:
    async with LoopbackServer(whole(prompt_tokens=50, completion_tokens=6)) as server, gateway(server) as asked:
        replies = [await asked.generate(ask(TEXTS["prose"] + end)) for end in ("", " And now?")]
    assert [reply.text for reply in replies] == ["Yes, for three reasons."] * 2
    assert len(server.requests) == 2


@pytest.mark.parametrize(("asked", "cached"), [(300, 2_000), (0, 10**6), (1_200, 1_200)])
async def test_cached_tokens_beside_the_prompt_make_no_count_plausible(asked: int, cached: int) -> None:
    usage = {"prompt_tokens": asked, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": cached}}
    async with LoopbackServer(whole(**usage)) as server, gateway(server, cost=1_000_000) as asking:
        reply = await asking.generate(ask(TEXTS["prose"]))
    expected = (len(TEXTS["prose"]) + 3) // 4
    assert (reply.usage.input_tokens, reply.usage.estimated, len(reply.repairs)) == (expected, True, 1)
    price = asking.prices.find("openai", "gpt-4o-mini")
    assert price and price.bound(expected, 6) >= asking.budget.spent.cost == price.of(reply.usage) > 200


async def test_a_true_count_stands() -> None:
    async with LoopbackServer(whole(prompt_tokens=2_100, completion_tokens=6)) as server, gateway(server) as asked:
        reply = await asked.generate(ask(TEXTS["prose"]))
    assert (reply.usage.input_tokens, reply.usage.estimated, reply.repairs) == (2_100, False, ())


@pytest.mark.parametrize(
    "counted",
    [
        {"prompt_tokens": 10**9, "completion_tokens": 6},
        {"prompt_tokens": 2_100, "completion_tokens": 2**52},
        {"prompt_tokens": 2_100, "completion_tokens": 6, "total_tokens": 10**9},
        {"prompt_tokens": 2_100, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 2**52}},
        {"prompt_tokens": 2_100, "completion_tokens": 6, "cost": 1e8},
    ],
)
async def test_a_count_beyond_what_the_words_allow_is_not_believed(counted: dict[str, Any]) -> None:
    async with LoopbackServer(whole(**counted)) as server, gateway(server, cost=1_000_000) as asked:
        reply = await asked.generate(ask(TEXTS["prose"]))
    assert reply.usage.cached_tokens <= reply.usage.input_tokens < 3_000
    assert reply.usage.reasoning_tokens <= reply.usage.output_tokens < 10
    assert 100 < asked.budget.spent.cost < 1_000
    assert reply.usage.estimated is ("cost" not in counted)


async def test_reasoning_that_nobody_sees_is_believed() -> None:
    body = whole(prompt_tokens=2_100, completion_tokens=100_000)
    async with LoopbackServer(body) as server, gateway(server) as asked:
        assert (await asked.generate(ask(TEXTS["prose"]))).usage.output_tokens == 100_000


async def test_a_total_tells_cached_tokens_beside_the_prompt_from_reasoning() -> None:
    beside = {"prompt_tokens_details": {"cached_tokens": 2_000}, "total_tokens": 2_306}
    body = whole(prompt_tokens=300, completion_tokens=6, **beside)
    async with LoopbackServer(body) as server, gateway(server) as asked:
        usage = (await asked.generate(ask(TEXTS["prose"]))).usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.estimated) == (2_300, 2_000, 6, False)


ERRORS = [
    ({"detail": "Not authenticated"}, AuthenticationFailed),
    ([{"error": {"code": 403, "message": "no", "status": "PERMISSION_DENIED"}}], AuthenticationFailed),
    ({"base_resp": {"status_code": 8, "status_msg": "insufficient balance"}}, PaymentRequired),
    ({"errors": [{"message": "Unknown field: effort"}]}, ErrorInReply),
    ({"error_code": 110, "error_msg": "Access token invalid"}, ErrorInReply),
    ({"statusCode": 401, "message": "wrong subscription"}, AuthenticationFailed),
    ({"object": "error", "message": "no credit", "code": 402}, PaymentRequired),
]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize(("body", "kind"), ERRORS)
async def test_an_error_in_the_place_of_an_answer_is_asked_once(
    body: Any, kind: type[CallError], streamed: bool
) -> None:
    events = f"data: {json.dumps(body)}\n\ndata: [DONE]\n\n".encode()

    async def send(request: web.Request, received: Received, _: list[bytes]) -> web.StreamResponse:
        return web.Response(body=events, content_type="text/event-stream") if streamed else web.json_response(body)

    async with LoopbackServer(send=send) as server, gateway(server, cost=1_000_000) as asked:
        with pytest.raises(kind):
            await asked.generate(replace(ask("Is it so?"), max_tokens=100_000))
    assert len(server.requests) == 1
    assert (asked.budget.spent.cost, asked.budget.unknown.cost, asked.budget.held.cost) == (0, 0, 0)


async def test_an_error_beside_a_whole_answer_is_a_note_and_beside_a_begun_one_it_is_booked() -> None:
    body = whole(prompt_tokens=2_100, completion_tokens=6) | {"error": {"message": "moderation was slow"}}
    async with LoopbackServer(body) as server, gateway(server, cost=1_000_000) as asked:
        reply = await asked.generate(ask(TEXTS["prose"]))
    assert (reply.text, len(server.requests)) == ("Yes, for three reasons.", 1)
    assert reply.repairs == ("an error stood beside the answer: moderation was slow",)
    body["choices"][0]["finish_reason"] = "error"
    async with LoopbackServer(body) as server, gateway(server, cost=1_000_000) as asked:
        with pytest.raises(ErrorInReply) as raised:
            await asked.generate(ask(TEXTS["prose"]))
    assert raised.value.partial and raised.value.partial.text == "Yes, for three reasons."
    assert asked.budget.spent.cost > 300


@pytest.mark.parametrize(
    ("body", "kind", "requests"),
    [
        ({"error": "no credit"}, PaymentRequired, 1),
        ({"detail": "Not authenticated"}, AuthenticationFailed, 1),
        ({"message": "Access denied for this project"}, AuthenticationFailed, 1),
        ({"error": {"message": "the prompt was flagged", "code": "content_filter"}}, Moderated, 1),
        ({"error": {"message": "maximum context length is 512 tokens"}}, ContextExceeded, 1),
        ({"errors": [{"message": "Unknown field: effort"}]}, ErrorInReply, 1),
        ({"error": {"message": "something"}}, ErrorInReply, 1),
        ({"error": {"message": "upstream timed out, try again"}}, ErrorInReply, 5),
        ({"msg": "Too many requests"}, RateLimited, 5),
        ([{"error": {"code": 403, "message": "no", "status": "PERMISSION_DENIED"}}], AuthenticationFailed, 1),
        ({"choices": None, "base_resp": {"status_code": 8, "status_msg": "insufficient balance"}}, PaymentRequired, 1),
    ],
)
async def test_an_error_with_status_200_is_what_its_words_say_and_costs_nothing(
    body: Any, kind: type[CallError], requests: int
) -> None:
    async with LoopbackServer(body) as server, gateway(server, cost=1_000_000) as asked:
        with pytest.raises(kind):
            await asked.generate(ask("Is it so?"))
    assert len(server.requests) == requests
    assert (asked.budget.spent.cost, asked.budget.unknown.cost, asked.budget.held.cost) == (0, 0, 0)


async def test_an_error_beside_a_begun_answer_may_have_cost_something() -> None:
    async with (
        LoopbackServer({"id": "x-1", "usage": {"prompt_tokens": 9, "completion_tokens": 1}}) as server,
        gateway(server, cost=1_000_000) as asked,
    ):
        with pytest.raises(MalformedReply):
            await asked.generate(ask("Is it so?"))
    assert asked.budget.spent.cost + asked.budget.unknown.cost > 0


async def test_a_deadline_alone_is_no_cap_and_writes_nothing() -> None:
    events: list[Event] = []
    async with LoopbackServer("Yes.") as server, gateway(server, events, seconds=600.0) as asked:
        await asked.generate(ask("Is it so?"))
    assert [event for event in events if isinstance(event, BudgetMoved)] == []
