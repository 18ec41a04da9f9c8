"""What a batch came to, as a report, on the screen, and in the browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.batch.ledger import Batch, BatchStatus, Result
from assay.batch.progress import BatchProgress
from assay.batch.report import batch_story
from assay.report.html import story_html
from assay.report.markdown import story_markdown
from assay.report.story import Story
from llm_runtime.wrappers.accounts import Account, Caps, Spend


def batch(protocol: str, *engines: dict[str, Any]) -> Batch:
    configurations = [{"engine": engine, "model": None, "max_tokens": None} for engine in engines]
    return Batch("autumn", "tagtag", "Questions of autumn", protocol, "c", configurations, {}, "open")


def result(row: int, data: dict[str, Any] | None, configuration: int = 0, repetition: int = 0) -> Result:
    state, error = ("done", "") if data is not None else ("dead", "ServerFault")
    text = None if data is None else json.dumps(data)
    message = "" if data is not None else "<b>down</b>"
    return Result(f"{row}", row, configuration, repetition, state, "{}", text, error, message, 0, "run", 0)


def progress(of: Batch, done: int, failed: int = 0) -> BatchProgress:
    kinds = {"ServerFault": failed} if failed else {}
    purse = Account(Caps(cost=5_000_000), Spend(1_234_567, 9_000, 40), Spend())
    return BatchProgress(of, BatchStatus({"done": done, "dead": failed}, kinds, 0.0), purse, None)


def written(story: Story) -> str:
    """A story as Markdown, without the marks that keep its texts from being Markdown."""
    return re.sub(r"[ ]+", " ", story_markdown(story).replace("\\", ""))


def test_shares_and_means_stand_by_configuration_with_their_intervals() -> None:
    of = batch("crucible", {"delta": "judge"}, {"delta": "similarity"})
    results = [
        result(row, {"early_exit": row <= 3 and number == 0, "loops_executed": 2 + number}, number)
        for row in range(1, 11)
        for number in (0, 1)
    ]
    text = written(batch_story(progress(of, 20), results))
    assert "| judge | 10 | 30% (11% to 60%) | 2 (2 to 2) |" in text
    assert "| similarity | 10 | 0% (0% to 28%) | 3 (3 to 3) |" in text
    assert "20 of 20" in text and "$1.23 of $5.00" in text


def test_configurations_are_called_by_what_the_job_file_varies() -> None:
    of = replace(
        batch("crucible.council"),
        configurations=[
            {"options": {"delta": delta}, "terms": {"model": "m", "max_calls": calls}, "added": {"panel": [delta]}}
            for delta, calls in (("judge", 2), ("similarity", 3))
        ],
    )
    results = [result(1, {"early_exit": True, "loops_executed": 2}, number) for number in (0, 1)]
    story = batch_story(progress(of, 2), results)
    assert "| delta judge, max_calls 2 | 1 |" in written(story)
    assert "Crucible" in story.subtitle


def test_a_trial_shows_each_puzzle_and_leaves_anchors_out_of_the_rate() -> None:
    of = batch("ai_crucible", {})
    attempt = {"turns": 2, "tool_calls": 1}
    results = [
        result(1, {"puzzle": "hard", "passed": n < 2, "anchor": None, **attempt}, repetition=n) for n in range(4)
    ] + [result(2, {"puzzle": "easy", "passed": True, "anchor": "trivial", **attempt})]
    text = written(batch_story(progress(of, 5), results))
    assert "50% (15% to 85%)" in text
    assert "| hard | 2 of 4 |" in text and "| easy | 1 of 1 |" in text


def test_kinds_are_told_apart_and_failures_named_with_their_rows() -> None:
    of = batch("fire_circle", {"mode": "single"})
    results = [result(n, {"exchange_type": "extractive" if n < 3 else "reciprocal", "truth": 0.5}) for n in range(4)]
    story = batch_story(progress(of, 4, 2), [*results, result(7, None), result(9, None)])
    text = written(story)
    assert "extractive 75%, reciprocal 25%" in text
    assert "| ServerFault | 7, 9 |" in text
    assert story.tone == "warning"
    assert "<b>down</b>" not in story_html(story)


def test_a_batch_without_results_has_a_report() -> None:
    assert "0 of 0" in written(batch_story(progress(batch("crux", {}), 0), []))


async def test_the_browser_shows_batches_and_one_of_them(tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the extra web is not installed")
    from starlette.requests import Request

    from assay.batch.batches import open_batches
    from assay.batch.jobs import Job
    from assay.batch.ledger import Ledger
    from assay.batch.purses import Purses
    from assay.web.listing import list_batches, show_batch
    from llm_runtime.errors import RunNotFound
    from llm_runtime.store import SqliteStore

    store = SqliteStore(tmp_path / "runs.db")

    class State:
        site = type("Site", (), {"store": store})()

    def asked(path: str, **parameters: str) -> Request:
        app = type("App", (), {"state": State})()
        return Request(
            {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b"", "app": app,
             "path_params": parameters}
        )  # fmt: skip

    assert b"No batches yet" in (await list_batches(asked("/batches"))).body
    database = open_batches(str(tmp_path / "runs.db"))
    ledger = Ledger(database)
    made = ledger.create(batch("crucible", {}))
    Purses(database).open("autumn", Caps())
    ledger.load(made, [Job("a", 1, 0, 0, "{}"), Job("b", 2, 0, 0, "{}", "no query")])
    ledger.set_state("autumn", "open")
    assert b"Questions of autumn" in (await list_batches(asked("/batches"))).body
    page = bytes((await show_batch(asked("/batches/autumn", batch_id="autumn"))).body).decode()
    assert "0 of 2" in page and "no query" in page
    told = json.loads(bytes((await show_batch(asked("/batches/autumn.json", batch_id="autumn"))).body))
    assert (told["jobs"], told["failed"], told["story"]["title"]) == (2, {"BrokenInput": 1}, "Questions of autumn")
    with pytest.raises(RunNotFound, match="no batch"):
        await show_batch(asked("/batches/none", batch_id="none"))
    database.close()
    store.close()
