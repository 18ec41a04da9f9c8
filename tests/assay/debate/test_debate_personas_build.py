"""`personas build` as a person runs it: a model server here reads the shipped essays."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import LoopbackServer, Received

pytest.importorskip("bm25s", reason="a build needs the extra 'debate'")
pytest.importorskip("bm25s", reason="a build needs the extra 'debate'")

Assay = Any
BLOCK = re.compile(r"<<<([^<>\n]+) ([0-9a-f]{16})>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
KEY: dict[str, Any] = tomllib.loads(resources.files("crux").joinpath("authors/key.toml").read_text(encoding="utf-8"))


class Reader:
    """Reads passages as the authors' key does, and counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, received: Received) -> str:
        text = received.messages[-1].content
        blocks = {found[1]: found[3] for found in BLOCK.finditer(text)}
        lines = {
            name: [json.loads(line) for line in body.splitlines() if line[:1] == "{"] for name, body in blocks.items()
        }
        if "CLAIMS SO FAR" in blocks:
            self.asked["passages"] += len(lines["PASSAGES"])
            return self._said("reading", read(lines["PASSAGES"], lines["CLAIMS SO FAR"]))
        if "PLACES" in blocks:
            return self._said("again", {"stances": [{"id": one["id"], "stance": "holds"} for one in lines["PLACES"]]})
        if "PAIRS" in blocks:
            verdicts = [
                {"pair": one["pair"], "kind": tie(one["premise"], one["claim"]), "span": one["premise"]}
                for one in lines["PAIRS"]
            ]
            return self._said("judge", {"verdicts": verdicts})
        if set(blocks) == {"CLAIMS"}:
            ids = {one["claim"]: one["id"] for one in lines["CLAIMS"]}
            ties = [
                {"from": ids[first], "to": ids[second], "kind": kind}
                for (first, second), kind in TIES.items()
                if first in ids and second in ids
            ]
            return self._said("linking", {"relations": ties})
        sentences = [one for one in re.split(r"(?<=[.!?])\s+", blocks["TEXTS"]) if 60 < len(one) < 160]
        return self._said(
            "portrait",
            {
                "text": "The author argues from counts.",
                "conditions": ["A full count of the collar that finds as many vehicles as the charge removed."],
                "excerpts": sentences[:4],
                "speech_patterns": ["begins with a case"],
                "vocabulary": ["the collar"],
                "forbidden_phrases": [],
                "examples": sentences[:2],
            },
        )

    def _said(self, kind: str, answer: dict[str, Any]) -> str:
        self.asked[kind] += 1
        return json.dumps(answer)


CONCEPTS = {belief["id"]: belief["concept"] for belief in KEY["belief"]}
TIES = {
    (CONCEPTS[edge["from"]], CONCEPTS[edge["to"]]): "supports" if edge["polarity"] == 1 else "undermines"
    for edge in KEY["edge"]
}


def tie(premise: str, claim: str) -> str:
    return TIES.get((premise, claim), "unrelated")


def read(passages: list[dict[str, Any]], so_far: list[dict[str, Any]]) -> dict[str, Any]:
    """What the key says that each passage states."""
    known = {one["claim"]: one["id"] for one in so_far}
    answered: list[dict[str, Any]] = []
    for passage in passages:
        claims: list[dict[str, Any]] = []
        for belief in KEY["belief"]:
            said = [one["quote"] for one in belief["statements"] if one["quote"] in passage["text"]]
            for quote in said:
                text = belief["concept"]
                ids = {"ref": known[text]} if text in known else {"id": f"n{len(known)}", "text": text}
                known.setdefault(text, f"n{len(known)}")
                claims.append({**ids, "stance": "holds", "quote": quote})
        answered.append({"id": passage["id"], "claims": claims, "none": "" if claims else "a story"})
    return {"passages": answered}


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
async def server(reader: Reader) -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(reader) as running:
        yield running


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """The essays of one invented author, as files that a test may add to."""
    with resources.as_file(resources.files("crux").joinpath("authors/maud-tarrowby/essays")) as essays:
        shutil.copytree(essays, tmp_path / "shelf")
    return tmp_path / "shelf"


