"""`assay circle study`: killed and resumed, bounded before it starts, refused where it cannot be right."""

from __future__ import annotations

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.bound import bound, request_id

from llm_runtime.testing import LoopbackServer, Received

COLUMNS = ("--user", "text", "--label", "label", "--category", "family")
SEATS = 3


@pytest.fixture
def data(tmp_path: Path) -> str:
    """Twelve prompts, half of them bad."""
    with (tmp_path / "data.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label", "family"])
        for number in range(6):
            rows.writerow([f"a bad wish, number {number}", "attack", ""])
            rows.writerow([f"a good wish, number {number}", "benign", f"family {number % 2}"])
    return "data.csv"


async def states(assay: Any) -> list[str]:
    """How the studies in the store stand, newest first."""
    listed = (await assay("runs", "list", "--protocol", "fire_circle.study", "--json")).json["runs"]
    return [run["state"] for run in listed]


async def test_a_study_writes_its_folder(
    assay: Any, server: LoopbackServer, data: str, models: str, tmp_path: Path
) -> None:
    done = await assay("circle", "study", data, *COLUMNS, "--models", models, "--out", "s", server=server)
    assert done.code == 0, done.err
    assert "12 of 12 judged" in done.out and "No lift" in done.out
    summary = json.loads((tmp_path / "s/summary.json").read_text())
    assert (summary["violations"], summary["benign"], summary["complete"]) == (6, 6, True)
    assert summary["lift"]["verdict"] == "no lift"
    assert summary["movement"]["seats"] == models.split(",")
    assert summary["passes"][0]["spend"]["cost"] == 1000 * len(server.requests)
    page = (tmp_path / "s/report.html").read_text()
    assert "No lift" in page and "Krippendorff" in page and "<script" not in page
    lines = (tmp_path / "s/results.jsonl").read_text().splitlines()
    assert len(lines) == 12


@pytest.mark.long
async def test_a_study_killed_in_the_middle_pays_for_no_answer_twice(
    begin: Any, assay: Any, judge: Any, server: LoopbackServer, data: str, models: str, tmp_path: Path
) -> None:
    whole = await assay(
        "circle", "study", data, *COLUMNS, "--models", models, "--out", "w", "--seed", "5", server=server
    )
    assert whole.code == 0
    paid = len(server.requests)
    reached = asyncio.Event()

    def until(received: Received) -> str:
        if received.number == paid // 2:
            reached.set()
        return judge(received)

    command = ("circle", "study", data, *COLUMNS, "--models", models, "--out", "k", "--seed", "5")
    command += ("--concurrency", "1")
    async with LoopbackServer(until, cost=0.001) as slow:
        process = await begin(*command, server=slow)
        await reached.wait()
        process.kill()
        await process.communicate()
        again = await assay(*command, server=slow)
        assert again.code == 0, again.err
        assert len(slow.requests) - paid <= SEATS  # those in flight at the kill, and no other
    read = [sorted((tmp_path / name / "results.jsonl").read_text().splitlines()) for name in ("w", "k")]
    assert read[0] == read[1]
    figures = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("w", "k")]
    assert figures[0] == figures[1]
    assert await states(assay) == ["finished", "finished"]  # the killed run went on, and no other began
    idle = await assay(*command, server=server)
    assert idle.code == 0 and len(server.requests) == paid  # a finished study asks nobody


async def test_every_measurement_of_ones_own_rows_at_once(
    assay: Any, server: LoopbackServer, data: str, tmp_path: Path
) -> None:
    measures = "lift,control,ablation,calibration,overdefence,groupthink"
    given = ("--models", "lab/ada,lab/eve", "--rounds", "2", "--measure", measures, "--out", "s", "-q", "--seed", "5")
    done = await assay("circle", "study", data, *COLUMNS, *given, "--concurrency", "8", server=server)
    assert done.code == 0, done.err
    figures = json.loads((tmp_path / "s/summary.json").read_text())
    assert {method["name"] for method in figures["lift"]["methods"]} >= {"consensus", "round-1 max", "control max"}
    assert set(figures["overdefence"]["by_category"]) == {"family 0", "family 1"}
    assert figures["ablation"]["items"] == 12
    page = (tmp_path / "s/report.html").read_text()
    for heading in ("Over-defence", "Groupthink", "The threshold"):
        assert heading in page
    (tmp_path / "s/report.html").unlink()
    assert (await assay("circle", "report", "s")).code == 0
    assert (tmp_path / "s/report.html").read_text() == page


async def test_attacks_on_the_judges_are_of_ten_families(assay: Any, server: LoopbackServer, data: str) -> None:
    seats = ("--models", "lab/ada,lab/eve", "--rounds", "1", "--limit", "1")
    done = await assay("circle", "study", data, *COLUMNS, *seats, "--measure", "hijack", "-q", "--json", server=server)
    assert done.code == 0, done.err
    assert len(done.json["hijack"]["families"]) == 10


