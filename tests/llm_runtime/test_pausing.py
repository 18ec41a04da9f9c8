"""An endpoint whose server fails five times in a row is left alone for a while; then one call tries for all."""

from __future__ import annotations

import asyncio

import pytest

from llm_runtime.errors import ConnectionFailed, Overloaded, RateLimited, RequestRefused, ServerFault
from llm_runtime.events import EndpointPaused, Event
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.wrappers.limiting import limiting
from llm_runtime.wrappers.pausing import Outage

ASK = Request("m", (Message("user", "Is it so?"),), CallLabel("test", "ask"))


class Endpoint:
    """A server that fails while ``down``, and a clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.down = True
        self.asked = 0
        self.events = list[Event]()
        self.call: Generate = limiting(
            scripted(self.answer), Outage("acme", told={self.events.append}, clock=lambda: self.now, sleep=self.sleep)
        )

    async def answer(self, _: Request) -> Reply | BaseException | str:
        self.asked += 1
        await asyncio.sleep(0)
        return Overloaded("busy", status=503) if self.down else "yes"

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.now += max(0.0, seconds)

    async def many(self, count: int) -> list[Reply | BaseException]:
        return await asyncio.gather(*(self.call(ASK) for _ in range(count)), return_exceptions=True)


async def test_five_faults_in_a_row_pause_it_and_one_call_opens_it_again() -> None:
    endpoint = Endpoint()
    for _ in range(5):
        with pytest.raises(ServerFault):
            await endpoint.call(ASK)
    assert [(e.provider, e.seconds) for e in endpoint.events if isinstance(e, EndpointPaused)] == [("acme", 30)]
    endpoint.down = False
    replies = await endpoint.many(20)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert endpoint.now >= 30
    assert endpoint.asked == 25


async def test_a_call_that_tries_in_vain_tries_for_all_who_wait_and_they_cost_nothing() -> None:
    endpoint = Endpoint()
    await endpoint.many(5)
    met = await endpoint.many(20)
    assert endpoint.asked == 6, "one call went out"
    assert all(isinstance(error, Overloaded) for error in met)
    assert sum(error.maybe_charged for error in met if isinstance(error, ServerFault)) <= 1
    assert len([e for e in endpoint.events if isinstance(e, EndpointPaused)]) == 2


@pytest.mark.parametrize("between", [RequestRefused("no", status=400), "yes"])
async def test_faults_count_only_in_a_row(between: BaseException | str) -> None:
    faults: list[BaseException | str] = [ServerFault("down", status=500)] * 4
    queue = [*faults, between, *faults, "yes"]
    events = list[Event]()
    call = limiting(scripted(lambda _: queue.pop(0)), Outage("acme", told={events.append}))
    for _ in range(10):
        await asyncio.gather(call(ASK), return_exceptions=True)
    assert events == []


async def test_a_trial_that_is_cancelled_or_reaches_nobody_leaves_the_next_to_try() -> None:
    faults: list[BaseException | str] = [ServerFault("down", status=500)] * 5
    queue: list[BaseException | str] = [*faults, ConnectionFailed("refused"), "yes", "yes"]
    clock = [0.0]

    async def sleep(seconds: float) -> None:
        clock[0] += seconds

    call = limiting(scripted(lambda _: queue.pop(0)), Outage("acme", clock=lambda: clock[0], sleep=sleep))
    for _ in range(5):
        with pytest.raises(ServerFault):
            await call(ASK)
    met = await asyncio.gather(*(call(ASK) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in met] == [ConnectionFailed, Reply, Reply]


@pytest.mark.parametrize(("asks", "blocked"), [(600.0, 600.0), (7 * 3600.0, 3600.0), (1e9, 3600.0)])
async def test_a_limit_is_believed_for_an_hour_and_then_one_call_looks_again(asks: float, blocked: float) -> None:
    clock = [0.0]
    queue: list[BaseException | str] = [RateLimited("the limit of the day", retry_after=asks), "yes"]
    call = limiting(scripted(lambda _: queue.pop(0)), Outage("acme", clock=lambda: clock[0]))
    for now in (0.0, blocked - 1):
        clock[0] = now
        with pytest.raises(RateLimited) as met:
            await call(ASK)
        assert met.value.retry_after == asks - now and len(queue) == 1
    clock[0] = blocked
    assert (await call(ASK)).text == "yes"


async def test_a_burst_of_faults_is_one_pause() -> None:
    endpoint = Endpoint()
    await endpoint.many(64)
    assert endpoint.asked == 64
    assert len(endpoint.events) == 1
