"""A purse tells a webhook when half, four fifths and all of it are used."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.batch import alerts
from assay.batch.database import Database
from assay.batch.line import QueuePlace
from assay.batch.metering import Asked, BatchBudgetExceeded, Meter, SharedRows
from assay.batch.purses import Purses
from llm_runtime.wrappers.accounts import Account, Caps, Settlement, Spend


@asynccontextmanager
async def hearing(status: int = 204) -> AsyncGenerator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A webhook on this machine, and what it was sent: headers and body."""
    heard: list[tuple[dict[str, str], bytes]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        heard.append((headers, await reader.readexactly(int(headers["content-length"]))))
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook", heard


async def used(database: Database, url: str, caps: Caps, *costs: int) -> Meter:
    """Spend so much in calls of one worker, until one has no room."""
    Purses(database).open("team", caps)
    rows = SharedRows(database)
    meter = Meter(rows, "team", caps)
    meter.alerts.url = url
    try:
        for number, cost in enumerate(costs):
            place = QueuePlace((), number)
            place.ready.set()
            if await meter.reserve(Asked(Spend(cost, 1, 1), "a call", place)):
                await meter.settle(Spend(cost, 1, 1), Settlement(Spend(cost, 1, 1)))
    finally:
        await meter.alerts.aclose()
        await rows.queue.aclose()
    return meter


async def test_a_webhook_hears_each_share_once_and_that_nothing_is_left(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_WEBHOOK_SECRET", "hush")
    async with hearing() as (url, heard):
        with pytest.raises(BatchBudgetExceeded):
            await used(database, url, Caps(cost=100), 30, 30, 25, 5, 20)
    told = [json.loads(body) for _, body in heard]
    assert [(one["purse"], one["amount"], one["percent"], one["used"], one["cap"]) for one in told] == [
        ("team", "cost", 50, 60, 100),
        ("team", "cost", 80, 85, 100),
        ("team", "cost", 100, 90, 100),
    ]
    headers, body = heard[0]
    assert headers["x-assay-signature"] == f"sha256={hmac.new(b'hush', body, hashlib.sha256).hexdigest()}"


async def test_a_webhook_that_refuses_or_may_not_be_named_stops_no_call(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    async with hearing(500) as (url, heard):
        await used(database, url, Caps(calls=4), 1, 1)
    assert len(heard) == 1 and "HTTP 500" in capsys.readouterr().err
    await used(database, "http://10.0.0.1/hook", Caps(calls=4), 1, 1)
    assert Purses(database).read("team").spent.calls == 4


@given(st.integers(1, 1_000), st.lists(st.integers(0, 400), max_size=30))
def test_each_share_is_crossed_by_one_settlement(cap: int, costs: list[int]) -> None:
    spent = [sum(costs[:many]) for many in range(len(costs) + 1)]
    crossed = [
        one.percent
        for before, after in pairwise(spent)
        for one in alerts.crossed(Account(Caps(cost=cap), Spend(after)), Spend(after - before))
    ]
    assert crossed == [share for share in alerts.SHARES if spent[-1] * 100 >= share * cap]
