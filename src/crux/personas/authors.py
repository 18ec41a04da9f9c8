"""The two invented authors as personas: their essays, contracts written by hand, and the beliefs of their key.

So that the recorded debate, and a first debate of one's own, need no build (CX20; ``docs/crux-authors.md``).
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from crux.personas.beliefs import BeliefEdge, BeliefGraph, BeliefNode, density
from crux.personas.contract import PROSE, FlipCondition, PersonaContract, VoiceProfile, measured_voice
from crux.personas.corpus import Corpus
from crux.personas.persona import Persona
from crux.personas.shipped import shipped_corpus
from crux.results import Place

_WRITTEN = "2026-11-20T00:00:00+00:00"


@cache
def shipped_persona(author: str) -> Persona:
    """Return one of the two, ready to debate.

    Raises:
        PersonaError: there is no such author.
    """
    stored = shipped_corpus(author)
    contracts = tomllib.loads(resources.files("crux").joinpath("authors/contracts.toml").read_text(encoding="utf-8"))
    return Persona(
        contract=_contract(author, stored.name, stored.corpus, contracts[author]),
        corpus=stored.corpus,
        beliefs=_beliefs(author, stored.corpus),
    )


def _contract(author: str, name: str, corpus: Corpus, data: dict[str, Any]) -> PersonaContract:
    words, contractions = measured_voice(corpus)
    voice, flips = data["voice"], enumerate(data["flip_conditions"], start=1)
    measured = {"words_per_sentence": words, "contractions_per_100_words": contractions}
    written: dict[str, Any] = {part: " ".join(data[part].split()) for part in PROSE} | {
        "persona_id": author,
        "name": name,
        "aliases": data["aliases"],
        "flip_conditions": [FlipCondition(id=f"F{place}", text=text) for place, text in flips],
        "anchor_excerpts": _places(corpus, data["anchors"]),
        "voice": VoiceProfile(**voice | measured | {"examples": _places(corpus, voice["examples"])}),
        "corpus_digest": corpus.digest,
        "invented": True,
    }
    return PersonaContract.model_validate(written)


def _beliefs(author: str, corpus: Corpus) -> BeliefGraph:
    """Return the graph of the authors' key; what an author gave up stays, and says when."""
    key = tomllib.loads(resources.files("crux").joinpath("authors/key.toml").read_text(encoding="utf-8"))
    held = {b["id"]: b for b in key["belief"] if b["author"] == author}
    places = {name: _stated(corpus, belief["statements"]) for name, belief in held.items()}
    nodes = [
        BeliefNode(
            id=name,
            concept=belief["concept"] + _given_up(corpus, belief),
            type=belief["type"],
            confidence=density(len({place.item for place in places[name]})),
            grounding=tuple(dict.fromkeys(_chunk(corpus, place) for place in places[name])),
            places=places[name],
        )
        for name, belief in held.items()
    ]
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


def _chunk(corpus: Corpus, place: Place) -> str:
    own = [chunk for chunk in corpus.chunks if chunk.item == place.item]
    return next((chunk.id for chunk in own if chunk.start <= place.start < chunk.end), own[0].id)


def _places(corpus: Corpus, quotes: list[str]) -> tuple[Place, ...]:
    places = (corpus.find(quote) for quote in quotes)
    return tuple(place for place in places if place is not None)
