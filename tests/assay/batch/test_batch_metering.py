"""A worker's calls before the shared rows: what is held, what is refused, and what others learn of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import pytest
from pydantic import SecretStr

from assay.batch.buckets import FULL_PACE, Buckets
from assay.batch.database import Database
from assay.batch.ledger import Batch, Claim, Ledger
from assay.batch.metering import CURRENT, JobLost, Meter, MeteredGateway
from assay.batch.purses import Purses
from assay.batch.write_queue import WriteQueue
from llm_runtime.errors import BudgetExceeded, RateLimited, UnknownPrice
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.settings import ConfigFile, Limits, Settings
from llm_runtime.testing import LoopbackServer, Received
from llm_runtime.wrappers.accounts import Caps, Spend
from llm_runtime.wrappers.retrying import Backoff

Enter = Callable[..., Batch]
MODEL = "anthropic/claude-sonnet-4"


def request(model: str = MODEL) -> Request:
    return Request(model, (Message("user", "Why?"),), CallLabel("crucible", "position"), max_tokens=100)


@asynccontextmanager
async def worker(
    database: Database, server: LoopbackServer, caps: Caps, owner: str = "anne", **limits: int
) -> AsyncGenerator[MeteredGateway]:
    Purses(database).open("batch", caps)
    queue = WriteQueue(database)
    meter = Meter(queue, "batch", caps, Purses(database), Buckets(database, owner))
    settings = Settings(
        keys={"openrouter": Key(SecretStr("sk-or-canary"), "given")},
        base_urls={"openrouter": f"{server.url}/v1"},
        config=ConfigFile(limits={"openrouter": Limits.model_validate(limits)} if limits else {}),
    )
    async with MeteredGateway(settings, meter, Backoff(attempts=1)) as gateway:
        yield gateway
    await queue.aclose()


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
    [late] = ledger.claim("batch", "anne", 1, 1, 5)
    database.execute("UPDATE jobs SET due_at = 0")
    ledger.claim("batch", "bert", 1, 60_000_000, 5)
    async with LoopbackServer() as server, worker(database, server, Caps()) as gateway:
        with on_behalf_of(late), pytest.raises(JobLost):
            await gateway.generate(request())
        assert server.requests == []
