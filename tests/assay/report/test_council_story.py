"""A council's run becomes a report that says what happened, whatever happened."""

from __future__ import annotations

import doctest
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.demo import prepare_demo
from assay.launch import Launcher
from assay.registry import fold_for, story_of, story_of_events
from assay.report import units
from assay.report.html import story_html
from assay.report.markdown import story_markdown
from assay.report.markup import render
from assay.report.story import Details, Figure, Note, Prose, Section, Story, Table, Voice
from assay.report.terminal import commands
from crucible.config import ComplexityDomain, CouncilRole, LoopGrammar, RedTeamFlavor
from crucible.events import (
    Critiqued,
    LedgerWritten,
    LoopEnded,
    LoopStarted,
    SeatAnswered,
    SeatFailed,
    Synthesised,
    Triaged,
)
from crucible.schemas import CouncilSeat, TriageOutput
from llm_runtime.errors import ServerFault, StoreDamaged
from llm_runtime.events import (
    GENESIS,
    CallFinished,
    CallStarted,
    Event,
    RunFinished,
    RunResumed,
    RunStarted,
    link,
    parse_event,
)
from llm_runtime.store import open_store


def section(story: Story, heading: str) -> Section:
    """A section, or what is folded under that heading."""
    folds = [Section(b.summary, b.blocks) for s in story.sections for b in s.blocks if isinstance(b, Details)]
    return next(each for each in (*story.sections, *folds) if each.heading == heading)


def voices(story: Story, heading: str) -> list[tuple[str, str]]:
    return [(block.name, block.remark) for block in section(story, heading).blocks if isinstance(block, Voice)]


def notes(story: Story) -> str:
    blocks = [block for each in story.sections for block in each.blocks]
    blocks += [inner for block in blocks if isinstance(block, Details) for inner in block.blocks]
    return " ".join(block.text for block in blocks if isinstance(block, Note))


def texts(voice: Voice) -> list[str]:
    return [block.text for block in voice.blocks if isinstance(block, Prose)]


async def test_the_answer_comes_first_then_the_way_to_it(play: Any, scene: Any) -> None:
    story = story_of_events(await play(scene(texts={"synthesis": "Stay with the **monolith**."})))
    assert story.title == "Should we migrate to microservices?"
    assert [each.heading for each in story.sections] == [*("Answer", "Cost", "How it got there")]
    assert section(story, "Answer").blocks == (Prose("Stay with the **monolith**.", lead=True),)
    assert "settled early" in story.subtitle and story.tone == "info"
    page = story_html(story)
    assert "<strong>monolith</strong>" in page and "<summary>Loop 2</summary>" in page


async def test_first_and_final_conclusions_are_a_picture_drawn_wide_and_narrow(tmp_path: Path) -> None:
    demo = prepare_demo("council", tmp_path, 0)
    with closing(open_store(tmp_path / "runs.db")) as store:
        running = await Launcher(store).start(demo.run, seed=demo.seed, run_id="council", model=demo.model)
        await running.outcome()
        told = section(story_of(store.records("council")), "Who moved and why").blocks
    picture, folded = told
    assert isinstance(picture, Figure) and isinstance(folded, Details) and isinstance(folded.blocks[0], Table)
    drawn = render(picture.svg)
    assert drawn.count("<svg") == 2, "one of them for a phone"
    for name, first, now, _ in folded.blocks[0].rows:
        assert f">{name}<" in drawn and f"{name} concluded first: {first} Concludes now: {now}" in picture.alternative
        assert first.split()[0] in drawn


async def test_positions_are_in_seat_order_with_what_is_new_marked(play: Any, scene: Any) -> None:
    said = {
        "position/0:pragmatist/1": "Stay with the monolith. It costs two engineers.",
        "position/0:pragmatist/2": "Stay with the monolith. It costs three engineers. Measure first.",
    }
    story = story_of_events(await play(scene(texts=said)))
    assert [name for name, _ in voices(story, "Loop 1")] == ["Pragmatist", "Domain expert", "Creative", "Red team"]
    assert voices(story, "Loop 2")[0] == ("Pragmatist", "position")
    html = story_html(story)
    assert "It costs <del>two</del> <ins>three</ins> engineers. <ins>Measure first</ins>." in html