async def test_a_shelf_becomes_a_persona_whose_every_belief_opens_to_its_sentence(
    assay: Assay, server: LoopbackServer, reader: Reader, shelf: Path, tmp_path: Path
) -> None:
    assert (await assay("debate", "personas", "import", "shelf", "--name", "Ada Quill")).code == 0
    built = await assay("debate", "personas", "build", "quill", url=server.url)
    assert built.code == 0, built.err
    assert " claims held, 100% of the passages read" in built.out
    assert "9 for the portrait" in built.err.splitlines()[0] and reader.asked["portrait"] == 9
    checked = await assay("debate", "personas", "check", "ada-quill")
    assert checked.code == 0 and "every quotation stands where it is said to" in checked.out

    graph = json.loads((tmp_path / "data/personas/beliefs/Ada Quill.json").read_text("utf-8"))
    texts = {
        item["id"]: item["text"]
        for item in json.loads((tmp_path / "data/personas/corpus/Ada Quill.json").read_text("utf-8"))["corpus"]["items"]
    }
    assert len(graph["nodes"]) >= 20
    for node in graph["nodes"]:
        assert node["places"]
        for place in node["places"]:
            assert texts[place["item"]][place["start"] : place["end"]] == place["quote"]


async def test_only_what_changed_is_asked_again(
    assay: Assay, server: LoopbackServer, reader: Reader, shelf: Path
) -> None:
    await assay("debate", "personas", "import", "shelf", "--name", "Ada Quill")
    first = await assay("debate", "personas", "build", "Ada Quill", url=server.url)
    passages, asked = reader.asked["passages"], len(server.requests)
    assert first.code == 0, first.err

    again = await assay("debate", "personas", "build", "Ada Quill", url=server.url)
    assert "nothing has changed" in again.err and "0 questions asked" in again.err
    assert len(server.requests) == asked and again.out == first.out

    (shelf / "2026-01-01-a-late-one.md").write_text("A queue is a price. It is charged in minutes.\n", "utf-8")
    await assay("debate", "personas", "import", "shelf", "--name", "Ada Quill")
    assert "texts changed since" in (await assay("debate", "personas", "list")).out
    third = await assay("debate", "personas", "build", "Ada Quill", url=server.url)
    assert third.code == 0 and "1 to read" in third.err
    assert reader.asked["passages"] == passages + 1


async def test_a_build_that_is_stopped_goes_on_where_it_was(assay: Assay, server: LoopbackServer, shelf: Path) -> None:
    await assay("debate", "personas", "import", "shelf", "--name", "Ada Quill")
    stopped = await assay("debate", "personas", "build", "Ada Quill", "--max-calls", "10", url=server.url)
    assert stopped.code == 3 and "10 questions asked" in stopped.err
    done = await assay("debate", "personas", "build", "Ada Quill", url=server.url)
    assert done.code == 0
    bodies = [json.dumps([message.content for message in one.messages]) for one in server.requests]
    assert len(bodies) == len(set(bodies))


async def test_a_build_is_a_run_that_is_listed_priced_and_resumed(
    assay: Assay, server: LoopbackServer, shelf: Path, tmp_path: Path
) -> None:
    await assay("debate", "personas", "import", "shelf", "--name", "Ada Quill")
    stopped = await assay("debate", "personas", "build", "Ada Quill", "--max-calls", "10", "-q", url=server.url)
    assert stopped.code == 3 and "assay runs resume" in stopped.err
    listed = await assay("runs", "list")
    assert "crux.persona" in listed.out and "Ada Quill, from their texts" in listed.out and "stopped" in listed.out
    resumed = ("runs", "resume", "latest", "--max-calls", "500", "--out", "r.json", "-q")
    done = await assay(*resumed, url=server.url)
    assert done.code == 0, done.err
    run = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert run["result"]["persona"]["contract"]["name"] == "Ada Quill"
    assert run["calls"] == len(server.requests)
    assert "built" in (await assay("debate", "personas", "list")).out
    forked = await assay("runs", "fork", "latest", "--at", "1", url=server.url)
    assert forked.code == 2 and "works on a folder" in forked.err


async def test_a_thin_book_is_kept_with_the_reasons_and_the_build_goes_on(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "one.md").write_text("A queue is a price. It is charged in minutes to everyone.", "utf-8")
    await assay("debate", "personas", "import", "one.md", "--name", "Bo Reed")
    built = await assay("debate", "personas", "build", "Bo Reed", url=server.url)
    assert built.code == 0 and "thin: 1 claims are held, at least 20 are needed" in built.err
    assert "from these claims and from passages" in built.err
    assert "Bo Reed" in (await assay("debate", "personas", "show", "reed")).out


async def test_the_two_invented_authors_are_checked_and_say_that_they_need_no_build(assay: Assay) -> None:
    for author in ("maud-tarrowby", "Ilario Fennimast"):
        checked = await assay("debate", "personas", "check", author)
        assert checked.code == 0 and "written by hand" in checked.out
        built = await assay("debate", "personas", "build", author)
        assert built.code == 2 and "comes with Assay" in built.err and "import" in built.err
        assert len(built.err.strip().splitlines()) == 1
