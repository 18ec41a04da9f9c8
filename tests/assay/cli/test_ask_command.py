"""`assay ask`: a question in, an answer out, and one line with the right exit code for whatever goes wrong."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.extent import FULL

from assay.console.options import read_text
from llm_runtime.testing import Fault, LoopbackServer

CALLS = 9
Assay = Any


async def test_the_answer_goes_to_stdout_and_progress_to_stderr(assay: Assay, server: LoopbackServer) -> None:
    done = await assay("ask", "Which database?", server=server)
    assert done.code == 0
    assert "Use SQLite" in done.out and "loop" not in done.out
    assert "red team" in done.err and "$0" in done.err
    assert len(server.requests) == CALLS


@pytest.mark.parametrize("arguments", [(), ("-",), ("--file", "-")])
async def test_the_question_may_come_through_a_pipe(
    assay: Assay, server: LoopbackServer, arguments: tuple[str, ...]
) -> None:
    assert (await assay("ask", *arguments, stdin="Which database?\n", server=server)).code == 0


@pytest.mark.parametrize("written", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_text_is_read_by_the_mark_that_an_editor_or_a_shell_gives_it(tmp_path: Path, written: str) -> None:
    text, mark = "Où est 東?\r\n", "\ufeff" if written == "utf-16-be" else ""
    (tmp_path / "q.md").write_bytes((mark + text).encode(written))
    assert read_text(None, str(tmp_path / "q.md"), "question") == text


async def test_the_question_may_come_from_a_file(assay: Assay, server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "q.md").write_text("\ufeffWhich database — and why?", encoding="utf-8")
    done = await assay("ask", "--file", "q.md", "--json", server=server)
    assert done.json["task"]["query"] == "Which database — and why?"


async def test_json_is_one_object_with_the_trace(assay: Assay, server: LoopbackServer) -> None:
    done = await assay("ask", "Which database?", "--json", "--quiet", server=server)
    assert done.err == ""
    data = done.json
    assert (data["state"], data["calls"], data["result"]["loops_executed"]) == ("finished", CALLS, 2)
    assert [loop["loop_number"] for loop in data["result"]["reasoning_trace"]] == [1, 2]


async def test_jsonl_is_every_event_as_it_happens(assay: Assay, server: LoopbackServer) -> None:
    done = await assay("ask", "Which database?", "--jsonl", "--quiet", server=server)
    types = [json.loads(line)["type"] for line in done.out.splitlines()]
    assert types[0] == "run.started" and types[-1] == "run.finished"
    assert types.count("call.started") == types.count("call.finished") == CALLS


@pytest.mark.parametrize(("ending", "starts"), [("html", "<!doctype html>"), ("md", "# "), ("json", "{")])
async def test_a_report_is_written_as_its_ending_says(
    assay: Assay, server: LoopbackServer, tmp_path: Path, ending: str, starts: str
) -> None:
    done = await assay("ask", "Which database?", "--out", f"report.{ending}", server=server)
    assert done.code == 0
    text = (tmp_path / f"report.{ending}").read_text(encoding="utf-8")
    assert text.startswith(starts) and "Use SQLite" in text


async def test_a_seat_may_be_given_to_a_mailbox(assay: Assay, server: LoopbackServer, tmp_path: Path) -> None:
    """Another program answers for the red team while a model answers for everybody else."""

    finished = threading.Event()

    def answer_letters() -> None:
        answered: set[str] = set()
        while not finished.wait(0.02):
            for request in tmp_path.glob("letters/*.request.json"):
                if request.name not in answered:
                    answered.add(request.name)
                    reply = request.with_name(request.name.replace(".request.json", ".reply.txt"))
                    reply.with_suffix(".new").write_text("Your plan has no backup.", encoding="utf-8")
                    reply.with_suffix(".new").rename(reply)

    letters = asyncio.ensure_future(asyncio.to_thread(answer_letters))
    done = await assay("ask", "Q?", "--seat", "red_team=mailbox:letters", "--json", server=server)
    finished.set()
    await letters
    assert done.code == 0, done.err
    critiques = [loop["red_team_critique"] for loop in done.json["result"]["reasoning_trace"]]
    assert "Your plan has no backup." in critiques[0]
    assert len(server.requests) == CALLS - 2


async def test_without_a_model_one_line_names_the_ways_to_get_one(assay: Assay) -> None:
    done = await assay("ask", "Which database?")
    assert done.code == 78
    assert len(done.err.splitlines()) == 1
    for way in ("OPENROUTER_API_KEY", "Ollama", "terminal:", "mailbox:"):
        assert way in done.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "says"),
    [
        ((), "", "empty"),
        (("   ",), "", "empty"),
        ((), "x" * 2_000_000, "longer than"),
        ((), b"\xff\xfe\x00", "UTF-8"),
        (("Q?", "--file", "q.md"), "", "twice"),
        (("--file", "nowhere.md"), "", "nowhere.md cannot be read"),
        (("Q?", "--context", "nowhere.json"), "", "cannot be read"),
        (("Q?", "--context", "list.json"), "", "must be a JSON object"),
        (("Q?", "--context", "broken.json"), "", "not JSON"),
        (("Q?", "--out", "report.pdf"), "", ".html"),
        (("Q?", "--out", "nowhere/report.html"), "", "no folder"),
        (("Q?", "--seat", "red_team"), "", "ROLE=MODEL"),
        (("Q?", "--json", "--jsonl"), "", "choose one"),
        (("Q?", "--model", "mailbox:"), "", "needs a folder"),
        (("Q?", "--context", "nan.json"), "", "cannot be kept"),
        (("Q?", "--context", "deep.json"), "", "context"),
        (("Q?", "--seat", "redteam=terminal:"), "", "no redteam"),
        (("Q?", "--seat", "red_team=terminal:"), "", "keyboard"),
        (("Q?", "--model", "http://"), "", "no host"),
        (("Q?", "--budget", "nan"), "", "finite"),
        (("Q?", "--budget", "inf"), "", "finite"),
        (("Q?", "--deadline", "nan"), "", "finite"),
        ((b"caf\xff",), "", "UTF-8"),
    ],
)
async def test_bad_input_is_one_line_and_exit_code_2(
    assay: Assay, server: LoopbackServer, tmp_path: Path, arguments: tuple[str, ...], stdin: str | bytes, says: str
) -> None:
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "nan.json").write_text('{"a": NaN}')
    (tmp_path / "deep.json").write_text('{"a": ' * 900 + "1" + "}" * 900)
    done = await assay("ask", *arguments, "--quiet", stdin=stdin, server=server)
    assert done.code == 2, done.err
    assert says in done.err and "Traceback" not in done.err
    assert server.requests == []
    assert (await assay("runs", "list", "--json")).json["runs"] == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("I would rather chat.", "triage"),
        ({"council": "two red teams"}, "red"),
        ({"council": "no red team"}, "red"),
        ({"council": "six seats"}, "council"),
        ({"council": "an unknown role"}, "role"),
        ({"loop_count": 9}, "loop_count"),
    ],
)
async def test_unusable_triage_is_one_line_and_exit_code_6(
    assay: Assay, triage: dict[str, Any], change: Any, says: str
) -> None:
    seats = {role: {"role": role, "system_prompt": "Speak.", "model_hint": None} for role in ROLES}
    councils = {
        "two red teams": [seats["pragmatist"], seats["red_team"], seats["red_team"]],
        "no red team": [seats["pragmatist"], seats["creative"], seats["synthesizer"]],
        "six seats": [*seats.values(), seats["creative"]],
        "an unknown role": [seats["pragmatist"], seats["red_team"], {**seats["creative"], "role": "jester"}],
    }
    if isinstance(change, dict):
        change = json.dumps(triage | {k: councils.get(str(v), v) for k, v in change.items()})
    async with LoopbackServer(lambda _: change) as server:
        done = await assay("ask", "Q?", "--quiet", server=server)
        assert done.code == 6, done.err
        assert says in done.err.splitlines()[0]
        assert len(server.requests) == 1


ROLES = ("domain_expert", "pragmatist", "creative", "synthesizer", "red_team")


async def test_a_budget_of_nothing_sends_nothing(assay: Assay, server: LoopbackServer) -> None:
    done = await assay("ask", "Q?", "--budget", "0", "--quiet", server=server)
    assert done.code == 3
    assert "budget" in done.err.splitlines()[0] and "runs resume" in done.err
    assert server.requests == []


async def test_a_budget_that_ends_the_run_is_raised_and_the_run_goes_on(assay: Assay, server: LoopbackServer) -> None:
    stopped = await assay("ask", "Q?", "--max-calls", "5", "--quiet", server=server)
    assert stopped.code == 3 and len(server.requests) == 5
    assert "--max-calls N" in stopped.err and "--budget" not in stopped.err
    listed = await assay("runs", "list", "--json")
    assert listed.json["runs"][0]["state"] == "stopped"

    resumed = await assay("runs", "resume", "latest", "--max-calls", "20", "--quiet", server=server)
    assert resumed.code == 0 and "Use SQLite" in resumed.out
    assert len(server.requests) == CALLS


@pytest.mark.parametrize(("given", "code"), [("gpt-4o", 2), ("openai:gpt-4o", 78), ("vllm:x", 78)])
async def test_a_model_that_is_named_is_never_replaced(assay: Assay, given: str, code: int) -> None:
    async with LoopbackServer(lambda _: "never") as server:
        only_anthropic = {"ANTHROPIC_API_KEY": "sk-ant-0123456789", "ANTHROPIC_BASE_URL": server.url}
        for arguments in (("--model", given), ("--seat", f"red_team={given}")):
            done = await assay("ask", "Q?", *arguments, "--quiet", **only_anthropic)
            assert done.code == code, done.err
    assert [received for received in server.requests if received.payload] == []
    assert (await assay("runs", "list", "--json")).json["runs"] == []


async def test_a_resumed_run_keeps_the_caps_it_began_with(assay: Assay, server: LoopbackServer) -> None:
    assert (await assay("ask", "Q?", "--max-calls", "3", "--quiet", server=server)).code == 3
    assert (await assay("runs", "resume", "latest", "--quiet", server=server)).code == 3
    assert len(server.requests) == 3


async def test_failed_attempts_count_against_the_cap_of_a_resumed_run(assay: Assay) -> None:
    async with LoopbackServer(lambda _: "never", faults=Fault.CUT_AFTER_HEADERS) as server:
        for _ in range(3):
            again = ("runs", "resume", "latest") if server.requests else ("ask", "Q?", "--max-calls", "2")
            done = await assay(*again, server=server)
            assert done.code == 3, done.err
        assert len(server.requests) == 2


async def test_a_reader_that_goes_away_does_not_end_a_run(
    assay: Assay, server: LoopbackServer, world: dict[str, str], tmp_path: Path
) -> None:
    environment = {**world, "OPENROUTER_API_KEY": "sk-or-1234567890", "OPENROUTER_BASE_URL": f"{server.url}/v1"}
    command = f"{sys.executable} -m assay ask Q? --jsonl -q | head -1"
    process = await asyncio.create_subprocess_shell(
        command, cwd=tmp_path, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
    )
    await process.wait()
    while (runs := (await assay("runs", "list", "--json")).json["runs"])[0]["state"] == "running":
        pass
    assert runs[0]["state"] == "finished"
    assert len(server.requests) == CALLS


async def test_a_stopped_run_shows_what_there_is(assay: Assay, server: LoopbackServer) -> None:
    done = await assay("ask", "Q?", "--max-calls", "5", "--quiet", server=server)
    assert done.code == 3
    assert "Take one server" in done.out and "--max-calls" in done.err


async def test_a_key_that_is_refused_is_exit_code_4(assay: Assay) -> None:
    async with LoopbackServer(lambda _: "never", faults=Fault.STATUS_401) as server:
        done = await assay("ask", "Q?", "--quiet", server=server)
    assert done.code == 4
    assert "HTTP 401" in done.err


async def test_a_damaged_store_is_exit_code_5(assay: Assay, server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_text("not a database at all" * 100)
    done = await assay("ask", "Q?", "--store", "broken.db", "--quiet", server=server)
    assert done.code == 5 and len(done.err.splitlines()) == 1
    assert server.requests == []


async def test_ctrl_c_ends_the_run_with_130_and_it_can_be_resumed(
    world: dict[str, str], tmp_path: Path, server: LoopbackServer, assay: Assay
) -> None:
    asked, gate = asyncio.Event(), asyncio.Event()

    async def slow(received: Any) -> str:
        asked.set()
        await gate.wait()
        return "never"

    async with LoopbackServer(slow) as stuck:
        environment = {**world, "OPENROUTER_API_KEY": "sk-or-1234567890", "OPENROUTER_BASE_URL": f"{stuck.url}/v1"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assay", "ask", "Q?", "--quiet"),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=environment,
        )
        await asked.wait()
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
        gate.set()
    assert process.returncode == 130
    assert b"runs resume" in err and b"Traceback" not in err
    assert b"runs resume" in err.splitlines()[-1], "the way on is the last word"

    done = await assay("runs", "resume", "latest", "--quiet", server=server)
    assert done.code == 0, done.err


@pytest.mark.counted
async def test_killed_at_any_point_it_resumes_without_asking_again(
    world: dict[str, str], tmp_path: Path, assay: Assay, council: Any
) -> None:
    """The process is killed after each call in turn; together the runs make each call once."""
    async with LoopbackServer(council) as server:
        whole = await assay("ask", "Q?", "--json", "-q", "--seed", "7", "--store", "whole.db", server=server)
        await assay("runs", "show", "latest", "--out", "whole.json", "--store", "whole.db")
    assert whole.code == 0, whole.err
    results = {json.dumps(json.loads((tmp_path / "whole.json").read_text())["result"])}
    for killed_after in range(1, CALLS) if FULL else (CALLS // 2,):
        store = str(tmp_path / f"{killed_after}.db")
        async with LoopbackServer(council) as server:
            environment = {**world, "OPENROUTER_API_KEY": "sk-or-1234567890", "OPENROUTER_BASE_URL": f"{server.url}/v1"}
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "assay", "ask", "Q?", "--jsonl", "-q", "--seed", "7", "--store", store),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                cwd=tmp_path,
                env=environment,
            )
            assert process.stdout is not None
            finished = 0
            while finished < killed_after and (line := await process.stdout.readline()):
                finished += json.loads(line)["type"] == "call.finished"
            os.kill(process.pid, signal.SIGKILL)
            await process.wait()
            in_flight = len(server.requests) - finished

            shown = await assay("runs", "list", "--json", "--store", store)
            assert shown.json["runs"][0]["state"] == "interrupted"
            done = await assay("runs", "resume", "latest", "-q", "--store", store, server=server)
            assert done.code == 0, done.err
            assert len(server.requests) <= CALLS + in_flight
            verified = await assay("runs", "verify", "latest", "--store", store)
            assert verified.code == 0, verified.out
            shown = await assay("runs", "show", "latest", "--out", f"{killed_after}.json", "--store", store)
            results.add(json.dumps(json.loads((tmp_path / f"{killed_after}.json").read_text())["result"]))
    assert len(results) == 1
