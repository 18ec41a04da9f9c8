"""`assay debate`: what it costs first, cards out, one line for whatever goes wrong, and no call made twice."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, Done, bare_world

from llm_runtime.testing import LoopbackServer, Received

from .conftest import KEY, PANEL, SEED, TOPIC, Answers, scripted

pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")
pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")

Assay = Any
HOLD = ("debate", TOPIC, "--personas", PANEL, "--aspects", "2", "--rooms", "1", "--seed", str(SEED))


@dataclass(frozen=True)
class Held:
    """A debate from the command line, the calls that it made, and where its store is."""

    done: Done
    asked: int
    folder: Path


def texts(received: Received) -> tuple[str, ...]:
    return tuple(message.content for message in received.messages)


@pytest.fixture(scope="module")
def said() -> Answers:
    return asyncio.run(scripted([]))


@pytest.fixture
async def server(said: Answers) -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(lambda received: said[texts(received)]) as running:
        yield running


@pytest.fixture(scope="module")
def held(said: Answers, commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Held:
    """A debate that was held once: what the command said, what was asked, and the folder with its store."""
    folder = tmp_path_factory.mktemp("held")

    async def hold() -> Held:
        async with LoopbackServer(lambda received: said[texts(received)]) as server:
            reached = {"OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": f"{server.url}/v1"}
            done = await commands.run(*HOLD, "--out", "r.html", cwd=folder, env={**bare_world(folder), **reached})
            return Held(done, len(server.requests), folder)

    return asyncio.run(hold())


@pytest.fixture
def stored(held: Held, tmp_path: Path) -> None:
    """The store of the debate that was held, as one's own."""
    shutil.copytree(held.folder / "data", tmp_path / "data")


async def test_the_cards_go_to_stdout_and_the_cost_is_said_before_anything_is_asked(held: Held, said: Answers) -> None:
    done = held.done
    assert done.code == 0, done.err
    assert "Is a refusal that nobody decided a wrong in itself" in done.out
    assert "What would change this mind" in done.out
    first = done.err.splitlines()[0]
    assert first.startswith("about ") and "calls" in first and "$" in first and "never more than" in first
    assert "room-1 opens" in done.err and "card, values, open" in done.err and "round 2 of 2" in done.err
    assert held.asked == len(said)


@pytest.mark.usefixtures("stored")
async def test_a_stored_debate_is_read_and_exported(assay: Assay, held: Held) -> None:
    assert "Where it stands" in (held.folder / "r.html").read_text(encoding="utf-8")
    cards = await assay("debate", "cards", "latest", "--json")
    assert {"sourceAspect", "disagreementType", "cruxRoomId"} <= cards.json[0].keys()
    assert "[Crux 1]" in (await assay("debate", "export", "latest", "--format", "argdown")).out


@pytest.mark.long
@pytest.mark.usefixtures("stored")
async def test_a_stored_debate_is_read_mapped_measured_exported_and_replayed(assay: Assay, tmp_path: Path) -> None:
    run = (await assay("runs", "list", "--json")).json["runs"][0]["run_id"]
    plain = (await assay("debate", "cards", "latest")).out
    assert 0 < plain.index("<b>Maud Tarrowby</b>") < plain.index("<b>Ilario Fennimast</b>")  # as they sit
    mapped = (await assay("debate", "map", run, run)).out
    assert "Alignment map" in mapped and "Maud Tarrowby and Ilario Fennimast" in mapped
    assert "lineToLine" in (await assay("debate", "bench", run)).out
    for form, part in (
        ("json", '"debateId"'),
        ("md", "# Should a city"),
        ("argdown", "[Crux 1]"),
        ("aif", '"nodes"'),
        ("csv", "debate,step"),
        ("html", "<!doctype html>"),
    ):
        assert part in (await assay("debate", "export", run, "--format", form)).out, form
    assert (await assay("runs", "replay", run, "--speed", "0", "-q")).code == 0


async def test_a_cap_stops_the_debate_with_what_there_is_and_it_can_go_on(
    assay: Assay, server: LoopbackServer, said: Answers
) -> None:
    stopped = await assay(*HOLD, "--max-calls", "30", "-q", url=server.url)
    assert stopped.code == 3 and "resume" in stopped.err
    assert "Is a refusal that nobody decided" in stopped.out
    done = await assay("runs", "resume", "latest", "--max-calls", "500", "-q", url=server.url)
    assert done.code == 0, done.err
    assert len(server.requests) == len(said)


@pytest.mark.long
@pytest.mark.parametrize("killed_after", [1, 9, 24])
async def test_killed_at_any_point_it_resumes_without_asking_again(
    assay: Assay, server: LoopbackServer, said: Answers, world: dict[str, str], tmp_path: Path, killed_after: int
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assay", *HOLD, "--jsonl", "-q"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        cwd=tmp_path,
        env={**world, "OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": f"{server.url}/v1"},
        limit=2**24,
    )
    assert process.stdout is not None
    finished = 0
    while finished < killed_after and (line := await process.stdout.readline()):
        finished += json.loads(line)["type"] == "call.finished"
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    in_flight = len(server.requests) - finished
    done = await assay("runs", "resume", "latest", "-q", url=server.url)
    assert done.code == 0, done.err
    assert len(server.requests) <= len(said) + in_flight
    assert (await assay("runs", "verify", "latest")).code == 0


