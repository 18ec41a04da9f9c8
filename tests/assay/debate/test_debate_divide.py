"""`assay debate divide`: from a thread to its cruxes at the terminal, in a pipe, by a link, and the next time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.crux.spoken import LANTERN, Q_CONVERT

from assay.protocols.crux.divide import DivideHooks, Options, Task
from llm_runtime.testing import LoopbackServer

pytest.importorskip("bm25s", reason="divide needs the extra 'debate'")

Assay = Any
THREAD = Path(__file__).parents[2] / "crux" / "lantern.jsonl"


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    talk: Any = replace(LANTERN, requests=[])
    async with LoopbackServer(lambda received: talk.answer(received)) as running:
        yield running


async def test_a_thread_is_divided_into_a_pipe_and_a_page(assay: Assay, server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "thread.jsonl").write_bytes(THREAD.read_bytes())
    done = await assay("debate", "divide", "thread.jsonl", "--out", "cruxes.html", url=server.url)
    assert done.code == 0, done.err
    assert done.out.startswith("# Ada Quill") and Q_CONVERT in done.out
    page = (tmp_path / "cruxes.html").read_text("utf-8")
    for told in (Q_CONVERT, "Would settle it, experiment", "Who says what", "imitated"):
        assert told in page, told


_POSTS = [{"body": words, "author": {"login": name}} for name, words in (("ada", "Go."), ("ben", "No."))]


@pytest.mark.parametrize(
    "talk",
    [
        json.dumps({**_POSTS[0], "comments": _POSTS[1:]}),
        json.dumps(_POSTS),
        '{"speaker": "ada", "text": "Go."}\n{"speaker": "ben", "text": "No."}\n',
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v ada>Go.\n\n00:02.000 --> 00:03.000\n<v ben>No.\n",
        "[12.03.26, 10:02:11] ada: Go.\n[12.03.26, 10:03:11] ben: No.\n[12.03.26, 10:04:11] ada: <omitted>\n",
    ],
)
def test_a_talk_on_standard_input_is_read_as_what_it_is(talk: str) -> None:
    """``--file -`` gives it in the place of a place."""
    pytest.importorskip("webvtt", reason="a transcript needs the extra 'import'")
    task, options = DivideHooks().prepare(Task(place=talk), Options())
    assert task.place == "" and [(one["speaker"], one["text"]) for one in options.texts] == [
        ("ada", "Go."),
        ("ben", "No."),
    ]


@pytest.mark.long
async def test_a_division_is_replayed_exported_and_not_paid_for_again(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "thread.jsonl").write_bytes(THREAD.read_bytes())
    line = ("debate", "divide", "thread.jsonl", "--seed", "7", "--json")
    assert (await assay(*line, url=server.url)).code == 0
    before = len(server.requests)
    again = await assay(*line, url=server.url)
    assert again.code == 0 and "all was read before" in again.err
    run = again.json["run_id"]
    assert len(server.requests) - before <= 2, "what was read and judged is asked no more"
    assert (await assay("runs", "replay", run)).code == 0
    names = ("argdown", "aif", "csv", "md", "graphml")
    forms = {form: await assay("debate", "export", run, "--format", form) for form in names}
    assert all(one.code == 0 for one in forms.values())
    assert {node["type"] for node in json.loads(forms["aif"].out)["nodes"]} >= {"I", "L", "YA"}


async def test_a_turn_in_front_and_another_name_cost_nobody_a_claim(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    turns = [json.loads(line) for line in THREAD.read_text("utf-8").splitlines()]
    talk = "".join(f"{turn['speaker']}: {turn['text']}\n\n" for turn in turns)
    (tmp_path / "talk.txt").write_text(talk, "utf-8")
    line = ("debate", "divide", "talk.txt", "--seed", "7", "--json")
    first = await assay(*line, url=server.url)
    talk = f"Ben Reed: Shall we begin now, please?\n\n{talk}".replace("Gus Hale:", "Gus H.:")
    (tmp_path / "talk.txt").write_text(talk, "utf-8")
    again = await assay(*line, url=server.url)
    assert (first.code, again.code) == (0, 0), again.err

    def answers(done: Any) -> list[Any]:
        cruxes = done.json["result"]["candidates"]
        return [(one["question"], [(side["author"], side["answer"]) for side in one["sides"]]) for one in cruxes]

    assert json.loads(json.dumps(answers(first)).replace("Gus Hale", "Gus H.")) == json.loads(
        json.dumps(answers(again))
    )


async def test_a_division_at_its_cap_keeps_what_was_read_and_goes_on(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "thread.jsonl").write_bytes(THREAD.read_bytes())
    stopped = await assay("debate", "divide", "thread.jsonl", "--max-calls", "2", "--json", url=server.url)
    assert stopped.code == 3
    done = await assay("runs", "resume", stopped.json["run_id"], "--max-calls", "20", url=server.url)
    assert done.code == 0, done.err
    texts = [request.messages[-1].content for request in server.requests]
    assert len(texts) == len(set(texts)), "nothing is asked twice"


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("one.jsonl", '{"speaker": "Ann", "text": "Tolls are owed."}\n', "only Ann speaks"),
        ("minutes.txt", "We met and talked about tolls.\n\nNothing was decided.\n", "cannot tell who speaks"),
        ("empty.jsonl", "", ""),
        ("nowhere/", None, "no such file or folder"),
    ],
)
async def test_what_cannot_be_divided_is_one_line_and_no_call(
    assay: Assay, server: LoopbackServer, tmp_path: Path, name: str, text: str | None, fault: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    refused = await assay("debate", "divide", name, url=server.url)
    assert refused.code == 2 and fault in refused.err, refused.err
    assert len(refused.err.strip().splitlines()) == 1 and not server.requests


async def test_bots_deleted_comments_and_two_of_one_name_are_told_apart(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    thread = {
        "title": "Drop INI?",
        "author": {"login": "ada"},
        "body": "INI support should be dropped in Lantern 4. It costs us every release.",
        "comments": [
            {"author": {"login": "ben"}, "body": "Dropping INI in Lantern 4 would be wrong. It is what people have."},
            {"author": {"login": "ci-helper[bot]"}, "body": "Build passed in 41 seconds."},
            {"author": None, "body": ""},
        ],
    }
    (tmp_path / "issue.json").write_text(json.dumps(thread), "utf-8")
    done = await assay("debate", "divide", "issue.json", "--json", url=server.url)
    assert done.code == 0, done.err
    assert {one["name"] for one in done.json["result"]["authors"]} == {"ada", "ben"}
    assert any("left out" in line for line in done.json["result"]["warnings"])


@pytest.mark.parametrize("pair", ['{"premise": "", "claim": "b"}', '{"premise": 1, "claim": "b"}', '"premise"', "null"])
async def test_a_pair_without_words_is_named_by_its_line(assay: Assay, tmp_path: Path, pair: str) -> None:
    good = json.dumps({"premise": "It\u2028goes.", "claim": "It stays."}, ensure_ascii=False)
    (tmp_path / "pairs.jsonl").write_text(f"{good}\n{pair}\n", "utf-8")
    done = await assay("debate", "judge", "pairs.jsonl")
    assert done.code == 2 and 'line 2: no JSON object with a "premise" and a "claim"' in done.err
