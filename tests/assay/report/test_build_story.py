"""The report on a build, and the trial told by a run, from the logs that come with Assay."""

from __future__ import annotations

import json
import lzma
from importlib import resources
from typing import cast

import pytest

from assay.protocols.ai_crucible.events import AttemptTold
from assay.protocols.ai_crucible.report.fold import TrialFold
from assay.protocols.ai_crucible.report.trial_events import attempt_event, attempt_of
from assay.protocols.criticality.report import BuildFold
from assay.report.frame import standing_of
from assay.report.html import story_html
from assay.report.run import RunTotals
from assay.report.story import Details, Prose, Table
from assay.report.terminal import commands
from criticality import events as e
from llm_runtime.events import Event, RunFinished, RunResumed, RunStarted, parse_event


def logged(name: str) -> list[tuple[Event, int]]:
    folder = {"build": "criticality", "trial": "ai_crucible"}[name]
    file = resources.files(f"assay.protocols.{folder}").joinpath("demo", "played.jsonl.xz")
    lines = lzma.decompress(file.read_bytes()).decode().splitlines()[1:]
    records = [json.loads(line) for line in lines]
    return [(parse_event(record["body"]), record["at"]) for record in records]


@pytest.fixture(scope="module")
def build() -> list[tuple[Event, int]]:
    return logged("build")


def folded(events: list[tuple[Event, int]]) -> BuildFold:
    fold = BuildFold()
    for event, at in events:
        fold.apply(event, at)
    return fold


def test_a_finished_build_leads_from_each_claim_to_what_shows_it(build: list[tuple[Event, int]]) -> None:
    story = folded(build).story()
    trace = next(section for section in story.sections if section.heading == "What was asked, and what shows it")
    table = next(block for block in trace.blocks if isinstance(block, Table))
    assert story.facts[0].value == f"{len(table.rows)} of {len(table.rows)}"
    assert all(row[1] == "holds" and row[2] != "none refers to it" and int(row[3]) >= 1 for row in table.rows)
    opened = next(block for block in trace.blocks if isinstance(block, Details))
    assert len(opened.blocks) == len(table.rows)


def test_a_function_stands_with_signature_contract_body_and_what_shows_it(build: list[tuple[Event, int]]) -> None:
    fold = folded(build)
    functions = next(section for section in fold.story().sections if section.heading == "Functions")
    texts = {
        block.text.partition("(")[0].removeprefix("**`"): block.text
        for module in functions.blocks
        if isinstance(module, Details)
        for block in module.blocks
        if isinstance(block, Prose)
    }
    assert set(texts) == {name.rpartition(".")[2] for name in fold.state.artifacts.bodies}
    for name, (_, plan) in fold.state.artifacts.functions.items():
        text = texts[plan.name]
        assert f"{', '.join(plan.params)}) -> {plan.returns}`**" in text
        assert all(line in text for line in plan.contract.lines) and "cases against its contract" in text
        assert fold.state.artifacts.bodies[name].text in text
    assert any("of its claims: `test_" in text for text in texts.values())


def test_a_build_can_be_looked_at_at_any_moment(build: list[tuple[Event, int]]) -> None:
    fold = BuildFold()
    for place, (event, at) in enumerate(build):
        fold.apply(event, at)
        fold.announce(event)
        if place % 23 == 0:
            assert story_html(fold.story()) and fold.progress().phase
    assert fold.state.odd == 0, "every event had its place in the machine"


def test_a_build_says_where_it_stands_and_what_went_back(build: list[tuple[Event, int]]) -> None:
    until = next(i for i, (event, _) in enumerate(build) if isinstance(event, e.TestsGenerated))
    fold = folded(build[: until + 1])
    shown = story_html(fold.story())
    assert fold.progress().phase.startswith("Injection, select")
    assert "It went back from Composition Audit to Ignition 1 time." in shown


def test_what_rejected_each_attempt_at_a_function_stands_below_their_table(build: list[tuple[Event, int]]) -> None:
    chosen = next(i for i, (event, _) in enumerate(build) if isinstance(event, e.FunctionSelected))
    unit = cast("e.FunctionSelected", build[chosen][0]).unit
    fold = folded(build[: chosen + 1])
    assert "attempt 1 of the worker is written" in [seat.says for seat in fold.progress().seats]
    received = e.ImplementationReceived(unit=unit, attempt=1, tier="worker", bodies={})
    fold.apply(received, 0)
    says = next(seat.says for seat in fold.progress().seats if seat.name == unit)
    assert "against" in says and "clause" in says and "claim" in says
    failure = {"kind": "test", "what": ["ENSURES: result > 0 does not hold for total(-3)"]}
    failed = e.VerificationFailed(unit=unit, attempt=1, tier="worker", failure=failure, tests=12, next="retry")
    fold.apply(failed, 0)
    assert "after 12 cases: ENSURES: result > 0" in (fold.announce(failed) or "")
    for event in (received, e.VerificationPassed(unit=unit, attempt=2, tier="worker", bodies={}, keys={}, tests=340)):
        fold.apply(event, 0)
    shown = story_html(fold.story())
    assert "worker: test, attempt 1, after 12 cases: ENSURES: result &gt; 0" in shown and "total(-3)" in shown
    assert "then worker: accepted, after 340 cases" in shown


def test_a_run_that_goes_on_tells_the_journal_again_and_counts_nothing_twice(build: list[tuple[Event, int]]) -> None:
    own = [moment for moment in build if moment[0].type.startswith("criticality.")]
    cut = build[: len(build) // 2]
    fold = folded([*cut, (RunResumed(finished_calls=9), cut[-1][1]), *own])
    whole = folded(build)
    assert fold.state.units == whole.state.units and fold.state.back == whole.state.back
    assert len(fold.state.history) == len(whole.state.history)


def test_an_attempt_comes_back_from_its_event_as_it_was() -> None:
    told = [event for event, _ in logged("trial") if isinstance(event, AttemptTold)]
    assert len(told) == 6
    for event in told:
        assert attempt_event(attempt_of(event)) == event


@pytest.mark.parametrize(("origin", "way"), [("live", "assay runs resume "), ("demo", "assay demo")])
def test_a_trial_that_was_stopped_says_how_to_go_on(origin: str, way: str) -> None:
    fold, run = TrialFold(), RunTotals()
    events = logged("trial")
    until = next(i for i, (event, _) in enumerate(events) if isinstance(event, AttemptTold))
    for event, at in [*events[:until], (RunFinished(state="stopped", message="interrupted"), events[until][1])]:
        told = event.model_copy(update={"origin": origin}) if isinstance(event, RunStarted) else event
        fold.apply(told, at)
        run.apply(told, at)
    story = fold.story()
    assert story.facts[0].value == "6 of 6" and commands(standing_of(run))[0].startswith(way)
    assert "The trial was stopped: interrupted." in story_html(story)
