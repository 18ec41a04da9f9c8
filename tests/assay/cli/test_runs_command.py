"""`assay runs`, `keys`, `models`, `doctor` and `demo`: what was run is kept, and can be looked at in every way."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, bare_world

import llm_runtime
from llm_runtime.testing import LoopbackServer

Assay = Any


@pytest.fixture(scope="session")
def played(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demonstration was played once, without waiting."""
    folder = tmp_path_factory.mktemp("played")
    done = asyncio.run(commands.run("demo", "--speed", "0", "-q", cwd=folder, env=bare_world(folder)))
    assert done.code == 0, done.err
    return folder


@pytest.fixture
async def kept(assay: Assay, played: Path, tmp_path: Path) -> str:
    """A finished run in the user's store."""
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    return (await assay("runs", "list", "--json")).json["runs"][0]["run_id"]


async def test_the_demo_plays_a_whole_council_and_leaves_a_report(assay: Assay, tmp_path: Path) -> None:
    done = await assay("demo", "--speed", "0")
    assert done.code == 0
    assert "loop 3 of 3 complete" in done.err and "written by hand" in done.err
    assert "microservices" not in done.out.splitlines()[0]  # the answer, not the question
    report = (tmp_path / "out/demo-council.html").read_text(encoding="utf-8")
    assert "Loop 3" in report and "<script" not in report


async def test_list_and_show(assay: Assay, kept: str) -> None:
    listed = await assay("runs", "list")
    assert kept in listed.out and "finished" in listed.out
    shown = await assay("runs", "show", kept[:17], "--trace")
    assert shown.code == 0 and "Loop 2" in shown.out
    lines = [json.loads(line) for line in (await assay("runs", "show", "latest", "--jsonl")).out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert all(line.keys() == {"seq", "at", "event"} for line in lines)
    assert lines[0]["event"]["type"] == "run.started" and lines[0]["event"]["run_id"] == kept


@pytest.mark.parametrize("columns", [60, 80, 100, 130, 200])
async def test_the_list_fits_its_terminal_and_tells_each_run_with_its_verdict(
    assay: Assay, kept: str, columns: int
) -> None:
    lines = (await assay("runs", "list", COLUMNS=str(columns))).out.splitlines()
    assert all(len(line) <= columns for line in lines), lines
    told = " ".join(lines[1:])
    assert kept in told and "Twelve engineers, one" in told and "· answered" in told


async def test_a_pipe_is_given_the_whole_title_and_verdict(assay: Assay, kept: str) -> None:
    line = (await assay("runs", "list")).out.splitlines()[1]
    assert "Twelve engineers, one Django monolith: microservices? · answered · 9 objections; of the" in line


async def test_a_replay_asks_no_model_and_has_the_same_result(assay: Assay, kept: str) -> None:
    done = await assay("runs", "replay", kept, "-q")
    assert done.code == 0 and "with the result that was recorded" in done.out
    assert len((await assay("runs", "list", "--json")).json["runs"]) == 1


async def test_a_recording_of_another_question_is_a_mismatch_that_says_what_differs(
    assay: Assay, kept: str, tmp_path: Path
) -> None:
    exported = (await assay("runs", "export", kept)).out
    other = exported.replace("Django monolith on one", "Rails monolith on one", 1)
    (tmp_path / "other.jsonl").write_text(other)
    assert (await assay("runs", "import", "other.jsonl", "--as", "other")).code == 5  # the chain does not hold


async def test_fork_shares_the_answers_up_to_an_event(assay: Assay, kept: str, server: LoopbackServer) -> None:
    records = [json.loads(line) for line in (await assay("runs", "show", kept, "--jsonl")).out.splitlines()]
    types = [record["event"]["type"] for record in records]
    at = next(record["seq"] for record in records if record["event"]["type"] == "crucible.loop_ended")
    done = await assay("runs", "fork", kept, "--at", str(at), "-q", server=server)
    assert done.code == 0, done.err
    forked = (await assay("runs", "list", "--json")).json["runs"][0]
    assert forked["parent"] == kept
    shared_calls = types[:at].count("call.finished")
    assert len(server.requests) == types.count("call.finished") - shared_calls
    assert (await assay("runs", "fork", kept, "--at", "9999", server=server)).code == 2


async def test_export_import_and_verify(assay: Assay, kept: str, tmp_path: Path) -> None:
    assert (await assay("runs", "export", kept, "run.jsonl")).code == 0
    assert (await assay("runs", "import", "run.jsonl")).code == 5  # it is there already
    assert (await assay("runs", "delete", kept, "--yes")).code == 0
    assert (await assay("runs", "import", "run.jsonl")).code == 0
    assert (await assay("runs", "verify", kept)).code == 0
    assert (await assay("runs", "replay", kept, "-q")).code == 0


async def test_files_that_are_not_there_are_one_line_and_exit_code_2(assay: Assay, kept: str) -> None:
    for arguments in (
        ("import", "absent/run.jsonl"),
        ("import", "."),
        ("export", kept, "absent/y"),
        ("export", kept, "."),
    ):
        done = await assay("runs", *arguments)
        assert done.code == 2 and len(done.err.splitlines()) == 1, done.err
        assert arguments[-1] in done.err and ";" in done.err


async def test_a_store_that_is_not_there_is_said_and_not_made(assay: Assay, kept: str, tmp_path: Path) -> None:
    nowhere = ("--store", "folder/nosuch.db")
    for arguments in (("list",), ("show", "latest"), ("verify", "--all"), ("delete", kept, "--yes")):
        done = await assay("runs", *arguments, *nowhere)
        assert done.code == 2 and done.err.startswith("assay: there is no store at folder/nosuch.db;"), done.err
    doctor = await assay("store", "doctor", *nowhere)
    assert doctor.code == 1 and "there is no store at folder/nosuch.db" in doctor.out
    assert not (tmp_path / "folder").exists()
    await assay("runs", "export", kept, "run.jsonl")
    assert (await assay("runs", "import", "run.jsonl", *nowhere)).code == 0
    assert kept in (await assay("runs", "list", *nowhere)).out


async def test_a_run_of_another_store_verifies_with_a_note_unless_it_is_trusted(
    assay: Assay, kept: str, tmp_path: Path
) -> None:
    await assay("runs", "export", kept, "run.jsonl")
    other = {"ASSAY_DATA_DIR": str(tmp_path / "other")}
    assert (await assay("runs", "import", "run.jsonl", **other)).code == 0
    noted = await assay("runs", "verify", kept, **other)
    assert noted.code == 0 and "unanchored" in noted.out and "signed by another key" in noted.out
    data = (await assay("runs", "verify", kept, "--json", **other)).json
    assert (data["ok"], data["intact"], data["anchored"]) == (False, True, 0)

    assert (await assay("runs", "import", "run.jsonl", "--as", "mine", "--trust", **other)).code == 0
    assert (await assay("runs", "verify", "mine", "--json", **other)).json["ok"]


async def test_a_log_whose_end_is_not_signed_yet_verifies_with_a_note(assay: Assay, kept: str, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "data/runs.db")) as connection, connection:
        connection.execute("DELETE FROM heads")
    done = await assay("runs", "verify", kept)
    assert done.code == 0 and "unanchored" in done.out and "nothing contradicts the log" in done.out


