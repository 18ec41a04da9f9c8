"""A study is listed, shown and gone on with in the browser like any other run, and started elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.bound import bound, request_id

from assay.launch import Launcher
from assay.registry import read_run
from assay.terms import Terms
from llm_runtime.settings import load_settings
from llm_runtime.store import RunStore
from llm_runtime.testing import LoopbackServer

SCORES = {"truth": 0.9, "indeterminacy": 0.1, "falsehood": 0.1, "reasoning": "I weighed it."}
ROWS, CALLS = 4, 6
"""Calls of one row: three seats, who agree after two rounds."""


async def test_a_stopped_study_is_shown_and_gone_on_with(
    web: Any, store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data.csv").write_text("text\n" + "".join(f"wish {row}\n" for row in range(ROWS)))
    task = {"data": str(tmp_path / "data.csv"), "user": "text", "out": str(tmp_path / "study")}
    study = read_run("fire_circle.study", task, {"models": ["lab/a", "lab/b", "lab/c"], "concurrency": 1})
    async with LoopbackServer(lambda got: bound(json.dumps(SCORES), request_id(got.messages))) as server:
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-canary-0123456789abcdef")
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{server.url}/v1")
        running = await Launcher(store, load_settings).start(study, Terms(max_calls=CALLS), run_id="study-1")
        assert (await running.outcome()).state == "stopped"
        _, listed = await web.get("/runs")
        assert "Does dialogue help on data.csv?" in listed
        status, page = await web.get("/runs/study-1")
        assert status == 200 and "stopped" in page
        code, refused = await web.post("/runs/study-1/fork", at=3)
        assert code >= 400 and "folder" in str(refused)
        code, _ = await web.post("/runs/study-1/resume", max_calls=100)
        assert code < 400
        await web.state("study-1", "finished")
        assert len(server.requests) == ROWS * CALLS
    _, page = await web.get("/runs/study-1")
    assert "4 of 4" in page
