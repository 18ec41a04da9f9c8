"""`debate watch` as a person runs it: two folders of texts, looked at again and again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.assay.debate.test_debate_compare import answering
from tests.crux.test_crux_compare import ANN, BEN

from llm_runtime.testing import LoopbackServer

pytest.importorskip("bm25s", reason="a comparison needs the extra 'debate'")

Assay = Any
LATER = "Whoever crosses should pay for the planks. I said so at the council, and it was voted."


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(answering) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two folders, and the file that names them."""
    for name, texts in (("ann", ANN), ("ben", BEN)):
        (tmp_path / name).mkdir()
        for number, text in enumerate(texts, start=1):
            (tmp_path / name / f"2020-01-0{number}-t{number}.md").write_text(text, "utf-8")
    (tmp_path / "tolls.toml").write_text(
        'topic = "tolls"\nfeed = "tolls.xml"\n\n[[authors]]\nname = "Ann Ash"\nplaces = ["ann"]\n\n'
        '[[authors]]\nname = "Ben Birch"\nplaces = ["ben"]\n',
        "utf-8",
    )
    return tmp_path


async def test_a_second_look_asks_nothing_and_one_essay_takes_few_calls(
    assay: Assay, server: LoopbackServer, folder: Path
) -> None:
    line = ("debate", "watch", "tolls.toml", "--seed", "7", "-q")
    first = await assay(*line, url=server.url)
    assert first.code == 0, first.err
    assert "Should whoever crosses a bridge pay for it?" in first.out and "first look" in first.out
    feed = ElementTree.parse(folder / "tolls.xml").getroot()
    assert len(feed.findall("{*}entry")) == 1 and "planks" in (feed.findtext("{*}entry/{*}content") or "")

    asked = len(server.requests)
    again = await assay(*line, url=server.url)
    assert again.code == 0 and "nothing new" in again.out and len(server.requests) == asked

    (folder / "ann" / "2021-05-05-again.md").write_text(LATER, "utf-8")
    moved = await assay(*line, "--out", "moved.html", url=server.url)
    assert moved.code == 1, moved.err
    assert "Ann Ash wrote on it again, 2021-05-05" in moved.out and "2021-05-05" in moved.out.split("wrote on")[1]
    assert 1 <= len(server.requests) - asked <= 6
    passages = [
        one.messages[-1].content for one in server.requests[asked:] if "You read passages" in one.messages[-1].content
    ]
    assert (
        len(passages) == 1
        and "voted" in passages[0]
        and "A toll keeps" not in passages[0].partition("CLAIMS SO FAR")[0]
    )
    assert "wrote on it again" in (folder / "moved.html").read_text("utf-8")
    assert len(ElementTree.parse(folder / "tolls.xml").getroot().findall("{*}entry")) == 2

    for text in (folder / "ben").glob("*-t1.md"):
        text.unlink()
    gone = await assay(*line, "--json", url=server.url)
    assert gone.code == 1
    (change,) = gone.json
    assert change["kind"] == "gone" and change["sides"][1]["places"][0]["quote"].startswith("Nobody should pay")
    assert (await assay(*line, url=server.url)).code == 0


async def test_a_look_that_was_stopped_goes_on_and_repeats_nothing(
    assay: Assay, server: LoopbackServer, folder: Path
) -> None:
    line = ("debate", "watch", "tolls.toml", "--seed", "7", "-q")
    stopped = await assay(*line, "--max-calls", "3", url=server.url)
    assert stopped.code == 3 and not (folder / "tolls.xml").exists()
    done = await assay(*line, "--max-calls", "50", url=server.url)
    assert done.code == 0, done.err
    bodies = [json.dumps([message.content for message in one.messages]) for one in server.requests]
    assert len(bodies) == len(set(bodies)) and "Should whoever crosses" in done.out


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('["ann"]', '["https://ann.example/feed"]', "fetch = true"),
        ("feed =", "fetch = true\nfeed =", ""),
        ('["ann"]', '["nowhere"]', "no such file or folder"),
        ("topic", "topics", "topics"),
        ('[[authors]]\nname = "Ben Birch"\nplaces = ["ben"]', "", "authors"),
        ("topic", "= topic", "not readable TOML"),
        ("Ann Ash", "../ann", "cannot be a persona's name"),
        ("Ben Birch", "Ann Ash", "named twice"),
    ],
)
async def test_what_cannot_be_watched_is_refused_in_one_line(
    assay: Assay, server: LoopbackServer, folder: Path, old: str, new: str, fault: str
) -> None:
    file = folder / "tolls.toml"
    text = file.read_text("utf-8").replace(old, new)
    if not fault:
        text, fault = text.replace('["ann"]', '["https://10.0.0.1/feed"]'), "only public pages are fetched"
    file.write_text(text, "utf-8")
    refused = await assay("debate", "watch", "tolls.toml", "-q", url=server.url)
    assert refused.code == 2 and fault in refused.err, refused.err
    assert len(refused.err.strip().splitlines()) == 1 and not server.requests