async def test_a_run_that_failed_is_replayed_as_it_failed(assay: Assay, tmp_path: Path) -> None:
    async with LoopbackServer(lambda received: "no JSON at all") as server:
        failed = await assay("ask", "Which database?", "-q", server=server)
    assert failed.code == 6
    done = await assay("runs", "replay", "latest", "-q")
    assert done.code == 0 and "failed in the same way as recorded" in done.out


async def test_a_run_that_lost_its_end_is_recovered_and_goes_on(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    assert (await assay("ask", "Which database?", "-q", server=server)).code == 0
    kept = (await assay("runs", "list", "--json")).json["runs"][0]["run_id"]
    with closing(sqlite3.connect(tmp_path / "data/runs.db")) as connection, connection:
        (length,) = connection.execute("SELECT max(seq) FROM records").fetchone()
        connection.execute("DELETE FROM records WHERE seq > ?", (length - 3,))
    verified = await assay("runs", "verify", kept)
    assert verified.code == 1 and "lost" in verified.out and f"assay runs recover {kept}" in verified.out
    refused = await assay("runs", "resume", kept, server=server)
    assert refused.code == 5 and len(refused.err.splitlines()) == 1 and f"assay runs recover {kept}" in refused.err

    recovered = await assay("runs", "recover", kept)
    assert recovered.code == 0 and "3 were lost" in recovered.out
    assert (await assay("runs", "resume", kept, "-q", server=server)).code == 0
    assert (await assay("runs", "verify", kept, "--json")).json["ok"]
    assert (await assay("runs", "recover", kept)).code == 5


async def test_all_runs_are_verified_on_any_machine_by_the_key_that_signed_them(
    assay: Assay, kept: str, tmp_path: Path
) -> None:
    assert (await assay("demo", "--speed", "0", "-q", "--store", "data/runs.db")).code == 0
    assert "2 runs: 2 signed" in (await assay("runs", "verify", "--all")).out
    await assay("runs", "export", kept, "mine.jsonl")
    assert "all as they were written and signed" in (await assay("runs", "verify", "./mine.jsonl")).out
    with closing(sqlite3.connect(tmp_path / "data/runs.db")) as connection:
        key = connection.execute("SELECT public_key FROM heads").fetchone()[0].hex()
    # on another machine, which has a copy and not the key
    (tmp_path / "data/signing.key").unlink()
    elsewhere = await assay("runs", "verify", "--all")
    assert elsewhere.code == 0 and "2 signed by another key" in elsewhere.out and key in elsewhere.out
    assert (await assay("runs", "verify", "--all", "--key", key)).code == 0
    stranger = await assay("runs", "verify", "--all", "--key", "00" * 32)
    assert stranger.code == 1 and f"run {kept}: signed by another key" in stranger.out
    # an exported run needs neither machine nor store
    await assay("runs", "export", kept, "run.jsonl")
    assert "whether key" in (await assay("runs", "verify", "./run.jsonl")).out
    (tmp_path / "data/runs.db").unlink()
    assert (await assay("runs", "verify", "./run.jsonl", "--key", key)).code == 0
    assert (await assay("runs", "verify", "./run.jsonl", "--key", "00" * 32)).code == 1
    for arguments in ((), (kept, "--all"), (kept, "--key", "f"), (kept, "--key", str(tmp_path)), ("no.jsonl",)):
        done = await assay("runs", "verify", *arguments)
        assert done.code == 2 and "Traceback" not in done.err


async def test_a_list_that_nothing_fits_does_not_say_that_there_are_no_runs(assay: Assay, kept: str) -> None:
    done = await assay("runs", "list", "--state", "failed")
    assert done.code == 0 and "no runs yet" not in done.err and "--state" in done.err


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"ASSAY_SIGNING_KEY": "00" * 32, "ASSAY_SIGNING_COMMAND": "sign"}, "two signers"),
        ({"ASSAY_SIGNING_KEY": "absent.key"}, "64 hex digits"),
        ({"ASSAY_SIGNING_COMMAND": "'sign"}, "quotes"),
        ({"ASSAY_DURABILITY": "always"}, "ASSAY_DURABILITY: durability"),
    ],
)
async def test_a_signer_or_a_level_that_does_not_fit_is_one_line(
    assay: Assay, environment: dict[str, str], says: str
) -> None:
    done = await assay("runs", "list", **environment)
    assert done.code == 2 and says in done.err and len(done.err.splitlines()) == 1


