"""Runs are found by their words, tags and order; people's notes stand beside them and in no log."""

from __future__ import annotations

import pytest

from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.store import RunStore
from llm_runtime.store.notes import Note, notes_of, tags_of_runs, write_note
from llm_runtime.store.searching import index_runs
from llm_runtime.store.upkeep import set_tags


def run(store: RunStore, run_id: str, question: str, answer: str = "") -> None:
    started = RunStarted(run_id=run_id, protocol="p", title="A title", task={"q": question}, settings={}, seed=1)
    log = store.start(started)
    if answer:
        log.emit(RunFinished(state="finished", result={"answer": [answer]}))
    log.close()


def found(store: RunStore, text: str) -> list[str]:
    return [each.run_id for each in store.runs(search=text)]


def test_a_run_is_found_by_words_of_its_task_and_of_its_result(any_store: RunStore) -> None:
    run(any_store, "r-1", "Which café?", "The quiet one; take an umbrella.")
    run(any_store, "r-2", "Which train?")
    assert found(any_store, "umbrella") == []
    assert index_runs(any_store) == 0
    assert found(any_store, "UMBREL quiet") == ["r-1"] and found(any_store, "which") == ["r-2", "r-1"]
    assert found(any_store, "umbrella train") == [] and found(any_store, "title") == ["r-2", "r-1"]
    for odd in ('"', "' OR 1=1 --", "a* AND", "NEAR(", "&|!:*", "\N{SNOWMAN}"):
        assert isinstance(found(any_store, odd), list)


def test_a_run_that_ends_later_is_found_by_its_end_and_one_that_is_deleted_is_not(any_store: RunStore) -> None:
    run(any_store, "r-1", "rain")
    index_runs(any_store)
    log = any_store.reopen("r-1")
    log.emit(RunFinished(state="finished", result={"answer": "sunshine"}))
    log.close()
    index_runs(any_store)
    assert found(any_store, "sunshine") == ["r-1"]
    any_store.delete("r-1")
    run(any_store, "r-2", "snow")
    index_runs(any_store)
    assert found(any_store, "sunshine") == []


def test_many_runs_are_taken_a_part_at_a_time(any_store: RunStore) -> None:
    for number in range(5):
        run(any_store, f"r-{number}", f"word{number}")
    assert index_runs(any_store, 3) == 2 and index_runs(any_store, 3) == 0
    assert found(any_store, "word0") == ["r-0"] and found(any_store, "word4") == ["r-4"]


def test_runs_are_chosen_by_tag_and_left_out_by_how_their_ids_begin(any_store: RunStore) -> None:
    for run_id in ("r-1", "abcdef-1", "abcdef-2"):
        run(any_store, run_id, "x")
    set_tags(any_store, "r-1", ["good"])
    assert [each.run_id for each in any_store.runs(tag="good")] == ["r-1"]
    assert [each.run_id for each in any_store.runs(apart=["abcdef-"])] == ["r-1"]
    assert tags_of_runs(any_store, ["r-1", "abcdef-1"]) == {"r-1": ["good"], "abcdef-1": []}


@pytest.mark.parametrize("order", ["newest", "longest", "dearest", "calls"])
def test_pages_in_any_order_show_each_run_once(any_store: RunStore, order: str) -> None:
    for number in range(7):
        run(any_store, f"r-{number}", "x", "y" if number % 2 else "")
    seen: list[str] = []
    while page := any_store.runs(order=order, limit=3, before=seen[-1] if seen else None):  # type: ignore[arg-type]
        seen += [each.run_id for each in page]
    assert sorted(seen) == [f"r-{number}" for number in range(7)]


def test_notes_are_one_a_person_and_no_part_of_the_log(any_store: RunStore) -> None:
    run(any_store, "r-1", "x", "y")
    before = list(any_store.records("r-1"))
    write_note(any_store, Note("r-1", "ada", "Weak.", 2, "wrong", 5))
    write_note(any_store, Note("r-1", "bob", rating=4, at=6))
    write_note(any_store, Note("r-1", "ada", "Better than I thought.", 3, at=7))
    notes = notes_of(any_store, ["r-1"])["r-1"]
    assert [(note.who, note.note, note.rating, note.label) for note in notes] == [
        ("bob", "", 4, ""),
        ("ada", "Better than I thought.", 3, ""),
    ]
    assert list(any_store.records("r-1")) == before
    write_note(any_store, Note("r-1", "bob"))
    assert [note.who for note in notes_of(any_store, ["r-1"])["r-1"]] == ["ada"]
    for wrong in (Note("r-1", "ada", rating=6), Note("r-1", " ", "x"), Note("r-1", "ada", label="x" * 99)):
        with pytest.raises(ConfigurationError):
            write_note(any_store, wrong)
    with pytest.raises(RunNotFound):
        write_note(any_store, Note("nobody", "ada", "x"))
