"""The recorded trial: one solver solves, one finds nothing, one runs out; and hostile solvers leave only text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.lazily import needs

from ai_crucible.workshop import Workshop
from assay.protocols.ai_crucible.commands.trying import records_of_run
from assay.protocols.ai_crucible.demo import load
from assay.protocols.ai_crucible.inspect.trials import Step, scripted_model
from assay.protocols.ai_crucible.report import read_trials, trials_story
from assay.report.html import story_html
from assay.report.markdown import story_markdown
from llm_runtime.store import open_store

needs("inspect_ai", reason="Inspect AI is not installed; make test installs it")

Assay = Any

pytestmark = [
    pytest.mark.usefixtures("boxes"),
    # Inspect leaves sockets and loops of its own to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import gc

        gc.collect()


async def test_the_recorded_trial_shows_what_it_says(assay: Assay, tmp_path: Path) -> None:
    done = await assay("demo", "trial", "--speed", "0", "-q", "--store", "runs.db")
    assert done.code == 0, done.err
    assert "**2 of 4 attempts passed**" in done.out and "written by hand" in done.err
    page = (tmp_path / "out" / "demo-trial.html").read_text(encoding="utf-8")
    assert "qmzvtkhwpx" not in page and "submitted" in page and "tool budget used up" in page
    with closing(open_store(tmp_path / "runs.db")) as store:
        (summary,) = store.runs()
        assert (summary.protocol, summary.state, summary.origin) == ("ai_crucible.trial", "finished", "demo")
        records = records_of_run(store, summary.run_id)
    assert records is not None and records.seal.verification.ok
    outcomes = {attempt.log.record.puzzle: attempt.log.record for attempt in records.attempts}
    assert {name: record.passed for name, record in outcomes.items()} == {
        "week-rollover": True,
        "sealed-word": False,
        "genes-and-dates": False,
    }
    assert outcomes["genes-and-dates"].terminated_by == "tool_budget"
    reached = [a for a in records.attempts if a.log.record.puzzle == "sealed-word"]
    results = [str(e.data["result"]) for a in reached for e in a.log.events if e.kind == "tool_call"]
    assert len(results) == 14 and not any("qmzvtkhwpx" in result for result in results)
    assert all(attempt.entry and attempt.entry.sample_digest == attempt.log.digest for attempt in records.attempts)


async def test_where_there_is_no_box_the_log_that_was_played_before_is_shown(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = await assay("demo", "trial", "-q", "--store", "runs.db", PATH=str(tmp_path / "empty"))
    assert done.code == 0 and "bubblewrap" in done.err.splitlines()[0], done.err
    assert "week-rollover" in (tmp_path / "out" / "demo-trial.html").read_text(encoding="utf-8")
    with closing(open_store(tmp_path / "runs.db")) as store:
        assert [summary.origin for summary in store.runs()] == ["demo"]


def test_each_recorded_step_is_a_call_that_the_tools_take() -> None:
    from ai_crucible.tools import faults
    from llm_runtime.tool_calls import ToolCall

    for puzzle, steps in load().steps.items():
        for name, arguments in steps:
            assert faults(ToolCall("1", name, arguments)) == "", puzzle


HOSTILE = [
    "</p></details><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[click](javascript:alert(1)) ![pixel](https://evil.test/p.png)",
    "```\n</code></pre><script>alert(1)</script>\n````",
    "</style></title><script>alert(1)</script>",
    "\x1b[2J\x1b]0;title\x07\u202egnp.exe",
    "{{ 7*7 }} {x.__class__}",
]


def test_what_a_hostile_solver_writes_is_only_text_in_the_report(tmp_path: Path) -> None:
    def script(task: str, turn: int) -> Step:
        if turn < len(HOSTILE):
            text = HOSTILE[turn]
            return (
                ("write_file", {"path": f"{turn}.txt", "content": text})
                if turn % 2
                else ("exec", {"argv": ["echo", text]})
            )
        return ("submit", {"summary": HOSTILE[0], "novelty": HOSTILE[1]})

    shop = Workshop.at(tmp_path / "shop", anchors=tmp_path / "anchors")
    shop.run(["sealed-word"], model=scripted_model("hostile", script), k=1)
    story = trials_story(read_trials(shop), HOSTILE[0])
    page = story_html(story)
    for forbidden in ("<script", "<img", 'href="javascript', "\x1b", "\u202e"):
        assert forbidden not in page
    assert "alert(1)" in page  # told, and harmless
    markdown = story_markdown(story)
    assert "\x1b" not in markdown and "\u202e" not in markdown