async def test_a_key_of_the_environment_and_a_program_sign_runs(assay: Assay, tmp_path: Path) -> None:
    place = Path(llm_runtime.__file__).parents[1]
    program = (
        f"env PYTHONPATH={place} {sys.executable} -m llm_runtime.store.signing_program {tmp_path / 'far-away.key'}"
    )
    for signer in ({"ASSAY_SIGNING_KEY": "07" * 32}, {"ASSAY_SIGNING_COMMAND": program}):
        assert (await assay("demo", "--speed", "0", "-q", "--store", "data/runs.db", **signer)).code == 0
        assert (await assay("runs", "verify", "latest", "--json", "--store", "data/runs.db", **signer)).json["ok"]
    assert not (tmp_path / "data/signing.key").exists()
    failing = await assay("demo", "--speed", "0", "-q", "--store", "b.db", ASSAY_SIGNING_COMMAND="false")
    assert failing.code == 5 and "the signing program false gave no signature" in failing.err


async def test_a_changed_log_fails_verification_and_says_where(assay: Assay, kept: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "data/runs.db") as connection:
        connection.execute("""UPDATE records SET body = CAST('{"type":"x"}' AS BLOB) WHERE seq = 2""")
    connection.close()
    done = await assay("runs", "verify", kept)
    assert done.code == 1 and "record 2: edited" in done.out


@pytest.mark.parametrize("command", ["show", "replay", "resume", "verify", "export"])
async def test_a_run_that_is_not_there_is_exit_code_2(assay: Assay, command: str) -> None:
    done = await assay("runs", command, "nothing-like-it")
    assert done.code == 2 and len(done.err.splitlines()) == 1


async def test_a_finished_run_is_not_resumed(assay: Assay, kept: str) -> None:
    done = await assay("runs", "resume", kept)
    assert done.code == 2 and "runs fork" in done.err


