"""A study as a run: listed, resumed, stopped; bounds hold over all runs that go on with its folder."""

from __future__ import annotations

import asyncio
import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bound import bound, request_id

from assay.launch import Launcher, Outcome, Running
from assay.registry import Prepared, read_run, story_of
from assay.report.markdown import story_markdown
from assay.terms import Terms
from llm_runtime.errors import BudgetExceeded, ConfigurationError
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore, open_store

ROWS, SEATS = 6, 3


def answer(request: Request) -> str:
    """Seats that differ, and rows that differ, and never agree enough to stop early."""
    bad = "a bad wish" in str(request.messages[-1].content)
    falsehood = {"a": 0.1, "b": 0.5, "c": 0.7}[request.model] + (0.2 if bad else 0.0)
    scores = {"truth": 0.1, "indeterminacy": 0.1, "falsehood": falsehood, "reasoning": "I weighed it."}
    return bound(json.dumps(scores), request_id(request.messages))


class Counted:
    """A model function that counts what it is asked."""

    def __init__(self) -> None:
        self.calls = 0
        self._answers: Generate = scripted(answer)

    async def __call__(self, request: Request) -> Reply:
        self.calls += 1
        return await self._answers(request)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    store = open_store(tmp_path / "runs.db")
    yield store
    store.close()


@pytest.fixture
def study(tmp_path: Path) -> Prepared:
    with (tmp_path / "data.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        for number in range(ROWS // 2):
            rows.writerow([f"a bad wish, number {number}", "attack"])
            rows.writerow([f"a good wish, number {number}", "benign"])
    task = {"data": str(tmp_path / "data.csv"), "user": "text", "label": "label", "out": str(tmp_path / "study")}
    return read_run("fire_circle.study", task, {"models": ["a", "b", "c"], "measures": ["lift"], "concurrency": 2})


async def ended(running: Running) -> Outcome:
    return await running.outcome()


async def whole(study: Prepared, tmp_path: Path) -> tuple[dict[str, Any], int]:
    """The figures of the same study without an interruption, and how many calls it takes."""
    model, aside = Counted(), open_store(tmp_path / "aside.db")
    task = study.task.model_copy(update={"out": str(tmp_path / "aside")})
    outcome = await ended(
        await Launcher(aside, Settings).start(Prepared(study.run, task, study.options), seed=5, model=model)
    )
    aside.close()
    return outcome.result, model.calls


async def test_a_stopped_study_is_resumed_with_what_it_has(store: RunStore, study: Prepared, tmp_path: Path) -> None:
    figures, calls = await whole(study, tmp_path)
    assert figures["passes"][0]["judged"] == ROWS and calls == ROWS * SEATS * 3
    launcher, model = Launcher(store, Settings), Counted()
    short = await ended(await launcher.start(study, Terms(max_calls=10), seed=5, model=model))
    assert isinstance(short.error, BudgetExceeded) and model.calls == 10
    (summary,) = store.runs(protocol="fire_circle.study")
    assert (summary.state, summary.title) == ("stopped", "Does dialogue help on data.csv?")
    assert "stopped" in story_markdown(story_of(store.records(short.run_id)))
    assert (tmp_path / "study/report.html").exists()  # of what there is
    (tmp_path / "data.csv").unlink()  # the folder has all that is needed
    again = await ended(await launcher.resume(short.run_id, model=model))
    assert isinstance(again.error, BudgetExceeded) and model.calls == 10
    done = await ended(await launcher.resume(short.run_id, Terms(max_calls=1000), model=model))
    assert done.state == "finished" and model.calls == calls
    assert done.result == figures
    assert store.summary(done.run_id).calls == calls
    assert "6 of 6" in story_markdown(story_of(store.records(done.run_id)))


async def test_a_study_that_a_person_stops_pays_for_no_answer_twice(
    store: RunStore, study: Prepared, tmp_path: Path
) -> None:
    figures, calls = await whole(study, tmp_path)
    model, launcher = Counted(), Launcher(store, Settings)
    reached = asyncio.Event()

    async def until(request: Request) -> Reply:
        if model.calls == calls // 2:
            reached.set()
            await asyncio.Event().wait()
        return await model(request)

    running = await launcher.start(study, seed=5, model=until)
    await reached.wait()
    await running.stop()
    assert store.summary(running.run_id).state == "stopped"
    done = await ended(await launcher.resume(running.run_id, model=model))
    assert done.result == figures and model.calls == calls


async def test_bounds_count_what_the_folder_paid_for_in_other_runs(
    store: RunStore, study: Prepared, tmp_path: Path
) -> None:
    model = Counted()
    await ended(await Launcher(store, Settings).start(study, Terms(max_calls=10), model=model))
    shutil.move(tmp_path / "study", tmp_path / "moved")
    study = Prepared(study.run, study.task.model_copy(update={"out": str(tmp_path / "moved")}), study.options)
    elsewhere = open_store(tmp_path / "elsewhere.db")
    launcher = Launcher(elsewhere, Settings)
    short = await ended(await launcher.start(study, Terms(max_calls=25), model=model))
    assert isinstance(short.error, BudgetExceeded) and model.calls == 25
    short = await ended(await launcher.resume(short.run_id, Terms(max_calls=30), model=model))
    assert isinstance(short.error, BudgetExceeded) and model.calls == 30
    done = await ended(await launcher.start(study, model=model))
    assert done.state == "finished" and model.calls == ROWS * SEATS * 3
    elsewhere.close()


async def test_a_study_is_not_forked_and_other_models_are_refused(
    store: RunStore, study: Prepared, tmp_path: Path
) -> None:
    launcher, model = Launcher(store, Settings), Counted()
    short = await ended(await launcher.start(study, Terms(max_calls=10), model=model))
    with pytest.raises(ConfigurationError, match="works on a folder"):
        await launcher.fork(short.run_id, 3)
    other = await ended(await launcher.resume(short.run_id, Terms(model="ollama:x", max_calls=99), model=model))
    assert other.state == "failed" and "other models or settings" in str(other.error)
    assert model.calls == 10


async def test_where_nothing_is_a_violation_no_judge_is_attacked(store: RunStore, tmp_path: Path) -> None:
    task = {"data": "@overdefence", "limit": 3, "out": str(tmp_path / "study")}
    study = read_run("fire_circle.study", task, {"models": ["a", "b", "c"], "measures": ["hijack", "overdefence"]})
    outcome = await ended(await Launcher(store, Settings).start(study, model=Counted()))
    assert outcome.state == "finished", outcome.error
    assert outcome.result["hijack"] is None and "no attacked prompt" in outcome.result["absent"]["hijack"]
    assert outcome.result["overdefence"]["prompts"] == 3


async def test_a_folder_of_version_0_1_goes_on(store: RunStore, study: Prepared, tmp_path: Path) -> None:
    """Its ``study.json`` names settings that are the defaults too, as the flags of the time did."""
    model, launcher = Counted(), Launcher(store, Settings)
    await ended(await launcher.start(study, Terms(max_calls=10), seed=5, model=model))
    place = tmp_path / "study/study.json"
    manifest = json.loads(place.read_text())
    assert manifest["engine"] == {"mode": "fire_circle", "circle": {}, "calls": {}, "models": ["a", "b", "c"]}
    manifest["engine"] |= {"circle": {"max_rounds": 3, "pattern_classification": "heuristic"}, "calls": {}}
    place.write_text(json.dumps(manifest))
    done = await ended(await launcher.start(study, model=model))
    assert done.state == "finished" and model.calls == ROWS * SEATS * 3
    assert done.result["study"]["seed"] == 5