_HELD = {
    "position/0:pragmatist/1": "Stay with the monolith. A rollback takes five minutes by the load balancer.",
    "position/0:pragmatist/2": "Stay with the monolith. A rollback takes one hour by the load balancer.",
    "critique": "1. A rollback by the load balancer leaves the schema behind.\n2. Nobody has priced the window.",
}


async def test_nothing_is_pinned_before_there_is_a_ledger(play: Any, scene: Any) -> None:
    quoting = {"critique": _HELD["critique"].replace("A rollback by", '"A rollback takes five minutes" by', 1)}
    html = story_html(story_of_events(await play(scene(texts=_HELD | quoting))))
    assert "A rollback takes five minutes" in html and 'id="claim-O1"' not in html


async def test_the_ledger_leads_to_the_words_under_attack_and_names_what_changed_them(play: Any, scene: Any) -> None:
    critique, position = _HELD["critique"], _HELD["position/0:pragmatist/1"]
    after = _HELD["position/0:pragmatist/2"]

    def span(source: str, text: str, words: str) -> dict[str, Any]:
        at = text.index(words)
        return {"source": source, "start": at, "end": at + len(words), "how": "exact", "words": words}

    one = {
        "id": "O1",
        "loop": 1,
        "step": 1,
        "targets": ["0:pragmatist"],
        "text": span("critique/1/1", critique, "1. A rollback by the load balancer leaves the schema behind."),
        "claim": span("1/0:pragmatist/position", position, "five minutes by the load balancer"),
        "outcome": "conceded",
        "by": "0:pragmatist",
        "changes": [{"after": span("2/0:pragmatist/position", after, "one hour by the load balancer")}],
    }
    moments = await play(scene(texts=_HELD))
    moments.insert(-1, (LedgerWritten(ledger={"objections": [one]}), moments[-1][1]))
    html = story_html(story_of_events(moments))
    assert '<tr id="ledger-O1"><td class="text" dir="auto"><a href="#claim-O1">O1 A rollback' in html
    assert 'id="claim-O1"><a href="#ledger-O1"' in html
    assert ">because of O1</a></sup>" in html
    assert "A rollback takes <del>five minutes</del>" in html


async def test_a_seat_that_says_the_same_again_is_folded(play: Any, scene: Any) -> None:
    story = story_of_events(await play(scene(texts={"position": "Stay with the monolith."})))
    assert voices(story, "Loop 2")[0] == ("Pragmatist", "position, unchanged")
    (folded,) = next(b for b in section(story, "Loop 2").blocks if isinstance(b, Voice)).blocks
    assert folded == Details("The same as before", (Prose("Stay with the monolith."),))


async def test_two_seats_of_one_role_keep_apart(play: Any, scene: Any) -> None:
    story = story_of_events(await play(scene(roles=("creative", "red_team", "creative"))))
    assert [name for name, _ in voices(story, "Loop 1")] == ["Creative 1", "Creative 2", "Red team"]


async def test_a_sequence_is_told_in_its_order_and_compared_with_the_draft_before(play: Any, scene: Any) -> None:
    said = {
        "draft/0:pragmatist/1": "One idea. Another idea.",
        "draft/1:domain_expert/1": "One idea. Another better idea.",
    }
    story = story_of_events(await play(scene(grammar="sequential", texts=said)))
    told = voices(story, "Loop 1")
    assert [name for name, _ in told[:4]] == ["Pragmatist", "Red team", "Domain expert", "Red team"]
    assert told[0][1] == "draft" and told[2][1] == "draft"


async def test_a_debate_shows_targets_and_defences(play: Any, scene: Any) -> None:
    said = {"critique": "Weak.\nTARGETS: 3:creative"}
    faults = {"defence/3:creative/2": ServerFault("overloaded", status=503)}
    story = story_of_events(await play(scene(grammar="debate", texts=said, faults=faults)))
    assert voices(story, "Loop 1")[-2:] == [("Red team", "attacks Creative"), ("Creative", "defence")]
    assert "Creative did not defend its position: overloaded" in notes(story)
    assert "Left out" not in notes(story)


