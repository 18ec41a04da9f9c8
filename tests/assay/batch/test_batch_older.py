"""Job files and batches of before version 0.2: the same jobs under the same ids, gone on with where they stood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.assay.batch.batch_shell import CALLS, JOB, Shell, batch_of

from assay.batch.batches import enter, open_batches
from assay.batch.configurations import combinations
from assay.batch.jobs import complete, seed_of
from assay.batch.ledger import Batch, Ledger, Result
from assay.batch.loading import load_job_file
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.settings import Settings
from llm_runtime.store import SqliteStore
from llm_runtime.testing import LoopbackServer

COUNCILS = """
protocol = "crucible"
repetitions = 2
[input]
path = "table.csv"
[input.columns]
query = "question"
context = "about"
[engine]
triage_model = "a/b"
[grid]
delta = ["judge", "similarity"]
max_tokens = [300, 777]
"""
QUESTIONS = 'question,about\nWhy?,\n"How, then?","{""town"": ""Lee""}"\n,\nWhat?,[1]\nWho?,{\nx,y,z\n'
DEBATES = """
protocol = "crux"
[input]
path = "table.csv"
[input.columns]
topic = "topic"
[engine]
personas = ["maud-tarrowby", "ilario-fennimast"]
models = ["m/a", "m/b"]
[grid.debate]
aspects = [2, 3]
rooms_per_aspect = [1]
"""
CIRCLES = """
protocol = "fire_circle"
model = "ollama:x"
[input]
path = "table.jsonl"
[input.columns]
user = "u"
turn = "t"
history = "h"
[engine]
mode = "fire_circle"
models = ["a/b", "c/d", "e/f"]
[engine.circle]
max_rounds = 2
[engine.calls]
temperature = 0.5
"""
PROMPTS = (
    '{"u": "Do it.", "t": 2, "h": [["user", "Hello."], ["assistant", "Hi."]]}\n'
    '{"u": "Do it."}\n{"u": "", "t": 1}\n{"u": 5}\n'
)
PUZZLES = """
protocol = "ai_crucible"
[input]
path = "table.csv"
[input.columns]
puzzle = "p"
[grid]
model = ["ollama:a", "ollama:b"]
models = [["c/d"]]
"""


def entered(folder: Path, job: str, table: str) -> tuple[Batch, list[Result]]:
    (folder / "job.toml").write_text(job)
    (folder / ("table.jsonl" if "table.jsonl" in job else "table.csv")).write_text(table)
    job_file = load_job_file(folder / "job.toml")
    database = open_batches(str(folder / "runs.db"))
    batch = enter(database, job_file, complete(job_file, list(combinations(job_file, Settings()))))
    results = list(Ledger(database).results(batch.batch_id))
    database.close()
    return batch, results


@pytest.mark.parametrize(
    ("job", "table", "contents", "first"),
    [
        (
            COUNCILS,
            QUESTIONS,
            "02a01710cee4f8136c6bcac0aa98f337b2ce9b9ee0b86aa6f795b87a983710ad",
            "0b8d59f14f32f2400ba15a68e8f783e8dc3d7578da2da8d1a2dd5d662fed270f",
        ),
        (
            DEBATES,
            'topic\n"Should  a city\n decide?"\n" "\n',
            # Another library counts the shipped authors' sentences now, and that they are invented is part of it.
            "8285778dda63e5869299c3fd6ef80f078f6814ff0fc48f6e5c08e06ede53b879",
            "dd6244f1b11bd37b8f4314d606f604dfe0bfa948c9267023d8f0639e08260bbf",
        ),
        (
            CIRCLES,
            PROMPTS,
            "4dd6cd06613ae953d2c4cb42782426eed42d1ac7ba20e36bfd387f1d94fd08a7",
            "85ab27e3b283bedb15159790b188ea6a32da562a64bd9beaa22cbc1f993799a1",
        ),
        pytest.param(
            PUZZLES,
            "p\noff-by-one-total\nno-such-puzzle\n\n",
            # The statement says what the sum is below 1 now, and a puzzle's digest is part of the ids.
            "00b5f15c4381fab4c207f88d5028e94017e87a7f7365280c4fb2ed78937d3767",
            "5df45bafe5bacd95ec00d12dc64898c8c2458ac9cb19682e0effc37d8a6a3d8f",
            marks=pytest.mark.box,
        ),
    ],
    ids=["council", "debate", "circle", "attempt"],
)
def test_jobs_keep_the_ids_that_they_had(tmp_path: Path, job: str, table: str, contents: str, first: str) -> None:
    """Broken rows among them: the ids in order make the batch's own."""
    batch, results = entered(tmp_path, job, table)
    assert (results[0].job_id, batch.contents, batch.batch_id) == (first, contents, f"batch-{contents[:12]}")


async def test_a_batch_that_an_older_version_left_is_gone_on_with(shell: Shell, server: LoopbackServer) -> None:
    questions = ["Why blue?", "Why red?"]
    job = JOB.replace('run = "crucible.council"', 'protocol = "crucible"')
    shell.write(job + "[budget]\ncalls = 20\n", questions)
    _, err = await shell("run", "job.toml", code=3)
    assert len(server.requests) == 20
    _as_older_versions_wrote(shell.folder / "data" / "runs.db")
    shell.write(job + "[budget]\ncalls = 100\n", questions)
    _, later = await shell("run", "job.toml")
    assert batch_of(later) == batch_of(err) and "4 of 4 done" in later
    # What 20 calls had answered was not asked again; such a council has no clerk.
    assert len(server.requests) == 4 * (CALLS - 1)


def _as_older_versions_wrote(path: Path) -> None:
    """Write each run anew as logs had it before version 0.2."""
    store, older = SqliteStore(path), SqliteStore(path.with_name("older.db"))
    runs = list(store.runs())
    assert runs
    for run in runs:
        started, *events = [event for _, event in store.events(run.run_id)]
        assert isinstance(started, RunStarted)
        settings: dict[str, Any] = {"engine": {"delta": "similarity"}, "models": {"model": None, "seats": {}}}
        written = {"protocol": "crucible", "settings": settings, "version": "0.1.0", "behaviours": {}}
        log = older.start(started.model_copy(update=written))
        for event in events:
            if not isinstance(event, RunFinished):
                log.emit(event)
        log.close()
    store.close()
    older.close()
    for file in path.parent.glob("runs.db*"):
        file.unlink()
    path.with_name("older.db").rename(path)


def test_the_same_job_has_the_same_seed(tmp_path: Path) -> None:
    _, results = entered(tmp_path, COUNCILS, QUESTIONS)
    assert seed_of(results[0].job_id) == 0x0B8D59F14F32F
