"""Hamilton against "Brutus": short excerpts read and answered by hand, from the claim book to a debate.

Where the whole essays are on this machine, the excerpts are held against them; else those tests skip and say so.
"""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.crux.conftest import CONTRACT, lines_of

from crux.book import pieces
from crux.building import Built, build_persona
from crux.compare import Shelf, compare
from crux.comparison import Comparison
from crux.personas.corpus import Corpus, make_corpus
from crux.personas.importing import import_corpus
from crux.personas.store import PersonaStore, StoredCorpus
from crux.quotes import find_quote, folded
from crux.requests import Questioner
from crux.sources.utterance import Utterance
from llm_runtime.messages import Request
from llm_runtime.testing import ScriptedModel

pytest.importorskip("bm25s", reason="a claim book needs the extra 'debate'")

Hold = Callable[..., Awaitable[Any]]

QUESTION = "Can a free republic govern a territory as large as the United States?"
RECORDED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "ratification.toml").read_text("utf-8"))
TEXTS: dict[str, str] = {key: text for key, (_, text) in RECORDED["claims"].items()}
KEYS = {text: key for key, text in TEXTS.items()} | {TEXTS["h-behaviour"]: "b-behaviour"}
REASONS = {(a, b) for kind in ("stated", "judged") for a, b in RECORDED["links"][kind]}
OPPOSED = {(a, b): question for a, b, question in RECORDED["oppositions"]["known"]}


def corpus(author: str) -> Corpus:
    own = [one for one in RECORDED["passage"] if one["author"] == author]
    return make_corpus(
        Utterance(
            id=f"{author}-{number}",
            source="essay",
            title=one["title"],
            date=one["date"],
            text=" ".join(dict.fromkeys(sentence for _, _, sentence in one["found"])),
        )
        for number, one in enumerate(own, start=1)
    )


def read(request: Request) -> str:
    """Every passage by its id; a claim that was met before by its id; what the passage gives as a reason."""
    ids = {KEYS[one["claim"]]: one["id"] for one in lines_of(request, "CLAIMS SO FAR")}
    known = set(ids)
    answered: list[dict[str, Any]] = []
    for line in lines_of(request, "PASSAGES"):
        passage = next(one for one in RECORDED["passage"] if one["title"] == line["title"])
        for key, _, _ in passage["found"]:
            ids.setdefault(key, f"n{len(ids)}")
        claims: list[dict[str, Any]] = []
        for key, stance, sentence in passage["found"]:
            named = {"ref": ids[key]} if key in known else {"id": ids[key], "text": TEXTS[key]}
            named["kind"] = RECORDED["claims"][key][0]
            supports = [ids[to] for from_, to in RECORDED["links"]["stated"] if from_ == key and to in ids]
            claims.append({**named, "stance": stance, "quote": sentence, "supports": supports})
            known.add(key)
        answered.append({"id": line["id"], "claims": claims})
    return json.dumps({"passages": answered})


def bare(text: str) -> str:
    return KEYS.get(text.removeprefix("(denied) ").removeprefix("It is not so: "), "")


def link(request: Request) -> str:
    ids = {bare(one["claim"]): one["id"] for one in lines_of(request, "CLAIMS")}
    pairs = [(a, b) for a, b in RECORDED["links"]["judged"] if a in ids and b in ids]
    return json.dumps({"relations": [{"from": ids[a], "to": ids[b], "kind": "supports"} for a, b in pairs]})


def issues(request: Request) -> str:
    first, second = (
        {bare(one["claim"]): one["id"] for one in lines_of(request, f"CLAIMS OF THE {side}")}
        for side in ("FIRST", "SECOND")
    )
    second["h-behaviour"] = second["b-behaviour"]
    named = [one for one in (*RECORDED["oppositions"]["known"], *RECORDED["oppositions"]["mistaken"]) if one[2]]
    return json.dumps(
        {
            "opposed": [{"first": first[a], "second": second[b], "question": question} for a, b, question in named],
            "shared": [{"first": first[a], "second": second[b]} for a, b in RECORDED["oppositions"]["shared"]],
        }
    )


def said_by(premise: str) -> str:
    """Whose sentences a premise is made of."""
    return next(
        (one["author"] for one in RECORDED["passage"] for _, _, sentence in one["found"] if sentence in premise), ""
    )


def judge(request: Request) -> str:
    verdicts: list[dict[str, Any]] = []
    for one in lines_of(request, "PAIRS"):
        premise, claim = one["premise"], one["claim"]
        pair = (bare(premise), bare(claim))
        kind = "unrelated"
        if premise == claim:
            kind = "same"
        elif pair in REASONS:
            kind = "supports"
        elif pair in OPPOSED or pair[::-1] in OPPOSED:
            kind = "contradicts"
        elif claim.startswith("The answer to this question is YES") and said_by(premise):
            kind = "supports" if said_by(premise) == "Brutus" else "contradicts"
        verdicts.append({"pair": one["pair"], "kind": kind, "span": premise, "why": "as the words say"})
    return json.dumps({"verdicts": verdicts})


def reader(**changes: Any) -> ScriptedModel:
    steps = {"reading": read, "stances": '{"stances": []}', "linking": link, "issues": issues, "judge": judge}
    script = {**steps, **CONTRACT, **changes}
    return ScriptedModel(script)


