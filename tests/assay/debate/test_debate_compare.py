"""`assay debate compare`: from two folders of texts to candidate cruxes, at every door."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.assay.debate.conftest import PANEL, SEED, TOPIC, scripted
from tests.crux.test_crux_compare import ANN, BEN, issues, judge, read

from llm_runtime.testing import LoopbackServer
from llm_runtime.testing.loopback import Received

Assay = Any
FORMS = ("json", "md", "argdown", "aif", "csv", "graphml")


def answering(received: Received) -> str:
    """What the scripted reader of two small authors says."""
    asked: Any = received
    first = received.messages[-1].content
    if first.startswith("You read passages"):
        return read(asked)
    if first.startswith("You judge pairs"):
        return judge(asked)
    return issues(asked) if first.startswith("You set what two") else '{"relations": []}'


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(answering) as running:
        yield running


@pytest.fixture
async def shelves(assay: Assay, tmp_path: Path) -> None:
    for name, texts in (("Ann Ash", ANN), ("Ben Birch", BEN)):
        folder = tmp_path / name
        folder.mkdir()
        for number, text in enumerate(texts, start=1):
            (folder / f"2020-01-0{number}-t{number}.md").write_text(text)
        assert (await assay("debate", "personas", "import", name, "--name", name)).code == 0


@pytest.mark.usefixtures("shelves")
async def test_two_folders_of_texts_are_compared_in_few_calls_and_read_once(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    line = ("debate", "compare", "Ann Ash", "Ben Birch", "--seed", "7")
    done = await assay(*line, "--topic", "tolls", "--out", "both.html", url=server.url)
    assert done.code == 0, done.err
    assert done.err.startswith("about 16 calls") and "to read what was not read before" in done.err
    assert "Should whoever crosses a bridge pay for it?" in done.out
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert "Whoever crosses should pay for the planks." in page
    assert 4 <= len(server.requests) <= 12
    before = len(server.requests)
    again = await assay(*line, "--json", url=server.url)
    assert again.code == 0 and "all was read before" in again.err
    assert len(again.json["result"]["opposed"]) == 1 and len(server.requests) - before <= 6
    run = again.json["run_id"]
    replayed = await assay("runs", "replay", run)
    assert replayed.code == 0, replayed.err
    forms = {form: (await assay("debate", "export", run, "--format", form)).out for form in FORMS}
    graph = ElementTree.fromstring(forms["graphml"])
    # Seven are held; what an author only reports is no claim of that author.
    assert len(graph.findall(".//{*}node")) == 7 and "contradicts" in forms["graphml"]
    argued = {node["type"] for node in json.loads(forms["aif"])["nodes"]}
    assert argued == {"I", "L", "YA", "RA", "CA"}
    rows = list(csv.DictReader(io.StringIO(forms["csv"])))
    assert {row["stance"] for row in rows} == {"holds", "reports"} and len(rows) == 8
    assert "#Ann-Ash" in forms["argdown"] and "# Ann Ash and Ben Birch" in forms["md"]
    assert json.loads(forms["json"])["candidates"][0]["confirmed"] is True


@pytest.mark.usefixtures("shelves")
async def test_a_comparison_at_its_cap_keeps_what_was_read_and_goes_on(assay: Assay, server: LoopbackServer) -> None:
    line = ("debate", "compare", "Ann Ash", "Ben Birch", "--seed", "7", "--max-calls", "2")
    stopped = await assay(*line, "--json", url=server.url)
    assert stopped.code == 3
    run = stopped.json["run_id"]
    asked = len(server.requests)
    done = await assay("runs", "resume", run, "--max-calls", "20", url=server.url)
    assert done.code == 0, done.err
    texts = [request.messages[-1].content for request in server.requests]
    assert len(texts) == len(set(texts)) > asked, "nothing is asked twice"


@pytest.mark.usefixtures("shelves")
async def test_one_author_twice_and_one_unknown_are_one_line_each(assay: Assay) -> None:
    twice = await assay("debate", "compare", "Ann Ash", "ann-ash")
    assert twice.code == 2 and "Ann Ash is named twice" in twice.err and len(twice.err.splitlines()) == 1
    nobody = await assay("debate", "compare", "Ann Ash", "Cleo")
    assert nobody.code == 2 and "no persona called Cleo" in nobody.err and len(nobody.err.splitlines()) == 1
    assert "maud-tarrowby" in nobody.err, "whoever comes with Assay can be compared too"


async def test_an_address_is_fetched_only_where_the_user_says_so_and_never_from_inside(assay: Assay) -> None:
    asked = await assay("debate", "personas", "import", "https://ann.example/feed.xml", "--name", "Ann")
    assert asked.code == 2 and "--fetch fetches it" in asked.err
    for inward in (
        "https://127.0.0.1/feed.xml",
        "https://localhost:8090/",
        "http://ann.example/",
        "file:///etc/passwd",
    ):
        refused = await assay("debate", "personas", "import", inward, "--name", "Ann", "--fetch")
        assert refused.code == 2 and len(refused.err.strip().splitlines()) == 1, refused.err


@pytest.mark.usefixtures("shelves")
async def test_two_personas_of_one_author_are_refused_before_anything_is_asked(
    assay: Assay, server: LoopbackServer
) -> None:
    assert (await assay("debate", "personas", "import", "Ann Ash", "--name", "Anna Ash")).code == 0
    refused = await assay("debate", "compare", "Ann Ash", "Anna Ash", url=server.url)
    assert refused.code == 2 and "have the same texts" in refused.err and not server.requests


ORSMERE = ("Did the charge make traffic cease, rather than move?", "Is a name owed under every refusal?")


def issues_of_orsmere(received: Received) -> str:
    """Two claims of each shipped author are read, and clash in two questions."""
    prompt = received.messages[-1].content
    if prompt.startswith("You read passages"):
        ids = re.findall(r'^\{"id": "(p\d+)", "title"', prompt, re.MULTILINE)
        texts = dict(re.findall(r'^\{"id": "(p\d+)".*?"text": "([^"]{60,200}?[.])', prompt, re.MULTILINE))
        claims = [
            {"id": f"n{n}", "text": f"Claim {n} of {texts[ids[0]][:40]}", "stance": "holds", "quote": texts[ids[0]]}
            for n in (1, 2)
        ]
        return json.dumps({"passages": [{"id": key, "claims": claims if key == ids[0] else []} for key in ids]})
    if prompt.startswith("You judge pairs"):
        pairs = [json.loads(line) for line in prompt.splitlines() if line.startswith('{"pair": ')]
        kinds = [{"pair": one["pair"], "kind": "contradicts", "span": one["premise"]} for one in pairs]
        return json.dumps({"verdicts": kinds})
    if prompt.startswith("You set what two"):
        pairs = [{"first": f"a{n}", "second": f"b{n}", "question": q} for n, q in enumerate(ORSMERE, start=1)]
        return json.dumps({"opposed": pairs})
    return '{"relations": []}'


async def test_a_debate_takes_candidate_cruxes_as_rounds_and_says_where_each_was_found(
    assay: Assay, tmp_path: Path
) -> None:
    async with LoopbackServer(issues_of_orsmere) as reading:
        line = ("debate", "compare", "maud-tarrowby", "ilario-fennimast", "--tokens-a-call", "30000")
        compared = await assay(*line, "--json", "-q", url=reading.url)
    assert compared.code == 0, compared.err
    found = [one["question"] for one in compared.json["result"]["candidates"]]
    assert sorted(found) == sorted(ORSMERE)

    said = await scripted([], questions=found)

    met: list[str] = []

    def reply(received: Received) -> str:
        """As recorded; but that the first card asks what the texts did."""
        asked = received.messages[-1].content
        if asked.startswith("You judge pairs") and found[0] in asked and not met:
            met.append(asked)
            pairs = [json.loads(line) for line in asked.splitlines() if line.startswith('{"pair": ')]
            same = [{"pair": one["pair"], "kind": "same", "span": one["premise"]} for one in pairs]
            return json.dumps({"verdicts": same})
        return said[tuple(message.content for message in received.messages)]

    async with LoopbackServer(reply) as debating:
        line = ("debate", TOPIC, "--personas", PANEL, "--rooms", "1", "--aspects", "2", "--seed", str(SEED))
        held = await assay(*line, "--compared", compared.json["run_id"], "--out", "r.html", "-q", url=debating.url)
    assert held.code == 0, held.err
    page = (tmp_path / "r.html").read_text("utf-8")
    for text in (held.out, page):
        assert "Found in the texts before the debate, and in the debate." in text
        assert "Found in the debate alone" in text
    refused = await assay("debate", TOPIC, "--personas", PANEL, "--compared", "nowhere")
    assert refused.code != 0 and len(refused.err.strip().splitlines()) == 1