async def test_a_seat_that_failed_is_named(play: Any, scene: Any) -> None:
    faults = {"position/0:pragmatist/1": ServerFault("overloaded", status=503)}
    story = story_of_events(await play(scene(faults=faults)))
    assert "Left out: Pragmatist in loop 1 (overloaded [HTTP 503])." in notes(story)


async def test_a_simple_question_has_no_council(play: Any, scene: Any) -> None:
    story = story_of_events(await play(scene(simple=True)))
    assert "no council sat" in story.subtitle
    assert not [each for each in story.sections if each.heading.startswith("Loop")]


async def test_a_failed_run_says_so_first_and_how_to_go_on(play: Any, scene: Any) -> None:
    faults = {"critique/2:red_team/2": ServerFault("overloaded", status=503)}
    story = story_of_events(await play(scene(faults=faults)))
    assert story.tone == "info" and "failed: the red team" in story.subtitle and "overloaded" in story.subtitle
    first = story.sections[0].blocks[0]
    assert isinstance(first, Note) and "overloaded" in first.text and "assay " not in first.text
    assert commands(story.standing) == ["assay runs resume run-7"]
    stood = [block for block in story.sections[0].blocks if isinstance(block, Voice)]
    assert texts(stood[0]) == ["0:pragmatist says position 2. It stays with its reasons."]


async def test_a_stopped_run_keeps_what_there_is(play: Any, scene: Any) -> None:
    moments = (await play(scene()))[:20]
    moments.append((RunFinished(state="stopped", error="BudgetExceeded", message="$0.02 is spent."), moments[-1][1]))
    story = story_of_events(moments)
    assert "was stopped after" in notes(story) and "$0.02 is spent" in notes(story)
    assert commands(story.standing) == ["assay runs resume run-7 --budget USD"]


async def test_sums_are_right(play: Any, scene: Any) -> None:
    story = story_of_events(await play(scene()))
    by_seat, by_phase = (block for block in section(story, "Cost").blocks if isinstance(block, Table))
    rows = {row[0]: row[1:] for row in by_seat.rows}
    assert rows["Pragmatist"][:3] == ("2", "200", "20")
    assert by_seat.total is not None and by_seat.total[:4] == ("Sum", "11", "1,100", "110")
    assert by_seat.total[-1] == "$0.0110"
    assert [row[0] for row in by_phase.rows] == ["Triage", "Position", "Critique", "Judge of change", "Synthesis"]
    assert sum(int(row[1]) for row in by_phase.rows) == 11


async def test_replayed_calls_are_shown_and_cost_nothing_again(play: Any, scene: Any) -> None:
    story = story_of_events(await play(scene(replayed=True)))
    facts = {fact.label: fact.value for fact in story.facts}
    assert facts["Cost"] == "$0" and facts["Recorded cost"] == "$0.0110"
    assert "11 calls of 11 came from a recording" in notes(story)


async def test_an_unknown_price_is_not_taken_for_nothing(play: Any, scene: Any) -> None:
    story = story_of_events(await play(scene(cost=None)))
    assert {fact.label: fact.value for fact in story.facts}["Cost"] == "unknown"
    assert "No price is known for 11 calls" in notes(story)


async def test_a_resumed_log_tells_one_story(play: Any, scene: Any) -> None:
    whole = await play(scene())
    broken = whole[:17]
    again = [
        (event.model_copy(update={"replayed": True}) if isinstance(event, (CallStarted, CallFinished)) else event, at)
        for event, at in whole[1:17]
    ]
    resumed = [*broken, (RunResumed(finished_calls=6), broken[-1][1]), *again, *whole[17:]]
    old, new = story_of_events(whole), story_of_events(resumed)
    assert new.sections[0] == old.sections[0]
    assert voices(new, "Loop 2") == voices(old, "Loop 2")
    assert [fact for fact in new.facts if fact.label != "Time"] == [fact for fact in old.facts if fact.label != "Time"]


async def test_a_story_comes_from_a_log_of_any_protocol(play: Any, scene: Any) -> None:
    moments = await play(scene())
    records, previous = [], GENESIS
    for seq, (event, at) in enumerate(moments, 1):
        record = link(previous, seq, at, event)
        records.append(record)
        previous = record.digest
    assert story_of(records) == story_of_events(moments)
    started = RunStarted(run_id="r", protocol="crux", title="A topic", task={}, settings={}, seed=1)
    story = story_of_events([(started, 0), (RunFinished(state="stopped", message="the budget is spent"), 1_000)])
    assert "A topic" in story_html(story) and "stopped: the budget is spent" in story_markdown(story)


