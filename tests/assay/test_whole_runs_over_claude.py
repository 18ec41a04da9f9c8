"""Whole runs whose every call is a process of the real ``claude``: a council, a circle, a comparison of two texts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from tests.assay.circle.conftest import ATTACK, MODELS, judgement
from tests.assay.debate.test_debate_compare import answering as reader
from tests.assay.web.conftest import council_answer
from tests.commands import Commands, bare_world
from tests.crux.test_crux_compare import ANN, BEN
from tests.through_claude import MODEL, answering, real

from llm_runtime.testing import Received

pytestmark = real
BOUND = ("--max-calls", "60", "--json")


async def test_a_council_is_asked_and_played_again(commands: Commands, tmp_path: Path) -> None:
    async with answering(council_answer) as (server, reached):
        world = bare_world(tmp_path, **reached)
        done = await commands.run("ask", "Which database?", "--model", MODEL, *BOUND, cwd=tmp_path, env=world)
    assert done.code == 0, done.err
    assert "Use SQLite" in done.json["result"]["answer"] and len(server.asked) > 5
    again = await commands.run("runs", "replay", done.json["run_id"], cwd=tmp_path, env=world)
    assert again.code == 0, again.err


async def test_a_circle_judges_a_prompt(commands: Commands, tmp_path: Path) -> None:
    def judge(received: Received) -> str:
        return judgement(dataclasses.replace(received, payload={**received.payload, "model": MODELS.split(",")[1]}))

    (tmp_path / "attack.json").write_text(json.dumps(ATTACK))
    seats = "agent:claude#opus,agent:claude#sonnet,agent:claude#haiku"
    async with answering(judge) as (server, reached):
        world = bare_world(tmp_path, **reached)
        done = await commands.run(
            "circle", "evaluate", "attack.json", "--models", seats, *BOUND, cwd=tmp_path, env=world
        )
    assert done.code in (0, 1), done.err
    assert done.json["state"] == "finished" and len({body["model"] for body in server.asked}) == 3


async def test_two_texts_are_compared(commands: Commands, tmp_path: Path) -> None:
    pytest.importorskip("bm25s", reason="a comparison needs the extra 'debate'")
    async with answering(reader) as (server, reached):
        world = bare_world(tmp_path, **reached)
        for name, texts in (("Ann Ash", ANN), ("Ben Birch", BEN)):
            (tmp_path / name).mkdir()
            for number, text in enumerate(texts, start=1):
                (tmp_path / name / f"2020-01-0{number}-t{number}.md").write_text(text)
            line = ("debate", "personas", "import", name, "--name", name)
            assert (await commands.run(*line, cwd=tmp_path, env=world)).code == 0
        line = ("debate", "compare", "Ann Ash", "Ben Birch", "--seed", "7", "--model", MODEL, *BOUND)
        done = await commands.run(*line, cwd=tmp_path, env=world)
    assert done.code == 0, done.err
    assert len(done.json["result"]["opposed"]) == 1 and len(server.asked) >= 4
