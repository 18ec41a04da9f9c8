"""Who has which job: claims, owners, fences, dead letters, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.batch.batches import open_batches
from assay.batch.database import Database
from assay.batch.ledger import Batch, Claim, Ledger
from llm_runtime.errors import ConfigurationError, RunNotFound, StoreError

Enter = Callable[..., Batch]


@pytest.fixture(autouse=True)
def both_live(database: Database) -> None:
    for name in ("anne", "bert"):
        lives(database, name)


def lives(database: Database, name: str) -> None:
    database.execute("INSERT INTO owners VALUES (?, '', 0) ON CONFLICT DO NOTHING", (name,))


def falls_silent(database: Database, name: str) -> None:
    database.execute("DELETE FROM owners WHERE name = ?", (name,))


def claim(ledger: Ledger, owner: str = "anne", count: int = 10) -> list[Claim]:
    ledger.rescue("batch", 5)
    return ledger.claim("batch", owner, count)


def older(database: Database, seconds: float) -> None:
    database.execute("UPDATE jobs SET due_at = due_at - ? WHERE state = 'waiting'", (round(seconds * 1e6),))


def queries(claims: list[Claim]) -> list[str]:
    return sorted(str(each.task["query"]) for each in claims)


def test_jobs_are_taken_once_and_in_order(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a", "b", "c")
    assert queries(claim(ledger, count=2)) == ["a", "b"]
    assert queries(claim(ledger, "bert")) == ["c"]
    assert claim(ledger, "bert") == []


def test_many_claim_at_once_and_none_twice(database: Database, store_url: str, enter: Enter) -> None:
    enter(database, *[f"q{number}" for number in range(200)])

    def take(owner: int) -> list[Claim]:
        own = open_batches(store_url)
        try:
            taken: list[Claim] = []
            while found := Ledger(own).claim("batch", str(owner), 7):
                taken += found
            return taken
        finally:
            own.close()

    with ThreadPoolExecutor(8) as pool:
        everything = [each.job_id for taken in pool.map(take, range(8)) for each in taken]
    assert len(everything) == len(set(everything)) == 200


def test_a_silent_workers_job_is_taken_over_and_its_late_result_refused(
    database: Database, ledger: Ledger, enter: Enter
) -> None:
    enter(database, "a")
    [late] = claim(ledger)
    assert claim(ledger, "bert") == []
    falls_silent(database, "anne")
    [taken] = claim(ledger, "bert")
    assert (taken.fence, taken.failures) == (late.fence + 1, 1)

    assert ledger.finish(late, '{"from": "anne"}', "run-1", 5) is False
    assert ledger.fail(late, "X", "x", 5, 0, fresh=False) is False
    assert ledger.held("batch", "anne") == ("open", set())
    assert ledger.finish(taken, '{"from": "bert"}', "run-2", 7) is True
    assert ledger.finish(taken, '{"again": 1}', "run-3", 7) is False
    [result] = ledger.results("batch")
    assert (result.state, result.result, result.cost) == ("done", '{"from": "bert"}', 7)


def test_what_a_living_worker_has_is_not_taken_over_however_long_it_takes(
    database: Database, ledger: Ledger, enter: Enter
) -> None:
    enter(database, "a")
    [mine] = claim(ledger)
    older(database, 1e9)
    assert ledger.held("batch", "anne") == ("open", {(mine.job_id, mine.fence)})
    older(database, 1e9)
    assert claim(ledger, "bert") == []


def test_five_failures_are_a_dead_letter_with_its_reason(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a", "poison")
    for attempt in range(1, 6):
        for each in claim(ledger):
            if each.task["query"] == "poison":
                ledger.fail(each, "ValueError", f"attempt {attempt}", 5, 0, fresh=True)
            else:
                ledger.finish(each, "{}", "", 0)
    assert claim(ledger) == []
    status = ledger.status("batch")
    assert (status.states, status.failed) == ({"dead": 1, "done": 1}, {"ValueError": 1})
    assert ledger.state("batch") == ("open", None)
    assert [r.message for r in ledger.results("batch")] == ["", "attempt 5"]

    assert ledger.retry_failed("batch") == 1
    assert [(each.failures, each.fresh_from) for each in claim(ledger)] == [(0, 5)]


def test_an_input_that_kills_its_workers_dies_too(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a")
    for _ in range(5):
        assert len(claim(ledger)) == 1
        falls_silent(database, "anne")
    assert claim(ledger) == []
    assert ledger.status("batch").failed == {"WorkerLost": 1}


def test_a_failed_job_waits_for_its_turn(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a")
    [mine] = claim(ledger)
    ledger.fail(mine, "ServerFault", "down", 5, 30_000_000, fresh=False)
    assert claim(ledger) == []
    state, wait = ledger.state("batch")
    assert state == "open" and wait is not None and 0 < wait <= 30_000_000
    older(database, 31)
    assert len(claim(ledger)) == 1


def test_what_was_put_back_is_no_failure(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a", "b")
    first = claim(ledger)
    ledger.put_back("batch", "anne", [(first[0].job_id, first[0].fence), (first[1].job_id, 99)])
    assert [each.failures for each in claim(ledger, "bert")] == [0]
    ledger.put_back("batch", "anne")
    assert [each.failures for each in claim(ledger, "bert")] == [0]


def test_nothing_is_claimed_of_a_batch_that_is_not_open(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a")
    for state in ("stopped", "cancelled"):
        ledger.set_state("batch", state, "why")
        assert claim(ledger) == []
    ledger.set_state("batch", "open")
    assert len(claim(ledger)) == 1


def test_a_batch_that_was_opened_anew_is_not_stopped_by_a_job_claimed_before(
    database: Database, ledger: Ledger, enter: Enter
) -> None:
    enter(database, "a")
    [before] = claim(ledger)
    ledger.set_state("batch", "stopped", "budget")
    ledger.set_state("batch", "open")
    ledger.stop(before, "budget: too late")
    assert ledger.batch("batch").state == "open"
    [after] = claim(ledger, "bert")
    ledger.set_state("batch", "cancelled", "by hand")
    ledger.stop(after, "budget")
    assert (ledger.batch("batch").state, ledger.batch("batch").reason) == ("cancelled", "by hand")
    ledger.set_state("batch", "open")
    [last] = claim(ledger)
    ledger.stop(last, "budget")
    assert (ledger.batch("batch").state, ledger.running("batch")) == ("stopped", 0)


def test_what_another_batch_has_done_is_not_done_again(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a", "b")
    for each in claim(ledger):
        ledger.finish(each, '{"paid": true}', "run", 9)
    enter(database, "a", "c", batch_id="second")
    assert queries(ledger.claim("second", "anne", 10)) == ["c"]
    [known, _] = ledger.results("second")
    assert (known.result, known.run_id, known.cost) == ('{"paid": true}', "run", 0)


def test_one_id_has_one_content(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, "a")
    with pytest.raises(ConfigurationError, match="other contents"):
        enter(database, "b")
    enter(database, "a")
    assert ledger.status("batch").total == 1
    with pytest.raises(RunNotFound, match="no batch"):
        ledger.batch("other")


def test_results_come_in_the_order_of_the_input(database: Database, ledger: Ledger, enter: Enter) -> None:
    enter(database, *[f"q{number}" for number in range(1203)])
    assert [result.row for result in ledger.results("batch")] == list(range(1, 1204))


def test_a_store_of_a_newer_version_is_left_alone(database: Database, store_url: str) -> None:
    database.execute("INSERT INTO batch_migrations VALUES (99, 'of the future')")
    with pytest.raises(StoreError, match="newer version"):
        open_batches(store_url)


def test_a_store_without_tables_gets_them(store_url: str) -> None:
    for _ in range(2):
        opened = open_batches(store_url)
        assert Ledger(opened).batches() == []
        opened.close()
