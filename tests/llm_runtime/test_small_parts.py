"""The small parts that everything else shares: files in one step, concurrent work, refused values."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError

from llm_runtime.errors import BudgetExceeded, StoreUnwritable
from llm_runtime.files import write_atomic
from llm_runtime.models import Model, first_fault
from llm_runtime.tasks import first_error, gather


def test_a_file_is_replaced_whole_and_leaves_no_draft(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    write_atomic(place, "one")
    write_atomic(place, b"two", durable=False)
    assert place.read_bytes() == b"two" and [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert place.stat().st_mode & 0o777 == 0o644


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_atomic(tmp_path / "key", "secret", private=True)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_stays_where_it_must_not_be_replaced(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a", "first", replace=False)
    with pytest.raises(FileExistsError):
        write_atomic(tmp_path / "a", "second", replace=False)
    assert (tmp_path / "a").read_text() == "first" and len(list(tmp_path.iterdir())) == 1


def test_a_folder_in_the_way_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        write_atomic(tmp_path / "a", "text")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


async def test_work_side_by_side_comes_back_in_its_order() -> None:
    async def one(number: int) -> int:
        await asyncio.sleep(0)
        return number

    assert await gather(one(n) for n in range(5)) == [0, 1, 2, 3, 4]


async def test_the_first_failure_ends_the_rest_and_is_raised_as_itself() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waits")

    async def fails() -> None:
        raise StoreUnwritable("no room")

    with pytest.raises(StoreUnwritable, match="no room"):
        await gather([waits(), fails()])
    assert ended == ["waits"]


def test_an_error_of_ours_is_told_before_any_other() -> None:
    ours = BudgetExceeded("ours")
    assert first_error(ExceptionGroup("", [ValueError(), ExceptionGroup("", [ours])])) is ours
    other = ValueError()
    assert first_error(ExceptionGroup("", [other, KeyError()])) is other and first_error(other) is other


def test_a_refused_value_is_one_sentence_with_its_place() -> None:
    class Inner(Model):
        count: int

    class Outer(Model):
        inner: Inner

    with pytest.raises(ValidationError) as fault:
        Outer.model_validate({"inner": {"count": "many"}})
    assert first_fault(fault.value).startswith("inner.count: Input should be a valid integer")
    with pytest.raises(ValidationError) as fault:
        Outer.model_validate_json("{")
    assert first_fault(fault.value).startswith("Invalid JSON")
    assert first_fault(fault.value, "its start").startswith("its start: Invalid JSON")


def test_a_person_reads_no_word_of_python_of_what_does_not_fit() -> None:
    class Job(Model):
        files: tuple[str, ...] = ()
        names: dict[str, str] = {}
        budget: float = 0

    faults = ({"files": "a"}, "files: Input should be a list"), ({"names": 3}, "names: Input should be a table")
    for given, words in (*faults, ({"budget": "abc"}, "budget: Input should be a valid number")):
        with pytest.raises(ValidationError) as fault:
            Job.model_validate(given)
        assert first_fault(fault.value, plain=True) == words


async def test_a_budget_that_is_used_up_lets_the_calls_under_way_come_in() -> None:
    arrived: list[str] = []
    refused = asyncio.Event()

    async def under_way() -> None:
        await refused.wait()
        arrived.append("paid")

    async def refuse() -> None:
        refused.set()
        raise BudgetExceeded("no more")

    with pytest.raises(BudgetExceeded, match="no more"):
        await gather([under_way(), refuse()])
    assert arrived == ["paid"]
