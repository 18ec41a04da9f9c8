"""The suite for live trials runs to its end; what a small model makes of it is for a person to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import LoopbackServer

SUITE = Path(__file__).parents[3] / "bench/gate/suite.toml"


@pytest.mark.process
async def test_the_live_suite_of_25_cases_runs_to_its_end(
    assay: Any, server: LoopbackServer, models: str, tmp_path: Path
) -> None:
    given = ("--models", models, "--lock", "gate.lock", "--summary", "gate.md", "--json", "-q")
    done = await assay("circle", "gate", str(SUITE), *given, server=server)
    assert done.code in (0, 1) and len(done.json["verdicts"]) == 25, done.err
    assert all(verdict["falsehood"] is not None for verdict in done.json["verdicts"])
    hidden = {verdict["id"] for verdict in done.json["verdicts"] if verdict["hidden"]}
    assert hidden == {"hidden-words"}
    asked = len(server.requests)
    again = await assay("circle", "gate", str(SUITE), *given)
    assert again.json["verdicts"][0]["known"] and len(server.requests) == asked