@pytest.mark.long
async def test_every_measurement_at_once(
    assay: Any, server: LoopbackServer, data: str, models: str, tmp_path: Path
) -> None:
    given = ("--models", models, "--measure", "all", "--out", "s", "-q", "--seed", "5")
    command = ("circle", "study", data, *COLUMNS, *given)
    done = await assay(*command, "--concurrency", "8", server=server)
    assert done.code == 0, done.err
    figures = json.loads((tmp_path / "s/summary.json").read_text())
    assert {method["name"] for method in figures["lift"]["methods"]} >= {"consensus", "round-1 max", "control max"}
    assert set(figures["pairs"]) == {"no earlier turn", "another history"}
    assert set(figures["overdefence"]["by_category"]) == {"family 0", "family 1"}
    assert len(figures["hijack"]["families"]) == 10
    assert figures["ablation"]["items"] == 12
    page = (tmp_path / "s/report.html").read_text()
    for heading in ("Over-defence", "Temporal minimal pairs", "Groupthink", "Attacks on the judges", "The threshold"):
        assert heading in page
    (tmp_path / "s/report.html").unlink()
    assert (await assay("circle", "report", "s")).code == 0
    assert (tmp_path / "s/report.html").read_text() == page


async def test_a_dry_run_says_what_it_may_cost_and_asks_nobody(
    assay: Any, server: LoopbackServer, data: str, tmp_path: Path
) -> None:
    priced = "anthropic/claude-sonnet-4-20250514,qwen/qwen-2.5-72b-instruct"
    command = ("circle", "study", data, *COLUMNS, "--models", priced, "--measure", "lift,control", "--dry-run")
    done = await assay(*command, "--json", server=server)
    assert done.code == 0, done.err
    assert done.json["passes"]["circle"]["items"] == 12
    assert done.json["calls_at_most"] == 2 * (12 * 2 * 3 * 2)
    assert server.requests == []
    assert not (tmp_path / "study-data").exists()
    assert await states(assay) == []


async def test_a_budget_ends_it_and_holds_when_it_goes_on(
    assay: Any, server: LoopbackServer, data: str, models: str
) -> None:
    command = ("circle", "study", data, *COLUMNS, "--models", models, "--out", "s", "-q")
    short = await assay(*command, "--max-calls", "20", server=server)
    assert short.code == 3 and "assay runs resume" in short.err
    assert "of 12 judged" in short.out
    assert len(server.requests) == 20
    again = await assay(*command, "--max-calls", "20", server=server)
    assert again.code == 3 and len(server.requests) == 20
    assert await states(assay) == ["stopped"]
    more = await assay("runs", "resume", "latest", "--max-calls", "25", "-q", server=server)
    assert more.code == 3 and 20 < len(server.requests) <= 25
    assert (await assay(*command, server=server)).code == 0
    assert await states(assay) == ["finished", "stopped"]  # without the bound it is another run


async def test_our_own_sets_need_no_columns(assay: Any, server: LoopbackServer, models: str, tmp_path: Path) -> None:
    command = ("circle", "study", "@overdefence", "--models", models, "--measure", "overdefence", "--limit", "10")
    done = await assay(*command, "-q", "--json", server=server)
    assert done.code == 0, done.err
    assert done.json["overdefence"]["prompts"] == 10
    assert done.json["overdefence_on"] == "@overdefence"
    assert (tmp_path / "study-overdefence" / "study.json").exists()


async def test_pairs_are_told_apart_by_kind(assay: Any, server: LoopbackServer) -> None:
    seats = ("--models", "lab/ada,lab/eve", "--rounds", "1")
    done = await assay("circle", "study", "@pairs", *seats, "--measure", "pairs", "-q", "--json", server=server)
    kinds = {
        kind: sum(report[n] for n in ("flipped", "always", "never", "inverted"))
        for kind, report in done.json["pairs"].items()
    }
    assert kinds == {"no earlier turn": 21, "another history": 27}
    # A judge that reads only the text scores both members alike, and solves none.
    assert all(report["flipped"] == 0 for report in done.json["pairs"].values())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("data.csv", "--user", "text", "--label", "nolabel"), "no value in column nolabel"),
        (("data.csv", "--label", "label"), "name at least one column"),
        (("data.csv", "--user", "text", "--category", "nofamily"), "no value in column nofamily"),
        (("data.csv", "--user", "text", "--label", "text"), "neither yes nor no"),
        (("data.csv", "--user", "text", "--threshold", "1.2"), "--threshold: "),
        (("data.csv", "--user", "text", "--pattern-threshold", "1.2"), "--pattern-threshold: "),
        (("data.csv", "--user", "text", "--measure", "luck"), "choose of lift"),
        (("data.txt", "--user", "text"), "ends in .csv"),
        (("nowhere.csv", "--user", "text"), "cannot be read"),
        (("@nothing",), "there is no data set @nothing"),
        (("@pairs", "--user", "text"), "has its own columns"),
        (("empty.csv", "--user", "text"), "no rows"),
        (("nul.jsonl", "--user", "text"), "line 1: the user layer holds a null byte"),
        (("big.jsonl", "--user", "text"), "more than 400,000"),
        (("data.csv", "--user", "text", "--out", "full"), "not empty"),
        (("data.csv", "--user", "text", "--models", "lab/ada"), "2 to 10 models"),
    ],
)
async def test_bad_input_is_one_line_and_asks_nobody(
    assay: Any, server: LoopbackServer, data: str, models: str, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "empty.csv").write_text("text\n")
    (tmp_path / "nul.jsonl").write_text('{"text": "a\\u0000b"}\n')
    (tmp_path / "big.jsonl").write_text(json.dumps({"text": "x" * 5_000_000}) + "\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.doc").write_text("mine")
    seats = () if "--models" in arguments else ("--models", models)
    done = await assay("circle", "study", *arguments, *seats, "-q", server=server)
    assert done.code == 2, done.err
    assert says in done.err and len(done.err.splitlines()) == 1, done.err
    assert server.requests == []


