"""The pipeline on real texts: Hamilton against "Brutus" over whether a republic can be large.

The essays are not part of the project; where they are absent, these tests skip and say so.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crux import Persona
from crux.measurement import gold_replies
from crux.personas import CorpusItem, PersonaStore, StoredCorpus, build_persona, import_corpus
from crux.quotes import find_quote
from llm_runtime.messages import Request
from llm_runtime.testing import ScriptedModel

Hold = Callable[..., Awaitable[Any]]

QUESTION = "Can a free republic govern a territory as large as the United States?"

#: What the scripted reader knows to look for: a belief wherever its words stand together in one sentence.
CONCEPTS = {
    "a free republic cannot be very large": r"\b(large|extent)\b.*\brepublic|\brepublic.*\b(large|extent)\b",
    "representatives must know their people": r"\brepresentat\w+.*\bpeople\b",
    "a standing army threatens liberty": r"\b(standing arm|army|armies)\w*.*\b(libert|danger)\w*",
    "the union must raise its own armies": r"\b(raise|raising)\b.*\b(arm|troops)",
    "taxes must reach as far as needs": r"\b(tax|revenue)\w*",
    "the state governments will lose their powers": r"\bstate\w* (governments?|legislatures?)\b.*\bpower",
    "the states can defend themselves against the union": r"\bState governments\b",
    "judges need independence": r"\b(judges|judicial|judiciary)\b",
    "courts will extend their own power": r"\bcourts?\b.*\bpower",
    "the executive needs energy": r"\benergy\b.*\bexecutive|\bexecutive\b.*\benergy",
    "power is abused by whoever holds it": r"\bpower\b.*\babus",
    "a government must have means equal to its ends": r"\bmeans\b.*\bends?\b",
    "the confederation was too weak": r"\bconfederation|confederacy\b",
    "faction ruins popular government": r"\bfaction",
    "commerce needs one policy": r"\bcommerce|commercial\b",
    "foreign nations will exploit disunion": r"\bforeign\b",
    "the people are the fountain of power": r"\bpeople\b.*\b(fountain|consent|will)\b",
    "rulers rarely give power back": r"\brulers\b",
    "elections keep rulers honest": r"\belection",
    "the senate steadies the laws": r"\bsenate\b",
    "a bill of rights should be written": r"\brights\b.*\b(bill|declar|reserv)|\bbill of rights\b",
    "juries protect the citizen": r"\bjur(y|ies)\b",
    "liberty is the end of government": r"\bliberty\b.*\bgovernment|\bgovernment\b.*\bliberty",
    "the public good is the object of law": r"\bpublic good\b",
    "war will come to neighbours without a union": r"\bwars?\b",
    "the constitution limits what the laws may do": r"\bconstitution\b.*\blimit|\blimit\w*\b.*\bconstitution",
    "ambition is part of human nature": r"\b(ambition|human nature)\b",
    "the militia is the natural defence of a free country": r"\bmilitia\b",
    "the president resembles a king": r"\b(king|monarch)\w*\b.*\bpresident|\bpresident\b.*\b(king|monarch)",
    "treaties must bind the whole nation": r"\btreat(y|ies)\b",
}
PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in CONCEPTS.items()}


def read(request: Request) -> str:
    """Two concepts that stand in neighbouring or the same sentences are one relationship."""
    text = re.search(r"<<<PASSAGE \w+>>>\n(.*)\n<<<END PASSAGE", request.messages[0].content, re.DOTALL)
    found: list[tuple[str, str]] = []
    for sentence in re.split(r"(?<=[.!?;])\s+", text[1] if text else ""):
        if len(sentence) < 400:
            found += [(name, sentence) for name, pattern in PATTERNS.items() if pattern.search(sentence)]
    relations = [
        {
            "cause": first,
            "cause_type": "inference",
            "effect": second,
            "effect_type": "inference",
            "polarity": 1,
            "held": "stated",
            "quote": quote,
        }
        for (first, _), (second, quote) in pairwise(found)
        if first != second
    ]
    return json.dumps({"relationships": relations[:12]})


def contract(request: Request) -> str:
    part = request.label.phase.removeprefix("contract_")
    texts = re.search(r"<<<TEXTS \w+>>>\n(.*)\n<<<END TEXTS", request.messages[0].content, re.DOTALL)
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", texts[1] if texts else "") if 60 < len(s) < 200]
    answers: dict[str, Any] = {
        "flip": {"conditions": ["A great republic of history that kept its liberty under one legislature."]},
        "excerpts": {"excerpts": sentences[:8]},
        "voice": {
            "speech_patterns": ["argues from history"],
            "vocabulary": ["the public good"],
            "forbidden_phrases": [],
            "examples": sentences[:2],
        },
    }
    return json.dumps(answers.get(part, {"text": f"The author's {part} shows in long sentences."}))


def reader() -> ScriptedModel:
    def answer(request: Request) -> str:
        if request.label.phase == "extraction":
            return read(request)
        return contract(request) if request.label.phase.startswith("contract_") else '{"groups": []}'

    return ScriptedModel(answer)


@pytest.fixture(scope="module")
def ratification(shared: Path) -> Path:
    folder = shared / "corpora" / "ratification"
    if not folder.is_dir():
        pytest.skip("the essays of the ratification debate are not on this machine")
    return folder


@pytest.fixture(scope="module")
def founders(ratification: Path) -> list[Persona]:
    """Hamilton and "Brutus", read by the script above."""
    pytest.importorskip("bm25s", reason="the belief pipeline needs the extra 'debate'")
    built: list[Persona] = []
    for folder, name in (("hamilton", "Alexander Hamilton"), ("brutus", "Brutus")):
        found = import_corpus(ratification / folder)
        persona, report = asyncio.run(
            build_persona(
                name,
                found.corpus,
                generate=reader(),
                aliases=(*found.aliases, found.author),
                seed=5,
                now=lambda: "2026-11-20T00:00:00+00:00",
            )
        )
        assert report.passed, report.reasons
        built.append(persona)
    return built


def test_fifty_one_essays_become_a_graph(founders: list[Persona]) -> None:
    hamilton, brutus = founders
    assert (len(hamilton.corpus.items), len(brutus.corpus.items)) == (51, 7)
    assert hamilton.beliefs is not None and 20 <= len(hamilton.beliefs.nodes) <= 50
    assert hamilton.beliefs.counts.chunks == 200
    for persona in founders:
        assert persona.beliefs is not None
        for node in persona.beliefs.nodes:
            for place in node.places:
                assert persona.corpus.by_id[place.item].text[place.start : place.end] == place.quote


async def test_hamilton_and_brutus_debate_whether_a_republic_can_be_large(
    founders: list[Persona], hold: Hold, scripts: Any, tmp_path: Path
) -> None:
    store = PersonaStore(tmp_path)
    for persona in founders:
        store.add_corpus(StoredCorpus(name=persona.name, aliases=persona.contract.aliases, corpus=persona.corpus))
        store.save(persona)
        assert not store.check(persona.name).problems
    panel = [store.load(persona.name) for persona in founders]
    aspects = [
        {
            "label": "Can representatives of so large a territory know their people?",
            "description": "Representation.",
        },
        {"label": "Must a large republic keep a standing army to be obeyed?", "description": "Armies and liberty."},
        {"label": "Will the general government absorb the states?", "description": "The states and their powers."},
    ]

    held = await hold(
        panel,
        QUESTION,
        script={
            "decomposition": json.dumps({"aspects": aspects}),
            "detection": scripts.pairs(
                ("A", "B"), claim="whether a large republic must be held together by an army"
            ),
        },
    )

    assert held.result.state == "finished" and len(held.result.cards) == 3
    quoted = 0
    for card in held.result.cards:
        assert set(card.personas) == {"Alexander Hamilton", "Brutus"}
        for name, side in card.personas.items():
            corpus = next(persona.corpus for persona in panel if persona.name == name)
            for quote in side.grounding_quotes or ():
                quoted += 1
                assert any(quote in item.text and find_quote(quote, item.text) for item in corpus.items)
    assert quoted >= 6
    for request in held.model.requests:
        seat = request.label.seat
        text = "\n".join(message.content for message in request.messages)
        if not seat.startswith("1:"):
            assert "Hamilton" not in text and "PUBLIUS" not in text
        if not seat.startswith("2:"):
            assert not re.search(r"\bBrutus\b|\bYates\b", text)


def test_at_least_six_of_eight_known_replies_are_in_the_first_five(ratification: Path) -> None:
    pytest.importorskip("bm25s", reason="retrieval needs the extra 'debate'")

    def essays(*folders: str) -> list[CorpusItem]:
        return [item for folder in folders for item in import_corpus(ratification / folder).corpus.items]

    found = gold_replies(essays("brutus", "cato"), essays("hamilton", "madison", "jay", "disputed"))

    assert found.hits.of == 8
    assert found.hits.hits >= 6, [(reply.item, reply.rank) for reply in found.replies]
