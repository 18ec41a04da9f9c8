"""Outputs side by side: what differs, what failed, what people say of each and how far they agree."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from assay.batch.batches import open_batches
from assay.batch.jobs import Job
from assay.batch.ledger import Batch, Ledger
from assay.batch.purses import Purses
from assay.report.matrix import Cell, Matrix, MatrixRow, agreement, column_sums
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.store import RunStore
from llm_runtime.wrappers.accounts import Caps

ANSWERS = (("Use it.", "Use it."), ("Wait.", "Leave it."))


def cell(*labels: tuple[str, str], text: str = "x") -> Cell:
    return Cell("r", "", text, labels=dict(labels))


def matrix_of(*cells: Cell) -> Matrix:
    return Matrix(("a",), tuple(MatrixRow("t", (each,)) for each in cells))


def test_agreement_is_of_what_several_labelled_and_beyond_chance() -> None:
    both = [cell(("ada", "right"), ("bob", "right")), cell(("ada", "wrong"), ("bob", "wrong")), cell(("ada", "right"))]
    agreed = agreement(matrix_of(*both))
    assert (agreed.people, agreed.shared, agreed.same, agreed.alpha) == (("ada", "bob"), 2, 2, 1.0)
    apart = agreement(matrix_of(cell(("ada", "right"), ("bob", "wrong")), cell(("ada", "wrong"), ("bob", "right"))))
    assert apart.same == 0 and apart.alpha is not None and apart.alpha < 0
    assert agreement(matrix_of(cell())).alpha is None
    assert column_sums(matrix_of(*both))[0].labels == {"right": 3, "wrong": 2}


@pytest.fixture
def batch(store: RunStore, tmp_path: Any) -> Callable[[], None]:
    """Two questions in two configurations, three of them answered and one dead, beside the store."""

    def make() -> None:
        database = open_batches(str(tmp_path / "runs.db"))
        ledger = Ledger(database)
        models = [{"terms": {"model": name}} for name in ("one", "two")]
        made = ledger.create(Batch("b-1", "abcdef", "Both", "crucible.council", "", models, {}, "loading"))
        Purses(database).open("b-1", Caps())
        jobs = [Job(f"job{row}{at}", row, at, 0, json.dumps({"query": f"Q{row}?"})) for row in (0, 1) for at in (0, 1)]
        ledger.load(made, jobs)
        ledger.set_state("b-1", "open")
        for row, answers in enumerate(ANSWERS):
            for at, answer in enumerate(answers):
                run_id = f"abcdef-job{row}{at}-1"
                log = store.start(
                    RunStarted(run_id=run_id, protocol="crucible.council", title="Q?", task={}, settings={}, seed=1)
                )
                result = {"final_response": answer}
                log.emit(RunFinished(state="finished", result=result))
                log.close()
                done = "UPDATE jobs SET state = 'done', due_at = NULL, result = ?, run_id = ?, cost = 7 "
                database.execute(f"{done}WHERE job_id = ?", (json.dumps(result), run_id, f"job{row}{at}"))
        database.close()

    return make


async def test_a_matrix_shows_filters_labels_and_exports(web: Any, batch: Callable[[], None]) -> None:
    batch()
    _, page = await web.get("/batches/b-1/matrix")
    assert "Q0?" in page and page.count("Use it.") == 2 and ">one<" in page
    _, page = await web.get("/batches/b-1/matrix?show=different&find=leave")
    assert "Q1?" in page and "Q0?" not in page and "1 row of 2" in page
    for who, label in (("ada", "right"), ("bob", "wrong")):
        code, _ = await web.post("/runs/abcdef-job00-1/notes", who=who, label=label, back="/batches/b-1/matrix")
        assert code == 200
    _, page = await web.get("/batches/b-1/matrix?show=disputed&who=bob")
    assert "Q0?" in page and "Q1?" not in page and "0 of 1 that several gave are the same" in page
    status, table = await web.get("/batches/b-1/matrix.csv")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert status == 200 and len(rows) == 4 and json.loads(rows[0]["labels"]) == {"ada": "right", "bob": "wrong"}
    _, lines = await web.get("/batches/b-1/matrix.jsonl")
    assert [json.loads(line)["output"] for line in lines.splitlines()] == ["Use it.", "Use it.", "Wait.", "Leave it."]
    for wrong in ("/batches/nobody/matrix", "/batches/b-1/matrix.exe"):
        assert (await web.get(wrong))[0] == 404
    assert (await web.get("/batches/b-1/matrix?show=all"))[0] == 400


async def test_the_jobs_of_a_batch_are_folded_under_it_in_the_list(web: Any, batch: Callable[[], None]) -> None:
    batch()
    _, page = await web.get("/runs")
    assert 'href="/batches/b-1"' in page and "abcdef-job00-1" not in page
    _, page = await web.get("/runs?search=abcdef-")
    assert "abcdef-job00-1" in page


async def test_a_label_leaves_the_same_persons_note(web: Any, council: Any) -> None:
    run_id = await council()
    await web.post(f"/runs/{run_id}/notes", who="ada", note="Too long.", rating="4")
    await web.post(f"/runs/{run_id}/notes", who="ada", label="right")
    await web.post(f"/runs/{run_id}/tags", add="keep good")
    _, page = await web.get(f"/runs/{run_id}")
    assert "Too long." in page and "4 of 5" in page and ">right<" in page and 'href="/runs?tag=keep"' in page
    runs = (await web.json("/runs?tag=good"))["runs"]
    assert [(run["run_id"], run["tags"], run["rating"]) for run in runs] == [(run_id, ["good", "keep"], 4)]
    code, answer = await web.post(f"/runs/{run_id}/notes", rating="9")
    assert code == 400 and "1 to 5" in answer["message"]
