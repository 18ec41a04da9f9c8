"""The page of evidence: a plan before the first call, figures out of its log, refusals where one was changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench.checkable import KINDS, LEVELS, tasks
from bench.reviews import changes
from bench.reviews import tasks as reviews
from tests.assay.compare.test_routed import routing
from tests.commands import Commands, Done

from assay.protocols.compare.datasets import read_tasks
from assay.protocols.compare.tasks import Question
from llm_runtime.testing import LoopbackServer, Received

ROOT = Path(__file__).parents[3]
MARKS = "# Page\n\n<!-- made by assay evidence: begin -->\n<!-- made by assay evidence: end -->\n\nThe end.\n"


def test_four_hundred_tasks_are_of_six_kinds_and_three_levels_and_fresh_by_seed() -> None:
    made = tasks(400, 1)
    assert made == tasks(400, 1) and len({one["question"] for one in made}) == 400
    assert len({one["question"] for one in made} & {one["question"] for one in tasks(400, 2)}) <= 4
    places = [one["id"].rpartition("-")[0] for one in made]
    assert {*places} == {f"{kind}-{level}" for kind in KINDS for level in LEVELS}
    assert max(map(places.count, {*places})) - min(map(places.count, {*places})) <= 1
    assert all(Question.model_validate(one).right(str(one["expected"])) for one in made)


async def test_the_page_is_what_its_logs_say(commands: Commands, world: dict[str, str]) -> None:
    done = await commands.run("evidence", "check", cwd=ROOT, env=world)
    assert (done.code, done.out) == (0, "the page is what its logs say\n"), done.err


@pytest.fixture
async def told(assay: Any, write: Callable[..., str], adder: Callable[[Received], str], tmp_path: Any) -> Any:
    """A folder with a page, and beside it the plan and log of a run of two tasks."""
    write(*tasks(2, 7))
    (tmp_path / "page.md").write_text(MARKS)
    asked = ("evidence", "run", "questions.jsonl", "--model", "openrouter:vendor/model", "--folder", "plans", "-q")
    async with LoopbackServer(routing(adder)) as server:
        planned = await assay(*asked, "--plan-only", server=server)
        assert planned.code == 0 and not server.requests and not [*tmp_path.glob("plans/*.log")]
        done: Done = await assay(*asked, server=server)
        assert done.code == 0, done.err
        again = await assay(*asked, server=server)
        (log,) = tmp_path.glob("plans/*.log")
        held, paid = log.rename(tmp_path / "held.log"), len(server.requests)
        killed = await assay(*asked, server=server)
        assert len(server.requests) == paid, "a run that was killed before its export is not paid for twice"
        held.rename(log)
    assert killed.code == 2 and "go on with: assay runs resume" in killed.err and str(log.name) in killed.err
    (plan,) = tmp_path.glob("plans/*.plan.json")
    assert f"plan {plan.name[:16]}: 2 tasks" in planned.err and f"plan {plan.name[:16]}: 2 tasks" in done.err
    assert again.code == 2 and "this plan was run" in again.err, "nobody runs one until it looks good"
    return plan


PAGE = ("--folder", "plans", "--page", "page.md")


async def test_a_stranger_makes_the_figures_again_and_what_was_changed_is_one_line(
    told: Any, assay: Any, tmp_path: Any
) -> None:
    async def says() -> str:
        done = await assay("evidence", "check", *PAGE)
        (line,) = done.err.splitlines()
        assert done.code == 1 and line.startswith("assay: ")
        return line

    page = tmp_path / "page.md"
    digest, log = told.name[:16], told.with_name(f"{told.name[:16]}.log")
    assert "page.md says something else than its logs" in (await says())
    assert [(await assay("evidence", what, *PAGE)).code for what in ("page", "check")] == [0, 0]
    made = page.read_text()
    assert made.startswith("# Page\n") and made.endswith("The end.\n")
    assert f"**Plan {digest}**, openrouter:vendor/model, 2 tasks, seed 1" in made and ", signed by " in made
    assert "| council | 0 of 2 |" in made.replace("\\", "") and "between council and self-consistency" in made
    page.write_text(made.replace("0 of 2", "2 of 2"))
    assert "says something else" in (await says())
    held = told.read_bytes()
    told.write_bytes(held.replace(b"none is added", b"some are added"))
    assert (await says()).endswith("the plan was changed after it was named")
    other = hashlib.sha256(changed := held.replace(b"vendor/model", b"vendor/better")).hexdigest()[:16]
    for name, text in ((f"{other}.plan.json", changed), (f"{digest}.plan.json", held)):
        told.with_name(name).write_bytes(text)
    assert "page.md says something else than its logs" in (await says())
    told.unlink()
    assert [(await assay("evidence", what, *PAGE)).code for what in ("page", "check")] == [0, 0]
    assert (
        f"**Plan {other}**, openrouter:vendor/better, 2 tasks, seed 1: **not run**, or its log is" in page.read_text()
    )
    log.rename(log.with_name(f"{other}.log"))
    assert (await says()).endswith(f"is that of another plan: plan-{digest}")


async def test_a_log_that_was_changed_or_holds_two_runs_is_one_line(told: Any, assay: Any) -> None:
    log = told.with_name(f"{told.name[:16]}.log")
    whole = log.read_bytes()
    for text in (whole + whole, whole.replace(b"ANSWER: ", b"ANSWER; ", 1), whole[: len(whole) // 2], b""):
        log.write_bytes(text)
        done = await assay("evidence", "check", *PAGE)
        assert done.code in (1, 2, 5) and len(done.err.splitlines()) == 1 and done.err.startswith("assay: ")


async def test_a_run_that_ended_before_its_last_task_is_told_as_one(
    assay: Any, write: Callable[..., str], adder: Callable[[Received], str], tmp_path: Any
) -> None:
    write(*tasks(3, 7))
    (tmp_path / "page.md").write_text(MARKS)
    asked = ("evidence", "run", "questions.jsonl", "--methods", "single,self-consistency", "--folder", "plans", "-q")
    async with LoopbackServer(adder) as server:
        done = await assay(*asked, "--at-once", "1", "--max-calls", "8", server=server)
    assert done.code == 3
    assert (await assay("evidence", "page", *PAGE)).code == 0
    assert "**Not as planned**: 1 of 3 tasks were done." in (tmp_path / "page.md").read_text()


async def test_tasks_without_answers_are_refused_before_a_plan_is_written(
    assay: Any, write: Callable[..., str], tmp_path: Any
) -> None:
    done = await assay("evidence", "run", write({"question": "Is it so?"}), "--folder", "plans")
    assert done.code == 2 and done.err.splitlines() == [
        "assay: questions.jsonl says of no task what is right; add expected, or --raters 2"
    ]
    assert not [*tmp_path.glob("plans")]


def test_changes_to_review_are_what_they_are_said_to_be() -> None:
    kinds = [0, 0]
    for before, after, holds, line in changes():
        assert before != after and all(held(before, holds))
        assert all(held(after, holds)) is (line == 0), after
        kinds[bool(line)] += 1
        if line:
            assert before.splitlines()[line - 1] != after.splitlines()[line - 1]
    asked = reviews()
    assert kinds == [20, 20] and len(asked) == 40 and len({one["question"] for one in asked}) == 40
    assert all(Question.model_validate(one).right(one["expected"]) for one in asked)
    assert not any(Question.model_validate(one).right("99") for one in asked)


def held(text: str, holds: list[str]) -> list[bool]:
    """What of the conditions holds; one that raises does not."""
    names: dict[str, Any] = {}
    exec(text, names)

    def holding(one: str) -> bool:
        try:
            exec(f"assert {one}", names)
        except Exception:
            return False
        return True

    return [holding(one) for one in holds]


def test_decisions_are_open_and_reach_a_comparison_as_they_are() -> None:
    asked = read_tasks((ROOT / "bench/decisions.jsonl").read_text(encoding="utf-8"))
    assert len(asked) == 24 and not any(one.checkable for one in asked)
