"""Debates: what retrieval, a scripted debate and a belief graph cost, and whether known replies are found."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import Figure
from bench.gold_replies import gold_replies
from bench.questions import QUESTIONS
from crux import Debate, DebateConfig
from crux.building import build_persona
from crux.personas.corpus import Corpus, make_corpus
from crux.personas.importing import import_corpus
from crux.personas.persona import Persona
from crux.quotes import folded
from crux.retrieval.grounding import Grounding
from crux.retrieval.index import Index
from crux.sources.utterance import Utterance
from llm_runtime.messages import Request
from llm_runtime.providers.scripted import scripted

CHUNKS = 100_000
TURNS = 200
DEBATES = 5
COMMON = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "that",
    "is",
    "was",
    "for",
    "it",
    "with",
    "as",
    "his",
    "on",
    "be",
    "at",
    "by",
    "this",
    "had",
    "not",
    "but",
    "from",
    "have",
]
TOPIC = "Should a city let software decide who waits, who pays and whose house is inspected?"
QUESTION = "Did most of the traffic that the charge removed cease, rather than move next door?"
_BLOCK = re.compile(r"<<<([^<>\n]+) ([0-9a-f]{16})>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)


def figures() -> Iterator[Figure]:
    """The figures of debates; those on real essays are left out, and it is said, where the essays are absent."""
    built, asked = asyncio.run(retrieval())
    yield Figure(f"index of {CHUNKS:,} chunks, CPU", built, "s", at_most=90)
    yield Figure(f"retrieval for a turn over {CHUNKS:,} chunks, CPU", asked, "ms", at_most=20)
    calls, cpu = asyncio.run(debates())
    yield Figure(f"a debate of {calls} calls with a scripted model, CPU a call", cpu, "ms", at_most=3)
    essays = Path(os.environ.get("ASSAY_SHARED", Path(__file__).parents[2] / "shared")) / "corpora" / "ratification"
    if not essays.is_dir():
        print("belief graph and known replies: not measured, the essays of the ratification debate are not here")
        return
    count, seconds = asyncio.run(belief_graph(essays / "hamilton"))
    yield Figure(f"belief graph of {count} essays, model time aside, CPU", seconds, "s", at_most=20)
    ten, four = questions(essays)
    yield Figure(f"passages of {len(QUESTIONS)} questions among the first ten, by words", ten, "", at_least=17)
    yield Figure(f"passages of {len(QUESTIONS)} questions among the first four, by words", four, "", at_least=16)
    found, known = replies(essays)
    yield Figure(f"known replies in the first five, of {known}", found, "", at_least=6)


async def retrieval() -> tuple[float, float]:
    """CPU seconds of an index, and median milliseconds in which a turn's beliefs and sentences are found."""
    lot = random.Random(7)
    words = [f"{lot.choice('bcdfglmnprstv')}{lot.choice('aeiou')}{number:x}th" for number in range(30_000)]
    zipf = list(accumulate(1 / (rank + 10) for rank in range(len(words))))

    def sentence(length: int = 16) -> str:
        rare = lot.choices(words, cum_weights=zipf, k=length // 2)
        return " ".join(part for word in rare for part in (lot.choice(COMMON), word)).capitalize() + "."

    items = (
        Utterance(id=f"t{number}", source="bench", text=" ".join(sentence() for _ in range(5)))
        for number in range(CHUNKS)
    )
    author, _ = authors()
    persona = author.model_copy(update={"corpus": make_corpus(items)})
    assert len(persona.corpus.chunks) == CHUNKS
    begun = time.process_time()
    grounding = Grounding(persona)
    built = time.process_time() - begun
    took: list[float] = []
    for _ in range(TURNS):
        claim, question = sentence(40), sentence(14)
        begun = time.process_time()
        await grounding.grounds(claim, 6, (question,))
        took.append((time.process_time() - begun) * 1000)
    return built, median(took)


def questions(essays: Path) -> tuple[int, int]:
    """How many of the questions find a passage that decides them: among the first ten, among the first four."""
    indexes = {author: Index(import_corpus(essays / author).corpus) for author, _, _ in QUESTIONS}
    ranks: list[int] = []
    for author, question, words in QUESTIONS:
        index = indexes[author]
        near = [folded(index.corpus.chunks[at].text).casefold() for at, _ in index.lexical.nearest(question, 10)]
        ranks += [rank for rank, text in enumerate(near, 1) if any(one.casefold() in text for one in words)][:1]
    return len(ranks), sum(rank <= 4 for rank in ranks)


def authors() -> list[Persona]:
    """The two who come with Assay."""
    from crux.personas.authors import shipped_persona
    from crux.personas.shipped import shipped_authors

    return [shipped_persona(author) for author in shipped_authors()]


async def debates() -> tuple[int, float]:
    """Calls of a debate with rooms, and median CPU milliseconds a call, from the texts to the result."""
    panel, calls = authors(), 0
    took: list[float] = []
    for number in range(DEBATES + 1):
        begun = time.process_time()
        debate = Debate(TOPIC, panel, generate=scripted(said), config=DebateConfig(), seed=number)
        async for _ in debate.events():
            pass
        result = debate.result()
        spent = (time.process_time() - begun) * 1000
        assert result.state == "finished" and len(result.cards) == 3, result.errors
        calls = result.spend.calls
        if number:  # the first one warms up
            took.append(spent / calls)
    return calls, median(took)


def said(request: Request) -> str:
    """Two who differ on everything, at the length of real turns, and a card that quotes what it was offered."""
    phase = request.label.phase
    if phase == "decomposition":
        labels = (QUESTION, "Is an appeal under a printed rule enough?", "Should every rule die after five years?")
        return json.dumps({"aspects": [{"label": label, "description": f"At issue: {label}"} for label in labels]})
    if phase == "detection":
        opposed = {"has_direct_opposition": True, "has_specific_claim": True, "topic_relevant": True}
        pair = {**opposed, "personas": ["Speaker A", "Speaker B"], "claim": "whether most of the traffic ceased"}
        return json.dumps({"pairs": [pair]})
    if phase == "card":
        return card(request)
    fixed = {
        "exit_check": '{"exit": false}',
        "convergence_judge": '{"same": true, "opposite_wording": false}',
        "summary": '{"summary": "Speaker A claimed that it ceased; Speaker B objected.", "messages": ["m3"]}',
    }
    return fixed[phase] if phase in fixed else turn(request)


def turn(request: Request) -> str:
    """A turn of four sentences."""
    side = "YES" if request.label.seat.startswith("1:") else "NO"
    state = {"position": f"{side}: the record shows it.", "because": "Nothing named a flaw."}
    answer = {"state": state, "utterance": "The count was printed, and the kitchens were not in the count. " * 4}
    core = {"core": {"statement": QUESTION, "type": "factual"}} if request.label.phase == "room_convergence" else {}
    return json.dumps(answer | core)


def card(request: Request) -> str:
    """A card with a quotation for each side."""
    blocks = {found[1]: found[3] for found in _BLOCK.finditer(request.messages[-1].content)}
    offered = [json.loads(line) for line in blocks["SENTENCES FROM THEIR OWN WRITINGS"].splitlines() if line[0] == "{"]
    sides: list[dict[str, Any]] = [
        {
            "speaker": speaker,
            "position": position,
            "reasoning": [{"sentence": "The traffic was counted.", "messages": []}],
            "falsifier": "I would change my mind if a full count showed otherwise by 2028.",
            "quotes": [line["wrote"] for line in offered if line["speaker"] == speaker][:2],
        }
        for speaker, position in (("Speaker A", "YES"), ("Speaker B", "NO"))
    ]
    diagnosis: list[dict[str, Any]] = [{"sentence": "Different data on one question.", "messages": []}]
    return json.dumps(
        {
            "question": QUESTION,
            "disagreement_type": "evidence",
            "diagnosis": diagnosis,
            "resolved": False,
            "sides": sides,
        }
    )


async def belief_graph(folder: Path) -> tuple[int, float]:
    """How many essays, and CPU seconds from their texts to a persona whose every passage gave five claims."""
    corpus: Corpus = import_corpus(folder).corpus
    begun = time.process_time()
    await build_persona("Bench", corpus, generate=scripted(read), seed=1)
    return len(corpus.items), time.process_time() - begun


def read(request: Request) -> str:
    """The beginnings of a passage's sentences as claims, each a reason for the next; a contract of one line."""
    phase = request.label.phase
    blocks = {found[1]: found[3] for found in _BLOCK.finditer(request.messages[-1].content)}
    lines = {name: [json.loads(line) for line in text.splitlines() if line[:1] == "{"] for name, text in blocks.items()}
    if phase == "reading":
        return json.dumps({"passages": [{"id": one["id"], "claims": claims(one)} for one in lines["PASSAGES"]]})
    if phase == "linking":
        return '{"relations": []}'
    if phase == "judge":
        return json.dumps({"verdicts": [{"pair": one["pair"], "kind": "unrelated"} for one in lines["PAIRS"]]})
    return json.dumps(
        {
            "text": "Argues from history.",
            "conditions": [],
            "excerpts": [],
            "speech_patterns": [],
            "vocabulary": [],
            "forbidden_phrases": [],
            "examples": [],
        }
    )


def claims(passage: dict[str, str]) -> list[dict[str, Any]]:
    """Up to five sentences of a passage, each said to support the next."""
    sentences = [one for one in re.split(r"(?<=[.;])\s+", passage["text"]) if len(one) > 40][:5]
    ids = [f"{passage['id']}-{number}" for number in range(len(sentences))]
    return [
        {
            "id": key,
            "text": " ".join(sentence.split()[:10]),
            "stance": "holds",
            "quote": sentence,
            "supports": [after] if after else [],
        }
        for key, after, sentence in zip(ids, [*ids[1:], ""], sentences, strict=True)
    ]


def replies(essays: Path) -> tuple[int, int]:
    """Known replies found in the first five, and how many are known."""

    def shelf(*authors: str) -> list[Utterance]:
        return [item for author in authors for item in import_corpus(essays / author).corpus.items]

    found = gold_replies(shelf("brutus", "cato"), shelf("hamilton", "madison", "jay", "disputed")).hits
    return found.hits, found.of
