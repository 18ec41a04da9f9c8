"""The page of evidence: a plan before the first call, figures out of its log, refusals where one was changed."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench.checkable import KINDS, LEVELS, tasks
from bench.evidence import PAGE, Refused, digest_of, page_with, part
from tests.assay.compare.test_routed import routing

from assay.protocols.compare.tasks import Question
from llm_runtime.testing import LoopbackServer, Received

ROOT = Path(__file__).parents[3]


def test_four_hundred_tasks_are_of_six_kinds_and_three_levels_and_fresh_by_seed() -> None:
    made = tasks(400, 1)
    assert made == tasks(400, 1) and len({one["question"] for one in made}) == 400
    assert len({one["question"] for one in made} & {one["question"] for one in tasks(400, 2)}) <= 4
    places = [one["id"].rpartition("-")[0] for one in made]
    assert {*places} == {f"{kind}-{level}" for kind in KINDS for level in LEVELS}
    assert max(map(places.count, {*places})) - min(map(places.count, {*places})) <= 1
    assert all(Question.model_validate(one).right(str(one["expected"])) for one in made)


def test_the_page_is_what_its_logs_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert page_with(part(ROOT / "docs/evidence")) == (ROOT / PAGE).read_text(encoding="utf-8")


async def test_a_plan_is_run_told_and_refused_where_it_or_its_log_is_another(
    commands: Any, world: dict[str, str], adder: Callable[[Received], str], tmp_path: Path
) -> None:
    folder = tmp_path / "plans"
    async with LoopbackServer(routing(adder)) as server:
        reached = {"OPENROUTER_API_KEY": "sk-or-x", "OPENROUTER_BASE_URL": f"{server.url}/v1"}
        command = (sys.executable, "-m", "bench.evidence", "run", "openrouter:vendor/model", "--tasks", "2")
        process = await asyncio.create_subprocess_exec(
            *(*command, "--folder", str(folder), "-q"),
            cwd=ROOT,
            env={**world, **reached},
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
    assert process.returncode == 0
    (plan,) = folder.glob("*.plan.json")
    digest = plan.name.partition(".")[0]
    assert f"plan {digest}: 2 tasks" in out.decode()
    told = part(folder)
    assert "Not known" not in told and f"**Plan {digest}**" in told and "| council | 0 of 2 |" in told
    held = json.loads(plan.read_text())
    plan.write_text(json.dumps({**held, "stopping": "when it looks good"}))
    with pytest.raises(Refused, match=r"the plan was changed after it was named$"):
        part(folder)
    other = {**held, "seed": held["seed"] + 1}
    plan.rename(folder / f"{digest_of(other)}.plan.json").write_text(json.dumps(other))
    with pytest.raises(Refused, match="other tasks"):
        part(folder)
    (folder / f"{digest_of(other)}.plan.json").unlink()
    again = {**held, "model": "another"}
    (folder / f"{digest_of(again)}.plan.json").write_text(json.dumps(again))
    with pytest.raises(Refused, match="is missing"):
        part(folder)
    (folder / f"{digest}.log").rename(folder / f"{digest_of(again)}.log")
    with pytest.raises(Refused, match="is the log of another plan"):
        part(folder)