@pytest.mark.usefixtures("stored")
async def test_evidence_forks_a_debate_whose_beginning_stays(assay: Assay, tmp_path: Path) -> None:
    evidence = "A second count of the refusals found 51 wrong in 400."
    run = (await assay("runs", "list", "--json")).json["runs"][0]["run_id"]
    one = {"id": "e1", "text": evidence, "room": "room-2", "after_turn": 2}
    more = await scripted([one])
    (tmp_path / "e.txt").write_text(evidence, encoding="utf-8")

    async with LoopbackServer(lambda received: more[texts(received)]) as other:
        done = await assay("debate", "fork", run, "--evidence", "e.txt", "--room", "2", "-q", url=other.url)
        assert done.code == 0, done.err
        assert [line.split()[0] for line in done.out.splitlines()] == ["same", "same"]
        assert 0 < len(other.requests) < len(more) / 2
    refused = await assay("debate", "fork", run, "--evidence", "e.txt", "--room", "9", "-q")
    assert refused.code == 2 and "has no room 9; it has room-1, room-2" in refused.err


@pytest.mark.parametrize(
    ("arguments", "said_instead"),
    [
        (("debate", "T?"), "two personas or more"),
        (("debate", "T?", "--personas", "maud-tarrowby"), "two personas or more"),
        (("debate", "T?", "--personas", "maud-tarrowby,Maud Tarrowby"), "twice"),
        (("debate", "T?", "--personas", "maud-tarrowby,nobody"), "no persona called nobody"),
        (("debate", "T?", "--personas", "maud-tarrowby,\x1b[31m"), "no persona called"),
        (("debate", "T?", "--personas", PANEL, "--aspects", "7"), "'auto', 2, 3 or 4"),
        (("debate", "T?", "--personas", PANEL, "--rooms", "3"), "--rooms: Input should be less than or equal to 2"),
        (("debate", "", "--personas", PANEL), "topic is empty"),
        (("debate", "T?", "--personas", PANEL, "--out", "r.docx"), ".docx"),
        (("debate", "cards", "nothing"), "nothing"),
        (("debate", "personas", "import", "not-there"), "no such file"),
        (("debate", "personas", "build", "nobody"), "no persona called nobody"),
        (("debate", "fork", "x", "--evidence", "missing.txt"), "missing.txt"),
    ],
)
async def test_bad_input_is_one_line(assay: Assay, arguments: tuple[str, ...], said_instead: str) -> None:
    done = await assay(*arguments)
    assert done.code != 0
    last = done.err.strip().splitlines()
    assert len(last) == 1 and said_instead in last[0] and "Traceback" not in done.err and "\x1b" not in done.err


async def test_a_topic_that_is_too_long_is_refused_before_anything_is_asked(
    assay: Assay, server: LoopbackServer
) -> None:
    done = await assay("debate", "--personas", PANEL, "-q", stdin="x" * 3_000, url=server.url)
    assert done.code == 2 and "at most 2000 characters" in done.err
    assert not server.requests


async def test_texts_become_a_persona_that_is_listed_and_checked(assay: Assay, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "one.md").write_text("A queue is a price. It is charged in minutes to everyone at the same rate.")
    imported = await assay("debate", "personas", "import", "shelf", "--name", "Ada Quill")
    assert imported.code == 0 and "1 text" in imported.out
    assert "not built" in (await assay("debate", "personas", "list")).out
    checked = await assay("debate", "personas", "check", "ada-quill")
    assert checked.code == 1 and "not built" in checked.out
    shown = await assay("debate", "personas", "show", "maud-tarrowby")
    assert shown.code == 0 and "Beliefs" in shown.out


@pytest.mark.long
async def test_the_recorded_debate_plays_and_says_what_it_is(assay: Assay, tmp_path: Path) -> None:
    done = await assay("demo", "debate", "--speed", "0")
    assert done.code == 0 and "written by hand" in done.err
    page = (tmp_path / "out" / "demo-debate.html").read_text(encoding="utf-8")
    assert "Alignment map" in page and "Concessions" in page and "Without a debate" in page


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment in which a library of the extra is missing."""
    (tmp_path / "bm25s.py").write_text("raise ImportError")
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'bm25s' else find(name, package)\n"
    )
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])}


async def test_without_the_extra_it_says_so_in_one_line(assay: Assay, bare: dict[str, str]) -> None:
    done = await assay("debate", "T?", "--personas", PANEL, **bare)
    assert done.code == 2 and "[debate]" in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.long
async def test_without_the_extra_the_debate_that_was_played_beforehand_is_shown(
    assay: Assay, bare: dict[str, str]
) -> None:
    shown = await assay("demo", "debate", **bare)
    assert shown.code == 0 and "[debate]" in shown.err.splitlines()[0]
    assert "Is a refusal" in shown.out, "the run that was played beforehand is shown"
