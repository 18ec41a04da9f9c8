"""Every protocol that a batch can be made of: what its jobs hold, and that they run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.assay.debate.conftest import answer

from assay.batch.batches import enter, open_batches
from assay.batch.configurations import combinations, run_of
from assay.batch.export import shown
from assay.batch.jobs import complete, seed_of
from assay.batch.ledger import Claim, Ledger
from assay.batch.loading import load_job_file
from assay.launch import Launcher, Outcome
from assay.registry import Prepared, find
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Generate, Reply, Request, Usage
from llm_runtime.settings import Settings
from llm_runtime.store import SqliteStore

DEBATES = """
run = "crux.debate"
[input]
path = "topics.csv"
[input.columns]
topic = "topic"
[options]
personas = ["maud-tarrowby", "ilario-fennimast"]
[grid]
aspects = [2, 3]
rooms_per_aspect = [1]
"""
COMPARISONS = """
run = "crux.compare"
[input]
path = "pairs.jsonl"
[input.columns]
authors = "authors"
topic = "topic"
[grid]
tokens_a_call = [400, 4000]
"""
PUZZLES = """
run = "ai_crucible.attempt"
repetitions = 2
[input]
path = "puzzles.csv"
[input.columns]
puzzle = "puzzle"
[grid.terms]
model = ["ollama:a", "ollama:b"]
"""
PROMPTS = """
run = "fire_circle.circle"
[input]
path = "prompts.csv"
[input.columns]
user = "prompt"
history = "before"
turn = "turn"
"""


def entered(folder: Path, job: str, table: str, rows: list[str]) -> tuple[Ledger, list[tuple[Claim, Prepared]]]:
    """The runs of all jobs of a job file that is entered."""
    (folder / "job.toml").write_text(job)
    (folder / table).write_text("\n".join(rows) + "\n")
    job_file = load_job_file(folder / "job.toml")
    database = open_batches(str(folder / "runs.db"))
    batch = enter(database, job_file, complete(job_file, list(combinations(job_file))))
    ledger = Ledger(database)
    claims = ledger.claim(batch.batch_id, "anne", 1000)
    return ledger, [
        (claim, run_of(batch.protocol, claim.task, batch.configurations[claim.configuration])) for claim in claims
    ]


async def carried_out(folder: Path, claim: Claim, run: Prepared, model: Generate) -> Outcome:
    store = SqliteStore(folder / "runs.db")
    try:
        running = await Launcher(store, Settings).start(run, seed=seed_of(claim.job_id), model=model)
        return await running.outcome()
    finally:
        store.close()


async def test_a_debate_is_a_job_with_its_personas_whole(tmp_path: Path) -> None:
    pytest.importorskip("bm25s", reason="the extra debate is not installed")
    from assay.demo import demo_answers

    ledger, runs = entered(tmp_path, DEBATES, "topics.csv", ["topic", '"Should a city let software decide?"'])
    options: list[dict[str, Any]] = [run.options.model_dump() for _, run in runs]
    assert [each["aspects"] for each in options] == [2, 3]
    assert [len(each["panel"]) for each in options] == [2, 2]
    [batch] = ledger.batches()
    assert [shown(each)["options"] for each in batch.configurations] == [
        {"personas": ["maud-tarrowby", "ilario-fennimast"], "aspects": aspects, "rooms_per_aspect": 1}
        for aspects in (2, 3)
    ]
    recorded = demo_answers("debate")

    async def generate(request: Request) -> Reply:
        return Reply(answer(recorded.answers, str(request.label)), "m", "scripted", Usage(1, 1), cost=0)

    outcome = await carried_out(tmp_path, *runs[0], generate)
    assert outcome.result["state"] == "finished" and outcome.result["cards"]


async def test_a_comparison_is_a_job_with_both_shelves_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bm25s", reason="the extra debate is not installed")
    from tests.crux.test_crux_compare import ANN, BEN, SCRIPT, corpus

    from crux.personas.store import PersonaStore, StoredCorpus

    monkeypatch.setenv("ASSAY_PEOPLE", str(tmp_path / "people"))
    for name, texts in (("Ann Ash", ANN), ("Ben Birch", BEN)):
        PersonaStore(tmp_path / "people").add_corpus(StoredCorpus(name=name, corpus=corpus(*texts)))
    row = json.dumps({"authors": ["Ann Ash", "ben-birch"], "topic": "tolls"})
    _, runs = entered(tmp_path, COMPARISONS, "pairs.jsonl", [row])
    assert [run.options.model_dump()["tokens_a_call"] for _, run in runs] == [400, 4000]

    async def generate(request: Request) -> Reply:
        script = SCRIPT[request.label.phase]
        text = str(script(request) if callable(script) else script)
        return Reply(text, "m", "scripted", Usage(1, 1), cost=0)

    for job in runs:
        outcome = await carried_out(tmp_path, *job, generate)
        assert outcome.state == "finished", outcome.error
        measures = {name: measure(outcome.result) for name, measure in job[1].hooks.measures.items()}
        assert measures == {"candidate cruxes": 1, "opposed claims": 1, "shared claims": 1}


def test_personas_that_are_not_there_are_refused(tmp_path: Path) -> None:
    rows = ["topic", "Why?"]
    with pytest.raises(ConfigurationError, match=r"job\.toml: no field is called people"):
        entered(tmp_path, DEBATES.replace("personas = ", "people_of = "), "topics.csv", rows)
    with pytest.raises(ConfigurationError, match="no persona called nobody"):
        entered(tmp_path, DEBATES.replace("maud-tarrowby", "nobody"), "topics.csv", rows)


@pytest.fixture
async def box() -> None:
    from ai_crucible.puzzle_box import CannotIsolate, probe

    try:
        await probe()
    except CannotIsolate as reason:
        pytest.skip(str(reason))


@pytest.mark.usefixtures("box")
async def test_an_attempt_at_a_puzzle_is_a_job(tmp_path: Path) -> None:
    _, runs = entered(tmp_path, PUZZLES, "puzzles.csv", ["puzzle", "off-by-one-total", "no-such-puzzle"])
    assert len(runs) == 4  # of one puzzle; the other is a dead letter
    replies = iter(
        [
            'I look.\n```tool\n{"tool": "read_file", "arguments": {"path": "total.py"}}\n```',
            'Done.\n```tool\n{"tool": "submit", "arguments": {"summary": "nothing to do"}}\n```',
        ]
    )

    async def generate(request: Request) -> Reply:
        return Reply(next(replies), "m", "scripted", Usage(1, 1), cost=0, latency_ms=1500)

    claim, run = runs[0]
    result = (await carried_out(tmp_path, claim, run, generate)).result
    assert (result["puzzle"], result["passed"], result["turns"], result["tool_calls"]) == (
        "off-by-one-total", False, 2, 2
    )  # fmt: skip
    changed = Prepared(run.run, run.task.model_copy(update={"digest": "0" * 64}), run.options)
    outcome = await carried_out(tmp_path, claim, changed, generate)
    assert isinstance(outcome.error, ConfigurationError) and "not what it was" in str(outcome.error)


@pytest.mark.usefixtures("box")
async def test_a_puzzle_that_is_not_there_is_one_dead_letter(tmp_path: Path) -> None:
    ledger, runs = entered(tmp_path, PUZZLES, "puzzles.csv", ["puzzle", "no-such-puzzle", "off-by-one-total"])
    assert {claim.task["puzzle"] for claim, _ in runs} == {"off-by-one-total"}
    [batch] = ledger.batches()
    dead = [result for result in ledger.results(batch.batch_id) if result.state == "dead"]
    assert len(dead) == 4
    assert all(result.message.startswith("puzzles.csv: row 1: no puzzle 'no-such-puzzle'") for result in dead)


def test_cells_are_read_as_their_fields_want(tmp_path: Path) -> None:
    before = '"[[""user"", ""Hello.""], [""assistant"", ""Hi.""]]"'
    rows = ["prompt,before,turn", f"Do it.,{before},2", f"Do it.,{before},3", "Do it.,[,", ",,"]
    ledger, runs = entered(tmp_path, PROMPTS, "prompts.csv", rows)
    said = [{"role": "user", "text": "Hello."}, {"role": "assistant", "text": "Hi."}]
    assert [claim.task for claim, _ in runs] == [{"user": "Do it.", "history": said, "turn": 2}]
    [batch] = ledger.batches()
    messages = [result.message for result in ledger.results(batch.batch_id) if result.state == "dead"]
    assert messages[0].startswith("prompts.csv: row 2: turn is 3, the history has 1")
    assert messages[1] == "prompts.csv: row 3: history: not JSON"
    assert "row 4: the prompt has no layers" in messages[2]


def test_a_table_without_a_row_that_can_be_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"topics\.csv: row 1: topic is empty"):
        entered(tmp_path, DEBATES, "topics.csv", ["topic", '" "'])
    with pytest.raises(ConfigurationError, match="no rows"):
        entered(tmp_path, DEBATES, "topics.csv", ["topic"])


@pytest.mark.parametrize(
    ("job", "refusal"),
    [
        (PUZZLES + '[engine]\nmodels = ["a", "b"]\n', "one model"),
        (PUZZLES + "[options]\narm = 1\n", "no field is called arm; there are: options.solver"),
        (DEBATES.replace("aspects = [2, 3]", "aspects = [9]"), r"job\.toml: options\.aspects"),
        (DEBATES.replace("aspects = [2, 3]", '"debate.aspects" = [9]'), r"job\.toml: options\.aspects"),
        (DEBATES + '"terms.max_calls" = [-1]\n', r"job\.toml: terms\.max_calls: Input should be greater"),
        (DEBATES + "[terms]\nbudget = -1\n", r"job\.toml: terms\.budget"),
        (DEBATES.replace("crux.debate", "criticality"), "no batch can be made of criticality"),
        (DEBATES.replace("crux.debate", "crux.seance"), "no kind of run called crux.seance"),
        (DEBATES.replace('run = "crux.debate"', ""), "name one kind of run"),
        (DEBATES + '[terms]\nseats = 3\n', r"terms\.seats: Input should be a table"),
        (PUZZLES + '[terms.seats]\nred_team = "a"\n', r"terms\.seats: .* has no red_team"),
        (PROMPTS.replace("turn =", "source ="), "no field source; it has: system, application, user"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_sentence(tmp_path: Path, job: str, refusal: str) -> None:
    (tmp_path / "job.toml").write_text(job)
    with pytest.raises(ConfigurationError, match=refusal):
        load_job_file(tmp_path / "job.toml")


@pytest.mark.parametrize(
    "grid", ["[grid]\naspects = [2, 3]", "[grid.debate]\naspects = [2, 3]", '[grid]\n"options.aspects" = [2, 3]']
)
def test_options_have_their_names_and_their_older_ones(tmp_path: Path, grid: str) -> None:
    head = DEBATES.partition("[grid]")[0]
    (tmp_path / "job.toml").write_text(f"{head}{grid}\n")
    found = [each.data["options"]["aspects"] for each in combinations(load_job_file(tmp_path / "job.toml"))]
    assert json.dumps(found) == "[2, 3]"


def test_every_kind_of_run_has_its_measures() -> None:
    from assay.hooks import hooks_of

    assert all(hooks_of(find(kind)).measures for kind in ("crucible", "fire_circle", "crux", "ai_crucible"))
