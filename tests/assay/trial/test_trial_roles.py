"""Who else has a part in a trial, from the command line: a critic, a cohort, judges, standings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import LoopbackServer, Received

Assay = Any
WORDS = "Count n before you begin."
TURNS = (
    '```tool\n{"tool": "write_file", "arguments": {"path": "total.py", '
    '"content": "def total(n):\\n    return sum(range(1, n + 1))\\n"}}\n```',
    'As the Blue Herons would:\n```tool\n{"tool": "submit", "arguments": {"summary": "n is counted"}}\n```',
)


def solver(received: Received) -> str:
    return TURNS[min(received.messages[-1].content.count("<<<ASSISTANT "), 1)]


def judge(received: Received) -> str:
    return json.dumps({"score": 0.3 * received.number, "novelty_validated": None, "reason": "so"})


def text_of(received: Received) -> str:
    return " ".join(message.content for message in received.messages)


async def tried(assay: Assay, folder: Path, server: LoopbackServer, *more: str) -> dict[str, Any]:
    """The one attempt of a trial, as its report has it."""
    assert (await assay("trial", "new", "sum")).code == 0
    run = ("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "1", "-q", "--out", "t.json")
    done = await assay(*run, *more)
    assert done.code == 0, done.err
    (attempt,) = json.loads((folder / "t.json").read_text(encoding="utf-8"))["attempts"]
    return attempt


@pytest.mark.usefixtures("boxes")
async def test_a_cohort_takes_turns_and_a_critic_speaks_where_no_solver_hears_it(assay: Assay, tmp_path: Path) -> None:
    async with (
        LoopbackServer(solver) as one,
        LoopbackServer(solver) as other,
        LoopbackServer(lambda _: WORDS) as critic,
    ):
        more = ("--cohort", f"{other.url}/v1#second", "--critic", f"{critic.url}/v1#third")
        attempt = await tried(assay, tmp_path, one, *more)
    assert attempt["passed"] and attempt["turns"] == 2
    assert attempt["model"] == f"assay/single/{one.url}/v1#tiny + assay/single/{other.url}/v1#second"
    assert (len(one.requests), len(other.requests), len(critic.requests)) == (1, 1, 1)
    assert "n is counted" in text_of(critic.requests[0])
    assert not any(WORDS in text_of(asked) for asked in [*one.requests, *other.requests])
    assert (await assay("trial", "report", "--out", "t.html")).code == 0
    assert WORDS in (tmp_path / "t.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("boxes")
async def test_judges_who_agree_on_no_score_have_a_median_and_no_majority(assay: Assay, tmp_path: Path) -> None:
    async with LoopbackServer(solver) as server, LoopbackServer(judge) as bench:
        names = [word for name in ("a", "b", "c") for word in ("--judge", f"{bench.url}/v1#{name}")]
        attempt = await tried(assay, tmp_path, server, *names, "--untagged", "--reducer", "majority")
    assert sorted(one["score"] for one in attempt["panel"]["judges"]) == pytest.approx([0.3, 0.6, 0.9])
    assert attempt["passed"] and attempt["panel"]["value"] is None


@pytest.mark.usefixtures("boxes")
async def test_standings_that_a_solver_speaks_of_halt_its_attempt(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text('{"board": [{"team": "Blue Herons", "points": 21}]}')
    async with LoopbackServer(solver) as server:
        attempt = await tried(assay, tmp_path, server, "--chrome", "board.json")
    assert not any("Blue Herons" in text_of(asked) for asked in server.requests)
    assert not attempt["passed"] and attempt["terminated_by"] == "chrome_leak"


@pytest.mark.usefixtures("inspect")
@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--chrome", "nowhere.json"), "name a file that holds a JSON object"),
        (("--chrome", "list.json"), "name a file that holds a JSON object"),
        (("--critic", "bare"), "bare"),
        (("--cohort", "bare"), "write PROVIDER/MODEL"),
        (("--reducer", "mean"), "majority"),
    ],
)
async def test_a_part_that_nobody_can_take_is_told_before_anything_is_spent(
    assay: Assay, tmp_path: Path, more: tuple[str, ...], says: str
) -> None:
    (tmp_path / "list.json").write_text("[1]")
    async with LoopbackServer(solver) as server:
        done = await assay("trial", "run", "sealed-word", "--model", f"{server.url}/v1#tiny", "-q", *more)
        assert not server.requests
    assert done.code == 2 and says in done.err and "Traceback" not in done.err, done.err