async def test_a_demonstration_is_not_gone_on_with_by_a_model(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    done = await assay("demo", "--speed", "0", "-q", "--store", "data/runs.db")
    with sqlite3.connect(tmp_path / "data/runs.db") as connection:
        connection.execute("DELETE FROM records WHERE seq > 20")
    connection.close()
    assert done.code == 0
    resumed = await assay("runs", "resume", "latest", server=server)
    assert resumed.code == 2 and "assay demo" in resumed.err
    assert server.requests == []


@pytest.mark.parametrize("words", [("runs", "show"), ("runs", "list", "--protocol"), ("batch", "status")])
async def test_an_argument_that_is_no_text_is_one_line(assay: Assay, words: tuple[str, ...]) -> None:
    done = await assay(*words, "\udcff")
    assert (done.code, done.err) == (2, f"assay: this is not UTF-8 text: '{' '.join(words)} \\udcff'\n")


async def test_keys_are_stored_for_their_owner_alone(assay: Assay, tmp_path: Path) -> None:
    done = await assay("keys", "set", "openrouter", stdin="sk-or-canary-0123456789abcdef\n")
    assert done.code == 0
    path = tmp_path / "config/keys.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert "keys file" in (await assay("keys", "list")).out
    assert str(path) in (await assay("keys", "path")).out
    assert (await assay("keys", "set", "nobody", stdin="x\n")).code == 2
    (tmp_path / "config/config.toml").write_text("[endpoints.lab]\nbase_url = 'http://10.0.0.7/v1'\n")
    refused = await assay("keys", "set", "lab", stdin="x\n")
    assert refused.code == 2 and "use https://" in refused.err and (await assay("keys", "list")).code == 0
    assert (await assay("keys", "remove", "openrouter")).code == 0
    assert (await assay("keys", "remove", "openrouter")).code == 2


async def test_models_lists_what_the_key_reaches(assay: Assay, server: LoopbackServer) -> None:
    done = await assay("models", server=server)
    assert done.code == 0 and "openrouter" in done.out and "key from environment" in done.out
    assert (await assay("models")).code == 78
    prices = await assay("models", "--prices", "--search", "gpt-4o")
    assert "gpt-4o-mini" in prices.out and "claude" not in prices.out


async def test_doctor_tells_what_is_missing_and_what_to_do(assay: Assay, tmp_path: Path) -> None:
    done = await assay("doctor")
    assert done.code == 0
    assert "OPENROUTER_API_KEY" in done.out and "aiohttp" in done.out
    checked = [check["what"] for check in (await assay("doctor", "--json")).json["checks"]]
    assert len(checked) == len(set(checked)) and "pyright" not in checked
    assert all(line[26] == " " != line[27] for line in done.out.splitlines() if " tree-sitter-" in line)
    assert "(0 runs)" in done.out and all(len(line) < 300 for line in done.out.splitlines()), done.out
    assert "inspect-ai" in checked and "bm25s" in checked and "sandbox" in checked
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.toml").write_text("modle = 3")
    broken = await assay("doctor")
    assert broken.code == 1 and "modle" in broken.out


async def test_doctor_counts_one_run_as_one(assay: Assay, kept: str) -> None:
    assert "(1 run)" in (await assay("doctor")).out


async def test_doctor_says_what_isolation_takes_where_there_is_none(assay: Assay) -> None:
    done = await assay("doctor", "--json", PATH="")
    found = next(check for check in done.json["checks"] if check["what"] == "sandbox")
    assert found["grade"] == "note" and "apt install bubblewrap" in found["detail"]


async def test_no_colour_where_none_is_wanted_and_some_where_it_is(assay: Assay, kept: str) -> None:
    assert "\x1b[" not in (await assay("runs", "list")).out
    assert "\x1b[" in (await assay("runs", "list", FORCE_COLOR="1")).out
    assert "\x1b[" not in (await assay("runs", "list", NO_COLOR="1", FORCE_COLOR="1")).out


@pytest.mark.parametrize(
    "arguments",
    [
        ("review", "HEAD", "--prove", "pytest {file}", "--prove-budget", "nan"),
        ("queue", "purse", "team", "--usd", "nan"),
        ("work", "--drain", "nan"),
        ("demo", "--speed", "inf"),
    ],
)
async def test_a_bound_that_is_no_number_is_refused(assay: Assay, arguments: tuple[str, ...]) -> None:
    done = await assay(*arguments)
    assert done.code == 2 and "must be a finite number" in done.err
