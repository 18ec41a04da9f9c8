"""What stands around every report: how the run ended, the way to go on, and where the report comes from."""

from __future__ import annotations

import io
from typing import Literal

import pytest

from assay.registry import fold_for, run_types, story_of_events
from assay.report.markdown import story_markdown
from assay.report.story import Note, Table
from assay.report.terminal import print_story
from llm_runtime.events import Event, ModelSubstituted, RunFinished, RunResumed, RunStarted

#: A build says where it stands instead; its folder is what goes on.
HINTED = [name for name in run_types() if name != "criticality.build"]


def started(kind: str, origin: Literal["live", "demo"], parent: str = "") -> RunStarted:
    return RunStarted(
        run_id="r1", protocol=kind, title="A title", task={}, settings={}, seed=7, origin=origin, version="9.9",
        parent=parent, forked_at=3 if parent else 0,
    )  # fmt: skip


def report(*events: Event) -> str:
    return story_markdown(story_of_events((event, at * 1000) for at, event in enumerate(events)))


def terminal(*events: Event) -> str:
    stream = io.StringIO()
    print_story(story_of_events((event, at * 1000) for at, event in enumerate(events)), stream, whole=True)
    return stream.getvalue()


@pytest.mark.parametrize("state", ["stopped", "failed"])
@pytest.mark.parametrize("kind", [*HINTED, "unheard.of"])
def test_a_run_that_broke_off_says_why_and_how_to_go_on(kind: str, state: Literal["stopped", "failed"]) -> None:
    events = (started(kind, "live"), RunFinished(state=state, message="The budget is spent."))
    text = report(*events)
    assert "assay " not in text
    assert "The budget is spent." in text and "spent.." not in text
    assert ("was stopped" if state == "stopped" else " failed") in text
    assert "assay runs resume r1" in terminal(*events) and "assay demo" not in terminal(*events)


@pytest.mark.parametrize("state", ["stopped", "failed"])
@pytest.mark.parametrize("kind", [*HINTED, "unheard.of"])
def test_a_demonstration_that_broke_off_is_to_be_played_again(kind: str, state: Literal["stopped", "failed"]) -> None:
    text = terminal(started(kind, "demo"), RunFinished(state=state))
    assert "assay demo" in text and "runs resume" not in text


@pytest.mark.parametrize("kind", [*run_types(), "unheard.of"])
def test_a_demonstration_under_way_is_told_neither(kind: str) -> None:
    text = terminal(started(kind, "demo"))
    assert "assay demo" not in text and "runs resume" not in text


def test_how_a_run_ended_has_no_colour_of_a_verdict() -> None:
    for end in (RunFinished(state="stopped"), RunFinished(state="failed")):
        story = story_of_events([(started("unheard.of", "live"), 0), (end, 1)])
        (note,) = [block for block in story.sections[0].blocks if isinstance(block, Note)]
        assert note.tone == story.tone == "info"


@pytest.mark.parametrize("kind", ["crucible.council", "fire_circle.circle", "crux.debate", "criticality.build"])
def test_every_report_names_its_origin_its_parent_and_how_often_it_was_resumed(kind: str) -> None:
    events = (started(kind, "demo", parent="r0"), RunResumed(finished_calls=2), RunFinished(state="stopped"))
    story = story_of_events((event, at) for at, event in enumerate(events))
    records = next(each for each in story.sections if each.heading == "Provenance").blocks[0]
    assert isinstance(records, Table)
    rows = {row[0]: row[1] for row in records.rows}
    assert rows["Run"] == "r1" and rows["Forked from"] == "r0 at event 3" and rows["Resumed"] == "1 time"
    assert "written by hand" in story.origin and rows["Assay"] == "9.9"


@pytest.mark.parametrize("end", [True, False], ids=["stopped", "killed"])
def test_the_time_of_a_run_leaves_out_when_nobody_carried_it_out(end: bool) -> None:
    fold, day = fold_for("unheard.of"), 86_400_000
    fold.apply(started("unheard.of", "live"), 0)
    fold.apply(
        RunFinished(state="stopped") if end else ModelSubstituted(label="", asked="a", used="b", reason="c"), 3_000
    )
    fold.apply(RunResumed(finished_calls=0), day)
    assert fold.progress().elapsed(day + 1_000) == 4_000
    fold.apply(RunFinished(state="finished"), day + 2_000)
    facts = {fact.label: fact.value for fact in fold.story().facts}
    assert facts["Time"] == "5.0 s"
