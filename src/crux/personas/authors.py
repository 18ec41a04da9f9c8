"""The two invented authors as personas: their essays, contracts written by hand, and the beliefs of their key.

So that the recorded debate, and a first debate of one's own, need no build (CX20; ``docs/crux-authors.md``).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from crux.personas.beliefs import BeliefEdge, BeliefGraph, believed, density
from crux.personas.contract import PROSE, FlipCondition, PersonaContract, VoiceProfile, measured_voice
from crux.personas.corpus import Corpus
from crux.personas.persona import Persona
from crux.personas.shipped import shipped_corpus
from crux.results import Place
from llm_runtime.toml import own_table

_WRITTEN = "2026-11-20T00:00:00+00:00"


@cache
def shipped_persona(author: str) -> Persona:
    """Return one of the two, ready to debate.

    Raises:
        PersonaError: there is no such author.
    """
    stored = shipped_corpus(author)
    contract = _contract(author, stored.name, stored.corpus, own_table("crux", "authors/contracts.toml")[author])
    return Persona(contract=contract, corpus=stored.corpus, beliefs=_beliefs(author, stored.corpus))


def _contract(author: str, name: str, corpus: Corpus, data: dict[str, Any]) -> PersonaContract:
    voice, flips = data["voice"], enumerate(data["flip_conditions"], start=1)
    written: dict[str, Any] = {part: " ".join(data[part].split()) for part in PROSE} | {
        "persona_id": author,
        "name": name,
        "aliases": data["aliases"],
        "flip_conditions": [FlipCondition(id=f"F{place}", text=text) for place, text in flips],
        "anchor_excerpts": _places(corpus, data["anchors"]),
        "voice": VoiceProfile(**voice | measured_voice(corpus) | {"examples": _places(corpus, voice["examples"])}),
        "corpus_digest": corpus.digest,
        "invented": True,
    }
    return PersonaContract.model_validate(written)


def _beliefs(author: str, corpus: Corpus) -> BeliefGraph:
    """Return the graph of the authors' key; what an author gave up stays, and says when."""
    key = own_table("crux", "authors/key.toml")
    held = {b["id"]: b for b in key["belief"] if b["author"] == author}
    places = {name: _stated(corpus, belief["statements"]) for name, belief in held.items()}
    concepts = {name: belief["concept"] + _given_up(corpus, belief) for name, belief in held.items()}
    nodes = [believed(name, concepts[name], belief["type"], places[name], corpus) for name, belief in held.items()]
    edges = [
        BeliefEdge(
            from_=edge["from"],
            to=edge["to"],
            polarity=edge["polarity"],
            confidence=density(1),
            source_chunks=(next(chunk.id for chunk in corpus.chunks if chunk.item == edge["essay"]),),
        )
        for edge in key["edge"]
        if edge["from"] in held and edge["to"] in held
    ]
    return BeliefGraph(persona_id=author, nodes=tuple(nodes), edges=tuple(edges), extracted_at=_WRITTEN)


def _given_up(corpus: Corpus, belief: dict[str, Any]) -> str:
    essay = belief.get("given_up_in")
    return f" (given up in {corpus.by_id[essay].date[:4]})" if essay else ""


def _stated(corpus: Corpus, statements: list[dict[str, str]]) -> tuple[Place, ...]:
    places: list[Place] = []
    for statement in statements:
        start = corpus.by_id[statement["essay"]].text.index(statement["quote"])
        places.append(corpus.place(statement["essay"], start, start + len(statement["quote"])))
    return tuple(places)


def _places(corpus: Corpus, quotes: list[str]) -> tuple[Place, ...]:
    return tuple(place for place in map(corpus.find, quotes) if place is not None)
