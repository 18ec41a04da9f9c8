"""A worker's calls before the shared rows: what is held, what is refused, and what others learn of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import pytest
from pydantic import SecretStr
from tests.llm_runtime.test_slots import LlamaServer

from assay.batch.buckets import FULL_PACE, Buckets
from assay.batch.database import Database
from assay.batch.ledger import Batch, Claim, Ledger
from assay.batch.metering import CURRENT, Asked, BatchBudgetExceeded, JobLost, Meter, MeteredGateway, SharedRows
from assay.batch.pacing import Pace
from assay.batch.purses import Purses
from assay.batch.write_queue import PURSES
from llm_runtime.errors import BudgetExceeded, RateLimited, UnknownPrice
from llm_runtime.gateway import Gateway
from llm_runtime.http import Http
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.settings import ConfigFile, Limits, Settings
from llm_runtime.shared import Shared
from llm_runtime.testing import LoopbackServer, Received
from llm_runtime.wrappers.accounts import Caps, Settlement, Spend
from llm_runtime.wrappers.retrying import Backoff

Enter = Callable[..., Batch]
Call = Callable[[Claim, int], Awaitable[asyncio.Task[None]]]
MODEL = "anthropic/claude-sonnet-4"


def request(model: str = MODEL) -> Request:
    return Request(model, (Message("user", "Why?"),), CallLabel("crucible", "position"), max_tokens=100)


@asynccontextmanager
async def worker(
    database: Database, server: LoopbackServer, caps: Caps, owner: str = "anne", **limits: int
) -> AsyncGenerator[MeteredGateway]:
    Purses(database).open("batch", caps)
    rows = SharedRows(database, owner)
    meter = Meter(rows, "batch", caps)
    settings = Settings(
        keys={"openrouter": Key(SecretStr("sk-or-canary"), "given")},
        base_urls={"openrouter": f"{server.url}/v1"},
        config=ConfigFile(limits={"openrouter": Limits.model_validate(limits)} if limits else {}),
    )
    async with MeteredGateway(settings, meter, Backoff(attempts=1)) as gateway:
        yield gateway
    await rows.queue.aclose()


async def test_a_server_of_one_slot_gets_one_call_at_a_time_whatever_purse_pays(database: Database) -> None:
    server = LlamaServer(slots=1, together=1)
    rows, shared = SharedRows(database, "anne"), Shared(Http())
    async with server.listening() as url:
        settings = Settings(config=ConfigFile(model=f"{url}#tiny"))
        gateways = [Gateway(settings, shared=shared)]
        for purse in ("hers", "his"):
            Purses(database).open(purse, Caps())
            gateways.append(MeteredGateway(settings, Meter(rows, purse, Caps()), shared=shared))
        await asyncio.gather(*(gateway.generate(request("any")) for gateway in gateways * 3))
        await rows.queue.aclose()
        await shared.http.aclose()
    assert server.most == 1 and len(server.order) == 9


@contextmanager
def on_behalf_of(claim: Claim) -> Generator[None]:
    token = CURRENT.set(claim)
    yield
    CURRENT.reset(token)


async def test_a_429_that_one_worker_sees_closes_the_bucket_for_all(database: Database) -> None:
    def refusing(received: Received) -> tuple[int, dict[str, object]]:
        return 429, {"error": {"message": "slow down"}}

    async with LoopbackServer(refusing) as server, worker(database, server, Caps()) as gateway:
        with pytest.raises(RateLimited):
            await gateway.generate(request())
    turn = Buckets(database, "bert").take(f"openrouter/{MODEL}", 0)
    assert turn.wait_us > 0 and turn.pace == FULL_PACE // 2


async def test_a_call_that_nobody_heard_the_end_of_is_unknown(database: Database) -> None:
    async with (
        LoopbackServer(latency=60) as server,
        worker(database, server, Caps(cost=10_000), in_flight=1) as gateway,
    ):
        asking = asyncio.ensure_future(gateway.generate(request()))
        while not server.requests:  # noqa: ASYNC110 - a server tells nobody
            await asyncio.sleep(0.005)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        purse = Purses(database).read("batch")
        assert purse.unknown.calls == 1 and purse.unknown.cost > 1000
        assert purse.spent == purse.held == Spend()
        assert Buckets(database, "bert").take("openrouter", 0).wait_us == 0  # its place in flight is free again


async def test_what_fits_beside_nothing_that_is_under_way_is_refused(database: Database) -> None:
    async with LoopbackServer() as server, worker(database, server, Caps(cost=100)) as gateway:
        with pytest.raises(BudgetExceeded, match=r"raise \[budget\]"):
            await gateway.generate(request())
        assert server.requests == []


async def test_an_unknown_price_under_a_cap_in_dollars_is_refused(database: Database) -> None:
    async with LoopbackServer() as server, worker(database, server, Caps(cost=10_000)) as gateway:
        with pytest.raises(UnknownPrice):
            await gateway.generate(request("no-such/model"))
        assert server.requests == []


async def test_nothing_is_sent_for_a_job_that_another_worker_has(
    database: Database, ledger: Ledger, enter: Enter
) -> None:
    enter(database, "a")
    [late] = ledger.claim("batch", "anne", 1)
    database.execute("UPDATE jobs SET due_at = 0")
    ledger.rescue("batch", 5)
    ledger.claim("batch", "bert", 1)
    async with LoopbackServer() as server, worker(database, server, Caps()) as gateway:
        with on_behalf_of(late), pytest.raises(JobLost):
            await gateway.generate(request())
        assert server.requests == []


@asynccontextmanager
async def lined_up(database: Database, tokens: int, takes: int = 0) -> AsyncGenerator[tuple[Meter, Call, list[int]]]:
    """Yield a meter under a cap in tokens, what makes a job's call and waits until the purse answered it, and the
    rows of the jobs whose calls were granted."""
    caps, rows, granted = Caps(tokens=tokens), SharedRows(database, "anne"), list[int]()
    Purses(database).open("batch", caps)
    pace = Pace(Spend(tokens=takes))
    meter = Meter(rows, "batch", caps, pace=pace)

    async def call(claim: Claim, tokens: int) -> None:
        CURRENT.set(claim)
        with meter.line.place(claim) as place:
            await meter.line.turn(place)
            while not await meter.reserve(Asked(Spend(0, tokens, 1), "a call", place)):
                await meter.line.turn(place)
        granted.append(claim.row)

    async def asks(claim: Claim, tokens: int) -> asyncio.Task[None]:
        task = asyncio.create_task(call(claim, tokens))
        for _ in range(2):
            await asyncio.sleep(0)  # until it has asked
            await rows.queue.do(lambda: None, PURSES)
        return task

    yield meter, asks, granted
    await rows.queue.aclose()


async def test_calls_that_wait_for_money_are_granted_in_the_order_of_their_jobs(
    database: Database, ledger: Ledger, enter: Enter
) -> None:
    """Whoever waited first, and even where a later job's call would fit beside those under way."""
    enter(database, "a", "b", "c", "d", "e")
    jobs = ledger.claim("batch", "anne", 5)
    async with lined_up(database, 100) as (meter, asks, granted):
        asked = [await asks(jobs[row - 1], tokens) for row, tokens in [(5, 60), (4, 60), (2, 60), (3, 10), (1, 60)]]
        assert granted == [5]
        for settled in range(4):
            if settled == 1:
                asked.append(await asks(jobs[0], 60))  # the first job's next call goes before what waits
            await meter.settle(Spend(0, 60, 1), Settlement(Spend(0, 1, 1)))
            await asyncio.wait([task for task in asked if not task.done()], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(asked)
        assert granted == [5, 1, 1, 2, 3, 4]


async def test_an_end_of_the_money_is_none_once_the_budget_was_raised(
    database: Database, ledger: Ledger, enter: Enter
) -> None:
    """What was claimed under the larger budget is granted, whichever job the smaller one had ended at."""
    enter(database, "a", "b", "c")
    first, second = ledger.claim("batch", "anne", 2)
    async with lined_up(database, 100) as (_, asks, granted):
        with pytest.raises(BatchBudgetExceeded):
            await (await asks(first, 110))
        with pytest.raises(BatchBudgetExceeded):
            await (await asks(second, 10))
        Purses(database).open("batch", Caps(tokens=1000))
        ledger.set_state("batch", "open")
        for late in (first, second):
            ledger.stop(late, "budget")
        for claim in ledger.claim("batch", "anne", 3):
            await (await asks(claim, 110))
        assert granted == [1, 2, 3]


async def test_what_an_earlier_job_still_needs_is_left_to_it(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a", "b", "c")
    first, second, third = ledger.claim("batch", "anne", 3)
    async with lined_up(database, 100, takes=60) as (meter, asks, granted):
        with meter.line.job(second):
            with meter.line.job(first):
                waiting = await asks(second, 30)  # with 60 for the first job and 30 for its last call
                for _ in range(2):
                    await (await asks(first, 30))
                    CURRENT.set(first)
                    await meter.settle(Spend(0, 30, 1), Settlement(Spend(0, 30, 1)))
                assert granted == [1, 1]
            await waiting
            assert granted == [1, 1, 2]
            CURRENT.set(second)
            await meter.settle(Spend(0, 30, 1), Settlement(Spend(0, 30, 1)))
            with pytest.raises(BudgetExceeded):
                await (await asks(second, 30))
        with pytest.raises(BudgetExceeded):
            await (await asks(third, 5))  # it would fit, and end before the second
        await (await asks(first, 5))
        assert granted == [1, 1, 2, 1]