async def test_every_prefix_of_a_run_has_a_report_and_a_progress(play: Any, scene: Any) -> None:
    for grammar in ("parallel", "sequential", "debate"):
        moments = await play(scene(grammar=grammar))
        fold = fold_for("crucible")
        for event, at in moments:
            fold.apply(event, at)
            fold.announce(event)
            progress = fold.progress()
            assert progress.calls_expected is None or progress.calls_done <= progress.calls_expected
            story_html(fold.story())
        assert progress.calls_done == progress.calls_expected


async def test_calls_expected_is_right_where_no_loop_is_saved(play: Any, scene: Any) -> None:
    for grammar in ("parallel", "sequential", "debate"):
        moments = await play(scene(grammar=grammar, settled_in=99))
        fold = fold_for("crucible")
        expected = []
        for event, at in moments:
            fold.apply(event, at)
            expected.append(fold.progress().calls_expected)
            if isinstance(event, Triaged):
                foreseen = fold.progress().calls_expected
        assert foreseen == expected[-1] == fold.progress().calls_done


_names = st.sampled_from(["0:pragmatist", "1:red_team", "2:creative", "", "x/y", "9:<b>"])
_loops = st.integers(1, 4)
_seat = st.builds(CouncilSeat, role=st.sampled_from(CouncilRole), system_prompt=st.just("Be brief."))
_council = st.builds(
    TriageOutput,
    reconstructed_query=st.text(),
    synthesis_instruction=st.text(),
    complexity=st.sampled_from(ComplexityDomain),
    council=st.lists(_seat, min_size=3, max_size=5),
    loop_grammar=st.sampled_from(LoopGrammar),
    loop_count=st.integers(2, 5),
    red_team_flavor=st.sampled_from(RedTeamFlavor),
)
_grammars = st.sampled_from(["parallel", "sequential", "debate"])
_kinds = st.sampled_from(["position", "defence", "draft"])
_events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Triaged, triage=_council),
    st.builds(LoopStarted, loop=_loops, of=_loops, grammar=_grammars),
    st.builds(SeatAnswered, loop=_loops, seat=_names, role=_names, kind=_kinds, text=st.text()),
    st.builds(SeatFailed, loop=_loops, seat=_names, role=_names, error=st.text(), message=st.text()),
    st.builds(Critiqued, loop=_loops, step=_loops, seat=_names, text=st.text(), targets=st.lists(_names)),
    st.builds(LoopEnded, loop=_loops, delta_detected=st.booleans(), judged=st.booleans()),
    st.builds(Synthesised, text=st.text(), loops_executed=_loops, early_exit=st.booleans()),
    st.builds(CallStarted, digest=st.sampled_from("ab"), occurrence=_loops, request=st.just({"label": {"seat": 1}})),
    st.builds(CallFinished, digest=st.sampled_from("ab"), occurrence=_loops, reply=st.just({"usage": 3, "cost": "x"})),
    st.builds(RunResumed, finished_calls=_loops),
    st.builds(RunFinished, state=st.sampled_from(["finished", "stopped", "failed"])),
)


@given(st.lists(_events, max_size=25), st.sampled_from(["crucible", "unheard_of"]))
def test_no_order_of_events_breaks_a_fold(events: list[Event], protocol: str) -> None:
    fold = fold_for(protocol, keep=2)
    for at, event in enumerate(events):
        fold.apply(event, at * 10)
        fold.announce(event)
        fold.progress()
    story_html(fold.story())
    story_markdown(fold.story())


@pytest.mark.parametrize("field", ["council", "loop_count", "loop_grammar"])
def test_a_triage_of_another_shape_is_refused(scene: Any, field: str) -> None:
    with pytest.raises(StoreDamaged, match="triage"):
        parse_event({"type": "crucible.triaged", "triage": {**scene().triage(), field: {"a": [None]}}})


def test_amounts_are_written_as_their_documentation_says() -> None:
    assert doctest.testmod(units).failed == 0
