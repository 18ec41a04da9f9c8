"""Every protocol that a batch can be made of: what its jobs hold, and that they run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from assay.runners import runner
from tests.assay.debate.conftest import answer

from assay.batch.batches import enter, open_batches
from assay.batch.export import shown
from assay.batch.jobfile import load_job_file
from assay.batch.ledger import Claim, Ledger
from assay.batch.performing import opening
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import RunStarted, silent
from llm_runtime.messages import Reply, Request, Usage
from llm_runtime.settings import Settings

DEBATES = """
protocol = "crux"
[input]
path = "topics.csv"
[input.columns]
topic = "topic"
[engine]
personas = ["maud-tarrowby", "ilario-fennimast"]
[grid.debate]
aspects = [2, 3]
rooms_per_aspect = [1]
"""
PANEL = ["maud-tarrowby", "ilario-fennimast"]
PUZZLES = """
protocol = "ai_crucible"
repetitions = 2
[input]
path = "puzzles.csv"
[input.columns]
puzzle = "puzzle"
[grid]
model = ["ollama:a", "ollama:b"]
"""


def entered(folder: Path, job: str, table: str, rows: list[str]) -> tuple[Ledger, list[RunStarted]]:
    """The openings of all runs of a job file that is entered."""
    (folder / "job.toml").write_text(job)
    (folder / table).write_text("\n".join([table.removesuffix("s.csv"), *rows]) + "\n")
    database = open_batches(str(folder / "runs.db"))
    batch = enter(database, load_job_file(folder / "job.toml"), Settings())
    ledger = Ledger(database)
    claims: list[Claim] = ledger.claim(batch.batch_id, "anne", 1000, 60_000_000, 5)
    return ledger, [opening(each, batch.configurations[each.configuration], batch, Settings()) for each in claims]


async def test_a_debate_is_a_job_with_its_personas_whole(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="the extra debate is not installed")
    from assay import demo

    _, openings = entered(tmp_path, DEBATES, "topics.csv", ['"Should a city, of all things, let software decide?"'])
    assert [started.settings["engine"]["debate"]["aspects"] for started in openings] == [2, 3]
    assert shown(openings[0].settings)["personas"] == PANEL
    recorded = demo.load("debate")

    async def generate(request: Request) -> Reply:
        return Reply(answer(recorded.answers, str(request.label)), "m", "scripted", Usage(1, 1), cost=0)

    result = await runner("crux")(openings[0], generate, silent)
    assert result["state"] == "finished" and result["cards"]


def test_personas_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="personas"):
        entered(tmp_path, DEBATES.replace("personas = ", "people = "), "topics.csv", ["Why?"])
    with pytest.raises(Exception, match="no persona called nobody"):
        entered(tmp_path, DEBATES.replace("maud-tarrowby", "nobody"), "topics.csv", ["Why?"])


@pytest.mark.box
async def test_an_attempt_at_a_puzzle_is_a_job(tmp_path: Path) -> None:
    from ai_crucible.box.bwrap import CannotIsolate, probe

    try:
        await probe()
    except CannotIsolate as reason:
        pytest.skip(str(reason))
    _, openings = entered(tmp_path, PUZZLES, "puzzles.csv", ["off-by-one-total", "no-such-puzzle"])
    assert len(openings) == 4  # of one puzzle; the other is a dead letter
    said = iter(
        [
            'I look.\n```tool\n{"tool": "read_file", "arguments": {"path": "total.py"}}\n```',
            'Done.\n```tool\n{"tool": "submit", "arguments": {"summary": "nothing to do"}}\n```',
        ]
    )

    async def generate(request: Request) -> Reply:
        return Reply(next(said), "m", "scripted", Usage(1, 1), cost=0, latency_ms=1500)

    result = await runner("ai_crucible")(openings[0], generate, silent)
    assert (result["puzzle"], result["passed"], result["turns"], result["tool_calls"]) == (
        "off-by-one-total", False, 2, 2
    )  # fmt: skip
    changed = openings[0].model_copy(update={"task": {**openings[0].task, "digest": "0" * 64}})
    with pytest.raises(ConfigurationError, match="not what it was"):
        await runner("ai_crucible")(changed, generate, silent)


def test_a_puzzle_that_is_not_there_is_one_dead_letter(tmp_path: Path) -> None:
    ledger, openings = entered(tmp_path, PUZZLES, "puzzles.csv", ["off-by-one-total", "no-such-puzzle"])
    assert {started.task["puzzle"] for started in openings} == {"off-by-one-total"}
    [batch] = ledger.batches()
    dead = [result for result in ledger.results(batch.batch_id) if result.state == "dead"]
    assert len(dead) == 4 and all("no-such-puzzle" in result.message for result in dead)


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (PUZZLES + '[engine]\nmodels = ["a", "b"]\n', "one model"),
        (PUZZLES + "[engine]\narm = 1\n", "no such option"),
        (DEBATES.replace("aspects = [2, 3]", "aspects = [9]"), "aspects"),
        (DEBATES.replace('"crux"', '"criticality"'), "no batch can be made of criticality"),
    ],
)
def test_options_that_no_engine_has_are_refused(tmp_path: Path, job: str, says: str) -> None:
    (tmp_path / "job.toml").write_text(job)
    with pytest.raises(ConfigurationError, match=says):
        load_job_file(tmp_path / "job.toml")


def test_options_in_tables_of_their_own_are_a_grid_too(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(DEBATES)
    configurations = load_job_file(tmp_path / "job.toml").configurations()
    grid: list[dict[str, Any]] = [each["engine"]["debate"] for each in configurations]
    assert json.dumps(grid) == json.dumps(
        [{"aspects": 2, "rooms_per_aspect": 1}, {"aspects": 3, "rooms_per_aspect": 1}]
    )