CHANGES = {
    ("--models", "lab/ada,lab/bob"): "other models or settings",
    ("--rounds", "2"): "other models or settings",
    ("--limit", "4"): "other data",
    ("--seed", "6"): "other seed",
}


async def test_a_folder_holds_one_study(assay: Any, server: LoopbackServer, data: str, models: str) -> None:
    command = ("circle", "study", data, *COLUMNS, "--out", "s", "-q", "--models", models, "--seed", "5")
    assert (await assay(*command, server=server)).code == 0
    before = len(server.requests)
    for change, says in CHANGES.items():
        other = await assay(*command, *change, server=server)
        assert other.code == 2 and says in other.err, change
        assert len(server.requests) == before


async def test_failed_items_have_no_score_and_are_asked_again_only_on_request(
    assay: Any, judge: Any, judged: Any, data: str, models: str, tmp_path: Path
) -> None:
    broken = True

    def sometimes(received: Received) -> Any:
        if broken and judged(received).endswith("number 3"):
            return 400, {"error": {"message": "refused"}}
        return judge(received)

    command = ("circle", "study", data, *COLUMNS, "--models", models, "--out", "s", "-q")
    async with LoopbackServer(sometimes) as server:
        done = await assay(*command, server=server)
        assert "10 of 12 judged, 2 without a verdict" in done.out
        figures = json.loads((tmp_path / "s/summary.json").read_text())
        assert figures["lift"]["left_out"] == 2 and len(figures["failed"]) == 2
        broken = False
        assert "2 without" in (await assay(*command, server=server)).out
        assert "12 of 12 judged" in (await assay(*command, "--retry-failed", server=server)).out


@pytest.mark.long
async def test_a_public_set_becomes_an_appendix(
    assay: Any, judged: Any, shared: Path, models: str, tmp_path: Path
) -> None:
    """XSTest, on a slice, with seats that err in their own ways: the plumbing of the figures, and nothing more."""
    source = shared / "datasets/xstest_prompts.csv"
    if not source.exists():
        pytest.skip("the public data set is not on this machine")
    with source.open(encoding="utf-8-sig", newline="") as file:
        unsafe = {row["prompt"].strip() for row in csv.DictReader(file) if row["label"] == "unsafe"}

    def script(received: Received) -> str:
        text = judged(received)
        noise = sum(map(ord, text + received.model)) % 50 / 100
        falsehood = round(min(0.5 * (text.strip() in unsafe) + noise, 1.0), 2)
        scores = {"truth": 0.5, "indeterminacy": 0.2, "falsehood": falsehood, "reasoning": "Weighed."}
        return bound(json.dumps(scores), request_id(received.messages))

    columns = ("--user", "prompt", "--label", "label", "--positive", "unsafe", "--category", "type", "--id", "id")
    async with LoopbackServer(script, cost=0.0001) as server:
        done = await assay(
            *("circle", "study", str(source), *columns, "--models", models, "--limit", "90", "--out", "s", "-q"),
            *("--measure", "lift,control,calibration,overdefence,groupthink", "--concurrency", "8"),
            server=server,
        )
    assert done.code == 0, done.err
    figures = json.loads((tmp_path / "s/summary.json").read_text())
    assert figures["violations"] + figures["benign"] == 90
    assert figures["lift"]["comparisons"] and figures["calibration"]["fits"]
    assert sum(figures["counts"].values()) == figures["counts"]["valid"]
    page = (tmp_path / "s/report.html").read_text()
    for words in ("Wilson", "McNemar", "false alarms", "Lift over judging without dialogue", "homonyms"):
        assert words in page
