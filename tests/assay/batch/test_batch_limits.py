"""Limits over all workers: calls in flight as rows with leases, and tenants that take turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from assay.batch.batches import open_batches
from assay.batch.buckets import Buckets
from assay.batch.database import Database
from assay.batch.ledger import Batch, Ledger
from assay.batch.progress import look
from assay.batch.purses import Purses
from assay.batch.schema import MIGRATIONS
from llm_runtime.wrappers.accounts import Caps, Spend
from llm_runtime.wrappers.limiting import Limits

Asker = Callable[..., Buckets]
Enter = Callable[..., Batch]


@pytest.fixture
def asker(database: Database) -> Asker:
    """A worker's view of the buckets."""

    def make(owner: str, tenant: str = "", lease_us: int = 60_000_000) -> Buckets:
        return Buckets(database, owner, tenant, lease_us)

    return make


def granted(buckets: Buckets, times: int = 1) -> int:
    return sum(buckets.take("b", 0).wait_us <= 0 for _ in range(times))


def test_calls_in_flight_are_counted_over_all_workers(asker: Asker) -> None:
    anne, bert = asker("anne"), asker("bert")
    anne.open("b", Limits(in_flight=3))
    assert (granted(anne, 2), granted(bert, 2)) == (2, 1)
    bert.land("b")
    assert (granted(anne, 2), granted(bert)) == (1, 0)


def test_a_silent_workers_places_are_freed_and_not_given_back_twice(database: Database, asker: Asker) -> None:
    anne, bert = asker("anne"), asker("bert")
    anne.open("b", Limits(in_flight=2))
    assert granted(anne, 3) == 2
    database.execute("UPDATE flights SET until = 0")
    bert.renew()
    assert granted(bert, 3) == 2
    anne.land("b")  # woken, and too late
    assert granted(bert) == 0
    bert.leave()
    assert granted(anne, 3) == 2


def test_a_renewed_worker_keeps_its_places(database: Database, asker: Asker) -> None:
    anne, bert = asker("anne"), asker("bert")
    anne.open("b", Limits(in_flight=1))
    assert granted(anne) == 1
    database.execute("UPDATE flights SET until = until - 59000000")
    anne.renew()
    database.execute("UPDATE flights SET until = until - 59000000")
    bert.renew()
    assert granted(bert) == 0


def test_tenants_that_wait_are_served_in_turn_however_often_one_asks(database: Database, asker: Asker) -> None:
    many, few = asker("anne", "many"), asker("bert", "few")
    many.open("b", Limits(in_flight=1))
    served: Counter[str] = Counter()
    for _ in range(40):
        # Ten askers of one tenant come before the single one of the other, each time a place is free.
        for _ in range(10):
            if granted(many):
                served["many"] += 1
                break
        if granted(few):
            served["few"] += 1
        database.execute("UPDATE buckets SET flying = 0")
        database.execute("DELETE FROM flights")
    assert served["many"] + served["few"] == 40
    assert abs(served["many"] - served["few"]) <= 2


def test_whoever_comes_late_is_owed_nothing_for_before(database: Database, asker: Asker) -> None:
    early, late = asker("anne", "early"), asker("bert", "late")
    early.open("b", Limits(in_flight=1))
    for _ in range(20):
        assert granted(early) == 1
        early.land("b")
    order: list[str] = []
    for _ in range(6):
        for name, buckets in (("early", early), ("late", late)):
            if granted(buckets):
                order.append(name)
        database.execute("UPDATE buckets SET flying = 0")
        database.execute("DELETE FROM flights")
    assert order.count("late") <= 4  # not all twenty turns that it did not ask for


def test_a_tenant_that_does_not_wait_holds_nobody_up(database: Database, asker: Asker) -> None:
    busy, gone = asker("anne", "busy"), asker("bert", "gone")
    busy.open("b", Limits(in_flight=1))
    assert granted(busy) == 1
    assert granted(gone) == 0
    database.execute("UPDATE turns SET waits_until = 0 WHERE tenant = 'gone'")
    busy.land("b")
    assert granted(busy) == 1


def test_a_store_of_an_older_version_is_brought_up_with_what_it_holds(database: Database, store_url: str) -> None:
    for table in ("batches", "jobs", "purses", "buckets", "flights", "turns", "vendor_batches", "batch_migrations"):
        database.execute(f"DROP TABLE {table}")
    database.execute("CREATE TABLE batch_migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL)")
    name, script = MIGRATIONS[0]
    for statement in filter(str.strip, script.split(";")):
        database.execute(statement)
    database.execute("INSERT INTO batch_migrations VALUES (1, ?)", (name,))
    database.execute("INSERT INTO batches VALUES ('old', 'tag', 't', 'crucible', 'c', '[]', '{}', 'open', '', 7)")
    database.execute("INSERT INTO buckets VALUES ('b', 60, NULL, 0, 0, 1000000, 0, 0)")

    opened = open_batches(store_url)
    try:
        assert [(batch.batch_id, batch.tenant) for batch in Ledger(opened).batches()] == [("old", "")]
        assert Buckets(opened).take("b", 0).wait_us == 0
        assert opened.execute("SELECT count(*) FROM batch_migrations") == [(len(MIGRATIONS),)]
    finally:
        opened.close()


def test_a_provider_out_of_order_is_tried_by_one_call_for_all_workers(database: Database, asker: Asker) -> None:
    """Five faults in a row, whoever meets them; the first answer lets everybody go."""
    anne, bert = asker("anne"), asker("bert")
    anne.open("b", Limits(in_flight=None))
    assert granted(anne, 9) == 9
    for each in (anne, bert, anne, bert):
        each.faulted("b")
    assert granted(anne) == 1
    anne.answered("b")
    for each in (anne, bert, anne, bert, anne):
        each.faulted("b")
    assert granted(anne) == granted(bert) == 0
    assert [(each.bucket, each.faults) for each in bert.closed()] == [("b", 5)]
    database.execute("UPDATE buckets SET closed_until = 0")  # half a minute later
    assert granted(bert, 3) + granted(anne, 3) == 1
    bert.faulted("b")
    assert granted(anne) == 0 and anne.outage()
    database.execute("UPDATE buckets SET closed_until = 0")
    assert granted(anne) == 1
    anne.answered("b")
    assert granted(bert, 3) == 3 and not bert.outage() and not bert.closed()


def test_a_status_shows_every_cap_what_is_held_and_what_is_waited_for(
    database: Database, ledger: Ledger, enter: Enter
) -> None:
    """A job under way whose calls wait for a place in flight, for a rate, and for room in the budget."""
    enter(database, "a", "b", caps=Caps(cost=200_000, tokens=1000))
    assert look(ledger, Purses(database), "batch").waits() == []
    ledger.claim("batch", "anne", 1)
    buckets, purses = Buckets(database, "anne"), Purses(database)
    buckets.open("slow", Limits(requests_per_minute=6))
    buckets.open("small", Limits(in_flight=1))
    for bucket in ("slow", "slow", "small", "small"):
        buckets.take(bucket, 0)
    for _ in range(3):
        purses.reserve("batch", Spend(60_000, 300, 1))
    progress = look(ledger, purses, "batch")
    assert progress.waits() == [
        "slow: its rate (6 requests a minute)",
        "small: a place in flight (1 of 1 taken)",
        "room in the budget: only $0.0200 are left beside what is reserved",
    ]
    for words in ("$0.1800 reserved of $0.20", "0 calls, 3 reserved ·", "0 tokens, 900 reserved of 1,000"):
        assert words in progress.line()
