"""`assay trial`: figures and reports, kill and resume, puzzles made and checked, bad input in one line."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import LoopbackServer, Received

Assay = Any
READ = '```tool\n{"tool": "read_file", "arguments": {"path": "total.py"}}\n```'
WRITE = (
    '```tool\n{"tool": "write_file", "arguments": {"path": "total.py", '
    '"content": "def total(n):\\n    return sum(range(1, n + 1))\\n"}}\n```'
)
SUBMIT = '```tool\n{"tool": "submit", "arguments": {"summary": "n is counted"}}\n```'


def solver(received: Received) -> str:
    """A model that reads, repairs and submits, by how far the conversation is."""
    said = received.messages[-1].content
    turn = len(re.findall(r"<<<ASSISTANT ", said))
    return (READ, WRITE, SUBMIT)[min(turn, 2)]


def _trial(said: str) -> str:
    found = re.search(r"^\[0:\d\d\] trial (\S+):", said, re.MULTILINE)
    assert found
    return found[1]


async def test_a_puzzle_is_written_under_a_name_that_it_can_have_or_not_at_all(assay: Assay, tmp_path: Path) -> None:
    done = await assay("trial", "new", "Bad Name")
    assert done.code == 2 and "id: String should match pattern" in done.err
    assert not (tmp_path / "Bad Name").exists()


@pytest.mark.usefixtures("boxes")
async def test_a_trial_ends_in_figures_and_a_report_that_follows_an_attempt(assay: Assay, tmp_path: Path) -> None:
    assert (await assay("trial", "new", "sum")).code == 0
    async with LoopbackServer(solver) as server:
        model = f"{server.url}/v1#tiny"
        done = await assay("trial", "run", "sum", "--model", model, "--k", "2", "--out", "t.html")
        assert done.code == 0, done.err
        assert "2 of 2 attempts passed, 100% (34% to 100%); pass^2 100%" in done.out
        assert "sum: passed; 2 of 2 attempts" in done.err
        text = (tmp_path / "t.html").read_text(encoding="utf-8")
        for shown in (
            "What it was told",
            "read_file total.py",
            "Passed: every condition",
            "Signed head",
            "chain from this",
        ):
            assert shown in text
        assert (await assay("trial", "report", "--out", "t.json")).code == 0
        data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
        assert data["ledger"]["ok"] and data["attempts"][0]["ledger"]["sample_digest"]
        assert data["attempts"][0]["ledger"]["sample_digest"] == data["attempts"][0]["sample_digest"]
        assert data["models"][0]["model"] == data["attempts"][0]["model"] == f"assay/single/{model}"
        assert (await assay("trial", "report", "--out", "t.md")).code == 0
        assert (await assay("trial", "verify")).code == 0


@pytest.mark.usefixtures("boxes")
async def test_a_killed_trial_goes_on_and_repeats_no_finished_attempt(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")

    async def held(received: Received) -> str:
        if received.number == 7:
            await asyncio.Event().wait()
        return solver(received)

    async with LoopbackServer(held) as server:
        command = ("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "4", "--at-once", "1")
        # The third attempt waits for its first answer when the kill comes, so that nothing is on its way later.
        await assay(*command, kill_when=lambda: len(server.requests) >= 7)
        done = await assay(*command)
        assert done.code == 0, done.err
        found = re.search(r"going on with (\d) of 4 done", done.err)
        assert found and int(found[1]) >= 1, done.err
        assert len(server.requests) == 7 + 3 * (4 - int(found[1]))
    assert "4 passed, 0 failed, 1 died" in done.out
    assert len(list((tmp_path / "shop" / "logs").iterdir())) == 1
    assert (await assay("trial", "verify")).code == 0


@pytest.mark.usefixtures("boxes")
async def test_a_trial_that_is_interrupted_keeps_what_is_finished_and_goes_on(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    async with LoopbackServer(solver) as server:
        command = ("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "4", "--at-once", "1")
        done = await assay(*command, kill_when=lambda: len(server.requests) >= 5, signal=signal.SIGINT)
        assert done.code == 130 and "Traceback" not in done.err, done.err
        assert "was stopped with 1 attempt made, which are kept; go on with the same command" in done.err
        assert "1 passed, 0 failed, 1 died" in done.out and "too wide for a rate" in done.out
        told = (await assay("trial", "verify")).out
        assert f"{_trial(done.err)}: " in told and told.endswith("3 without a verdict; never finished\n")
        again = await assay(*command)
        assert again.code == 0 and "going on with 1 of 4 done" in again.err, again.err
        assert "4 passed, 0 failed, 1 died, 100% (51% to 100%)" in again.out
    # Planned, one begun, witnessed and graded, one begun and cut off, a log; resumed, three of those, a log.
    assert "18 events, every log" in (await assay("trial", "verify")).out
    await assay("trial", "report", "--out", "t.md")
    assert "in 2 sittings" in (tmp_path / "t.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("boxes")
async def test_attempts_that_die_are_counted_and_drawn_again_as_often_as_the_plan_says(assay: Assay) -> None:
    await assay("trial", "new", "sum")
    begun = 0

    async def flaky(received: Received) -> str | tuple[int, dict[str, Any]]:
        nonlocal begun
        begun += "<<<ASSISTANT " not in received.messages[-1].content
        return solver(received) if begun % 4 == 0 else (400, {"error": {"message": "too long", "code": 400}})

    async with LoopbackServer(flaky) as server:
        command = ("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "3", "--at-once", "1", "-q")
        sittings = [await assay(*command, "--redraws", "2")]
        while sittings[-1].code and len(sittings) < 6:
            sittings.append(await assay(*command))
    done = sittings[-1]
    assert done.code == 0 and len(sittings) == 4, done.err
    assert "2 passed, 0 failed, 6 died" in done.out and "between 25% and 100% pass: too wide for a rate" in done.out
    assert "2 passed, 0 failed, 6 died" in (await assay("trial", "verify")).out
    assert begun == 8


@pytest.mark.usefixtures("boxes")
async def test_one_purse_for_all_attempts_stops_the_trial_with_what_there_is(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "prices.toml").write_text("[prices]\ntiny = { input = 10, output = 100 }\n")
    async with LoopbackServer(solver) as server:
        command = ("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "6", "--max-cost")
        done = await assay(*command, "0.8", "--json")
        assert done.code == 3 and "has used up its money with" in done.err, done.err
        figures = json.loads(done.out)
        made = [attempt for attempt in figures["attempts"] if attempt["passed"] is not None]
        spent = sum(attempt["cost"] or 0 for attempt in figures["attempts"])
        assert 1 <= len(made) < 6 and 0 < spent <= 0.8
        refused = await assay(*command, "0.01")
        assert refused.code == 2 and "give it more" in refused.err and len(refused.err.splitlines()) == 4
        again = await assay(*command, "60")
    assert again.code == 0 and f"going on with {len(made)} of 6 done" in again.err, again.err
    assert re.search(r": 6 passed, 0 failed, \d died[;,]", again.out)
    assert (await assay("trial", "verify")).code == 0


@pytest.mark.usefixtures("boxes")
async def test_framings_are_compared_with_an_interval(assay: Assay) -> None:
    await assay("trial", "new", "sum")
    async with LoopbackServer(solver) as server:
        done = await assay("trial", "probe", "sum", "--model", f"{server.url}/v1#tiny", "--k", "2", "--json", "-q")
    assert done.code == 0, done.err
    (effect,) = json.loads(done.out)["arms"]
    assert effect["arm"] == "self_referential" and effect["shown"] is False
    assert "no social standings" in done.err


@pytest.mark.usefixtures("boxes")
async def test_what_was_changed_afterwards_is_told_by_verify_and_by_the_report(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    async with LoopbackServer(solver) as server:
        await assay("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "1", "-q")
    ledger = tmp_path / "shop" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"passed":true', b'"passed":false'))
    done = await assay("trial", "verify")
    assert done.code == 1 and "edited" in done.out
    assert (await assay("trial", "report", "--out", "t.html")).code == 1
    assert "the ledger does not verify" in (tmp_path / "t.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("boxes")
async def test_a_puzzle_s_life_begins_with_its_check(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    done = await assay("trial", "check", "sum", "--admit")
    assert done.code == 0 and re.search(r"^sum .* fine$", done.out, re.MULTILINE), done.out
    assert re.search(r"^sum +lab", (await assay("trial", "catalog", "list")).out, re.MULTILINE)
    shown = await assay("trial", "catalog", "show", "sum")
    assert json.loads(shown.out)["stage"] == "lab" and "0 of 10 attempts" in shown.err
    stays = await assay("trial", "catalog", "graduate", "sum")
    assert stays.code == 2 and "sum stays in lab" in stays.err
    (tmp_path / "sum" / "oracle" / "gold" / "total.py").write_text("def total(n):\n    return 0\n")
    broken = await assay("trial", "check", "sum")
    assert broken.code == 1 and "its gold solution fails" in broken.out


async def test_programs_become_puzzles(assay: Assay, tmp_path: Path) -> None:
    source = tmp_path / "checkout"
    source.mkdir()
    (source / "double.py").write_text("def double(n):\n    return n\n")
    (source / "double_fixed.py").write_text("def double(n):\n    return 2 * n\n")
    (source / "double.json").write_text("[[2], 4]\n[[0], 0]\n")
    done = await assay("trial", "import", "checkout", "made", "--origin", "a test")
    assert done.code == 0 and "1 puzzle written" in done.out
    assert (tmp_path / "made" / "double" / "meta.json").exists()


@pytest.mark.usefixtures("inspect")
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("run", "nonsense", "--model", "a/b"), 2, "no puzzle 'nonsense'"),
        (("run", "sealed-word"), 78, "no model to try"),
        (("run", "sealed-word", "--model", "bare"), 2, "write PROVIDER/MODEL"),
        (("run", "sealed-word", "--model", "assay/crucible/"), 2, "write PROVIDER/MODEL"),
        (("run", "sealed-word", "--model", "a/b", "--judge", "nobody"), 2, "nobody is no model"),
        (("run", "sealed-word", "--model", "a/b", "--judge", "ollama:x"), 2, "its family is unknown"),
        (("run", "sealed-word", "--model", "a/b", "--box-root", "nowhere"), 2, "nowhere: no root of a box"),
        (("run", "sealed-word", "--model", "a/b", "--out", "t.pdf"), 2, "the ending must be one of"),
        (("run", "sealed-word", "--model", "a/b", "--out", "no/t.md"), 2, "there is no folder"),
        (("report", "nothing-here"), 2, "no trial 'nothing-here'"),
        (("report",), 2, "no trial has been run"),
        (("catalog", "show", "x"), 2, "no puzzle 'x' in the catalog"),
        (("import", "nowhere", "made"), 2, "there is no such folder"),
        (("new", "Bad Name"), 2, ""),
    ],
)
async def test_what_cannot_work_is_one_line(assay: Assay, arguments: tuple[str, ...], code: int, says: str) -> None:
    done = await assay("trial", *arguments)
    assert done.code == code and says in done.err, done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("checks", [None, "", "[]", '{"checks": []}'])
async def test_a_puzzle_without_checks_is_told_before_a_model_is_asked(
    assay: Assay, tmp_path: Path, checks: str | None
) -> None:
    await assay("trial", "new", "sum")
    oracle = tmp_path / "sum" / "oracle" / "checks.json"
    oracle.unlink() if checks is None else oracle.write_text(checks)
    async with LoopbackServer(solver) as server:
        done = await assay("trial", "run", "sum", "--model", f"{server.url}/v1#tiny")
        assert done.code == 2 and len(done.err.splitlines()) == 1 and "no list of checks" in done.err, done.err
        assert not server.requests


@pytest.mark.usefixtures("boxes")
async def test_nobody_who_runs_a_trial_chooses_what_is_drawn(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    async with LoopbackServer(solver) as server:
        command = ("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "1", "-q")
        done = await assay(*command, "--trial", "neutral-000000")
        assert done.code == 2 and "no trial neutral-000000 was planned" in done.err, done.err
        assert not server.requests
        told = list[list[str]]()
        for nonce in ("ours", "ours", "theirs"):
            before = len(server.requests)
            done = await assay(*command, "--nonce", nonce, "--fresh")
            assert done.code == 0, done.err
            # The fences around what a solver is shown, but for those of the conversation, come from the seed.
            words = "".join(one.content for one in server.requests[before].messages)
            told.append(re.findall(r"<<<FIL\w+ (\w+)>>>", words))
            assert told[-1]
        assert told[0] == told[1] != told[2]
        done = await assay("trial", "verify")
        assert done.code == 0 and done.out.count('drawn from the nonce "ours"') == 2, done.out


@pytest.mark.usefixtures("boxes")
async def test_a_check_that_checks_nothing_is_found_before_a_model_is_asked(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    (tmp_path / "sum" / "oracle" / "checks.json").write_text('{"checks": [{"name": "a", "kind": "call"}]}')
    async with LoopbackServer(solver) as server:
        done = await assay("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "1", "-q")
        assert done.code == 1 and "the oracle cannot grade" in done.err, done.err
        assert not server.requests


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(
    ("model", "more", "says"),
    [("nobody/nothing", (), "nobody"), ("mockllm/model", ("--max-cost", "1"), "no price is known for mockllm/model")],
)
async def test_a_model_that_cannot_be_made_or_priced_is_one_line(
    assay: Assay, model: str, more: tuple[str, ...], says: str
) -> None:
    done = await assay("trial", "run", "sealed-word", "--model", model, *more, "-q")
    assert done.code == 2 and says in done.err and len(done.err.splitlines()) == 1, done.err


NO_INSPECT = (
    "import sys, importlib.util as u\n"
    "real = u.find_spec\n"
    "u.find_spec = lambda name, *rest: None if name == 'inspect_ai' else real(name, *rest)\n"
    "sys.modules['inspect_ai'] = None\n"
    "from assay.cli import main\n"
    "for line in sys.argv[1:]:\n"
    "    sys.argv = ['assay', 'trial', *line.split()]\n"
    "    try: main()\n"
    "    except SystemExit as end: print('ended with', end.code)\n"
)


async def test_without_the_extra_one_line_names_the_install_command(assay: Assay) -> None:
    done = await assay("run sealed-word --model a/b", "probe all", "report", command=("-c", NO_INSPECT))
    assert done.out.splitlines() == ["ended with 2"] * 3
    assert ["[eval]" in line for line in done.err.splitlines()] == [True] * 3


@pytest.mark.usefixtures("inspect")
async def test_without_bubblewrap_a_run_refuses_in_one_line(assay: Assay, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = await assay("trial", "run", "sealed-word", "--model", "mockllm/model", PATH=str(empty))
    assert done.code == 2 and "bubblewrap" in done.err and len(done.err.splitlines()) == 1, done.err


async def test_help_needs_nothing(assay: Assay) -> None:
    commands = ("", "run", "probe", "check", "catalog", "verify", "report")
    done = await assay(*(f"{command} --help" for command in commands), command=("-c", NO_INSPECT))
    assert done.out.count("Usage:") == done.out.count("ended with 0\n") == len(commands), done.err


@pytest.mark.usefixtures("boxes")
async def test_a_box_that_cannot_be_made_is_told_before_a_model_is_asked(assay: Assay, tmp_path: Path) -> None:
    assert (await assay("trial", "new", "sum")).code == 0
    (tmp_path / "image.tar").write_text("cut")
    async with LoopbackServer(solver) as server:
        command = ("trial", "run", "sum", "--model", f"{server.url}/v1#tiny", "--k", "1")
        told = await assay(*command, "--box-root", "image.tar")
        assert told.code == 2 and told.err.count("\n") == 1 and "no OCI image that can be unpacked" in told.err
        assert not server.requests
    # The ledger speaks of no trial that never was.
    assert not (tmp_path / "shop/ledger.jsonl").exists()
