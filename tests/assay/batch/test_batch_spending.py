"""Money and rates as rows: whoever races, nothing is overspent and nothing granted beyond burst + rate x time."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.batch.batches import open_batches
from assay.batch.buckets import FULL_PACE, Buckets
from assay.batch.database import Database
from assay.batch.ledger import Batch, Ledger
from assay.batch.purses import Purses
from llm_runtime.wrappers.accounts import Caps, Settlement, Spend
from llm_runtime.wrappers.limiting import Limits

HOLD = Spend(10, 3, 1)


def test_a_hold_counts_until_it_is_settled(database: Database) -> None:
    purses = Purses(database)
    purses.open("p", Caps(cost=25))
    assert purses.reserve("p", HOLD) == purses.reserve("p", HOLD) == "held"
    assert purses.reserve("p", HOLD) == "full"
    purses.settle("p", HOLD, Settlement(Spend(2, 2, 1)))
    assert purses.reserve("p", HOLD) == "held"
    purse = purses.read("p")
    assert (purse.spent, purse.held) == (Spend(2, 2, 1), Spend(20, 6, 2))


@pytest.mark.parametrize("caps", [Caps(cost=9), Caps(tokens=2), Caps(calls=0)])
def test_each_cap_holds(database: Database, caps: Caps) -> None:
    purses = Purses(database)
    purses.open("p", caps)
    assert purses.reserve("p", HOLD) == "full"


def test_new_caps_keep_what_is_spent(database: Database) -> None:
    purses = Purses(database)
    purses.open("p", Caps(cost=10))
    purses.reserve("p", HOLD)
    purses.open("p", Caps(cost=19))
    assert purses.reserve("p", HOLD) == "full"
    purses.open("p", Caps(cost=20))
    assert purses.reserve("p", HOLD) == "held"


def test_whoever_lost_the_job_pays_for_nothing_more(
    database: Database, ledger: Ledger, enter: Callable[..., Batch]
) -> None:
    enter(database, "a")
    purses = Purses(database)
    [mine] = ledger.claim("batch", "anne", 1)
    assert purses.reserve("batch", HOLD, mine) == "held"
    database.execute("UPDATE jobs SET due_at = 0")
    ledger.rescue("batch", 5)
    [theirs] = ledger.claim("batch", "bert", 1)
    assert purses.reserve("batch", HOLD, mine) == "lost"
    assert purses.reserve("batch", HOLD, theirs) == "held"


def test_32_racers_overspend_nothing(database: Database, store_url: str) -> None:
    Purses(database).open("p", Caps(cost=1000))

    def race(_: int) -> int:
        own = open_batches(store_url)
        try:
            purses, granted = Purses(own), 0
            while purses.reserve("p", HOLD) == "held":
                granted += 1
                if granted % 3:  # every third one dies with its call in flight
                    known = Settlement(Spend(7, 3, 1)), Settlement(Spend(), HOLD)
                    purses.settle("p", HOLD, known[granted % 3 - 1])
            return granted
        finally:
            own.close()

    with ThreadPoolExecutor(32) as pool:
        granted = sum(pool.map(race, range(32)))
    purse = Purses(database).read("p")
    assert purse.spent.calls + purse.held.calls + purse.unknown.calls == granted
    assert 990 < purse.spent.cost + purse.held.cost + purse.unknown.cost <= 1000


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_no_more_is_granted_than_burst_and_rate(database: Database, store_url: str, workers: int) -> None:
    Buckets(database).open(
        "b", Limits(requests_per_minute=1200, in_flight=None)
    )  # 20 a second; 10 seconds' worth at once
    begun = time.monotonic()

    def take(_: int) -> int:
        own = open_batches(store_url)
        try:
            return sum(Buckets(own).take("b", 0).wait_us <= 0 for _ in range(400 // workers))
        finally:
            own.close()

    with ThreadPoolExecutor(workers) as pool:
        granted = sum(pool.map(take, range(workers)))
    assert 200 <= granted <= 200 + 20 * (time.monotonic() - begun) + 1


def test_a_refused_request_takes_nothing_and_says_how_long(database: Database) -> None:
    buckets = Buckets(database)
    buckets.open("b", Limits(requests_per_minute=6, in_flight=None))
    assert buckets.take("b", 0).wait_us == 0
    waits = [buckets.take("b", 0).wait_us for _ in range(3)]
    assert all(9_000_000 < wait <= 10_000_000 for wait in waits)


def test_tokens_are_a_rate_too_and_a_giant_waits_for_a_full_bucket(database: Database) -> None:
    buckets = Buckets(database)
    buckets.open("b", Limits(tokens_per_minute=60_000, in_flight=None))  # 10,000 at once
    assert buckets.take("b", 6_000).wait_us == 0
    assert 1_500_000 < buckets.take("b", 6_000).wait_us <= 2_000_000
    assert 5_500_000 < buckets.take("b", 10**9).wait_us <= 6_000_000


def test_a_429_slows_everybody(database: Database, store_url: str) -> None:
    Buckets(database).open("b", Limits(in_flight=None))
    other = open_batches(store_url)
    try:
        Buckets(database).refused("b", 30)
        Buckets(database).refused("b", 20)
        turn = Buckets(other).take("b", 0)
        assert 29_000_000 < turn.wait_us <= 30_000_000
        assert turn.pace == FULL_PACE // 2
        other.execute("UPDATE buckets SET closed_until = 0")
        for _ in range(8):
            Buckets(other).answered("b")
        assert Buckets(other).take("b", 0).pace == FULL_PACE
    finally:
        other.close()
