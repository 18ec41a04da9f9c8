"""`assay trial run --against`: models at the same attempts, until it is decided which of them is better."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ai_crucible.events import ComparedPair, TrialsCompared
from ai_crucible.observability import rollup
from ai_crucible.types import AttemptRecord
from assay.protocols.ai_crucible.report.compared import compared_lines
from assay.protocols.ai_crucible.report.pictures import reliability_picture
from llm_runtime.testing import LoopbackServer, Received

Assay = Any
WRITE = (
    '```tool\n{"tool": "write_file", "arguments": {"path": "total.py", '
    '"content": "def total(n):\\n    return sum(range(1, n + 1))\\n"}}\n```'
)
SUBMIT = '```tool\n{"tool": "submit", "arguments": {"summary": "done"}}\n```'


def able_or_not(received: Received) -> str:
    """The able model repairs; the other one only says so."""
    turn = len(re.findall(r"<<<ASSISTANT ", received.messages[-1].content))
    return WRITE if received.model == "able" and turn == 0 else SUBMIT


@pytest.mark.long
@pytest.mark.usefixtures("boxes")
async def test_a_comparison_stops_when_it_is_decided_and_tells_what_it_saved(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    async with LoopbackServer(able_or_not) as server:
        able, idle = (f"{server.url}/v1#{name}" for name in ("able", "idle"))
        models = ("--model", able, "--against", idle)
        command = ("trial", "run", "sum", *models, "--k", "11", "--early", "--at-once", "2")
        # Cut off in the middle, with its logs closed: what was made before counts.
        stopped = await assay(*command, kill_when=lambda: len(server.requests) >= 14, signal=2)
        assert stopped.code == 130, stopped.err
        done = await assay(*command, "--out", "t.html")
    assert done.code == 0, done.err
    assert "going on with" in done.err
    assert "decided at sum, attempt 8: after 8 of 11 of each" in done.out
    assert "e-value 25.1" in done.out and "tokens saved" in done.out
    # Those that neither had begun when it was decided were not made.
    assert int(re.search(r"(\d+) attempts not made", done.out)[1]) > 0  # type: ignore[index]
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "Models compared" in page and "Decided at sum, attempt 8" in page
    assert "planned and never finished" not in (await assay("trial", "verify")).out
    await assay("trial", "report", "--out", "t.json")
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert data["compared"][0]["decided"] and data["compared"][0]["pairs"][0]["only_a"] == 8
    bundled = await assay("trial", "bundle", *data["compared"][0]["trials"])
    assert bundled.code == 0, bundled.err
    verified = await assay("trial", "verify", "trial.assay")
    assert verified.code == 0 and "without a verdict" not in verified.out


@pytest.mark.usefixtures("inspect")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("--early",), "name a further model with --against", marks=pytest.mark.box),
        (("--against", "ollama:a"), "compared already"),
        (("--against", "nobody"), "write PROVIDER/MODEL"),
    ],
)
async def test_what_cannot_be_compared_is_one_line(assay: Assay, arguments: tuple[str, ...], says: str) -> None:
    done = await assay("trial", "run", "off-by-one-total", "--model", "ollama:a", *arguments)
    assert (done.code, len(done.err.splitlines())) == (2, 1), done.err
    assert says in done.err


def test_why_no_more_attempts_were_compared_is_told() -> None:
    pair = ComparedPair(a="1", b="2", only_a=2, only_b=0, both=0, neither=0, e=1.5, p=0.4)
    told = TrialsCompared(trials={"1": "m", "2": "n"}, pairs=(pair,), after=2, planned=12, decided=False)
    cut = "not decided after 2 attempts of each; the next of 12 died, and none behind it is compared"
    assert compared_lines(told)[1] == cut
    assert compared_lines(told.model_copy(update={"planned": 2}))[1] == "not decided after 2 attempts of each"


def test_reliability_is_drawn_of_models_that_have_a_rate_alone() -> None:
    def made(model: str, verdicts: Sequence[bool | None]) -> list[AttemptRecord]:
        return [
            AttemptRecord(puzzle="sum", kind="k", epoch=n, model=model, passed=one) for n, one in enumerate(verdicts, 1)
        ]

    models = rollup([*made("m", [True] * 6 + [False] * 6), *made("n", [True] * 3 + [None] * 9)])
    picture = reliability_picture(models)
    assert picture and "m pass@k" in picture.alternative and "n pass@k" not in picture.alternative