@pytest.fixture(scope="module")
def founders() -> list[Built]:
    """ "Brutus" and Hamilton, built from the excerpts by the answers above."""
    return [
        asyncio.run(build_persona(name, corpus(name), generate=reader(), aliases=also, seed=5))
        for name, also in (("Brutus", ("Robert Yates",)), ("Alexander Hamilton", ("Publius",)))
    ]


def test_both_pass_the_gate_on_honest_answers(founders: list[Built]) -> None:
    for built in founders:
        figures, name = built.standing, built.persona.name
        assert not figures.thin, figures.reasons
        assert figures.read == 1.0 and figures.held >= 25 and not built.unread
        held = {claim.id for claim in built.book.of(name, "holds", "denies")}
        assert len(pieces(built.book, held)[0]) >= 5 and figures.in_themes >= 0.7
        for node in built.persona.beliefs.nodes if built.persona.beliefs else ():
            for place in node.places:
                found = built.persona.corpus.find(place.quote)
                assert found is not None and (found.item, found.start) == (place.item, place.start)


def test_what_is_only_reported_or_granted_is_no_belief(founders: list[Built]) -> None:
    brutus, hamilton = (built.persona.beliefs for built in founders)
    concepts = [node.concept for node in brutus.nodes] if brutus else []
    assert f"It is not so: {TEXTS['b-reserved']}" in concepts and TEXTS["b-behaviour"] not in concepts
    denied = next(node for node in hamilton.nodes if "military force" in node.concept) if hamilton else None
    assert denied and denied.concept.startswith("It is not so") and "IT HAS been urged" not in denied.places[0].quote


async def compared(founders: list[Built], **changes: Any) -> tuple[Comparison, ScriptedModel]:
    model = reader(**changes)
    shelves = [Shelf(one.persona.name, one.persona.corpus, one.book) for one in founders]
    return await compare(*shelves, asking=Questioner(model)), model


async def test_at_least_eighteen_of_twenty_one_known_oppositions_are_found(founders: list[Built]) -> None:
    found, model = await compared(founders)
    pairs = {(bare(first.text), bare(second.text)) for first, second in (match.sides for match in found.opposed)}
    assert len(OPPOSED) == 21
    assert len(pairs & set(OPPOSED)) >= 18, set(OPPOSED) - pairs
    assert pairs <= set(OPPOSED), "nothing else is shown as opposed"
    assert len(model.requests) <= 12, "once read, a comparison takes six to twelve calls"
    (shared,) = found.shared
    assert [side.stance for side in shared.sides] == ["grants", "holds"]
    first = [candidate.question for candidate in found.candidates[:3]]
    assert any("court" in question for question in first), first
    assert all(candidate.confirmed for candidate in found.candidates)


async def test_nearness_in_words_alone_proposes_too_little(founders: list[Built]) -> None:
    found, _ = await compared(founders, issues='{"opposed": [], "shared": []}')
    assert 1 <= len(found.opposed) < 18 and not found.candidates


def test_the_excerpts_stand_in_the_essays(ratification: Path) -> None:
    for name, folder in (("Brutus", "brutus"), ("Alexander Hamilton", "hamilton")):
        whole = folded(" ".join(item.text for item in import_corpus(ratification / folder).corpus.items))
        for passage in RECORDED["passage"]:
            if passage["author"] == name:
                assert all(folded(sentence) in whole for _, _, sentence in passage["found"])


@pytest.fixture(scope="module")
def ratification(shared: Path) -> Path:
    folder = shared / "corpora" / "ratification"
    if not folder.is_dir():
        pytest.skip("the essays of the ratification debate are not on this machine")
    return folder


async def test_hamilton_and_brutus_debate_whether_a_republic_can_be_large(
    founders: list[Built], hold: Hold, scripts: Any, tmp_path: Path
) -> None:
    store = PersonaStore(tmp_path)
    for built in founders:
        persona = built.persona
        store.add_corpus(StoredCorpus(name=persona.name, aliases=persona.contract.aliases, corpus=persona.corpus))
        store.save(persona)
        store.save_beside("books", persona.name, built.book)
        assert not store.check(persona.name).problems
    panel = [store.load(built.persona.name) for built in founders]
    aspects = [
        {"label": "Can representatives of so large a territory know their people?", "description": "Representation."},
        {"label": "Must a large republic keep a standing army to be obeyed?", "description": "Armies and liberty."},
        {"label": "Will the general government absorb the states?", "description": "The states and their powers."},
    ]

    def judge(request: Request) -> str:
        """An honest judge of quotations: the first answers YES, the second NO."""
        pairs = [json.loads(line) for line in scripts.block(request, "PAIRS").split("\n")]
        verdicts = json.loads(scripts.panel["judge"](request))["verdicts"]
        for pair, verdict in zip(pairs, verdicts, strict=True):
            if pair["claim"].startswith("The answer to this question"):
                own = any(pair["premise"][-40:] in item.text for item in panel[0].corpus.items)
                verdict["kind"] = "supports" if own else "contradicts"
        return json.dumps({"verdicts": verdicts})

    held = await hold(
        panel,
        QUESTION,
        script={
            "judge": judge,
            "decomposition": json.dumps({"aspects": aspects}),
            "detection": scripts.pairs(("A", "B"), claim="whether a large republic must be held together by an army"),
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
        if not seat.startswith("2:"):
            assert "Hamilton" not in text and "PUBLIUS" not in text
        if not seat.startswith("1:"):
            assert not re.search(r"\bBrutus\b|\bYates\b", text)
