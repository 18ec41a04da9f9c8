"""Scripted readers and debaters: the two shipped authors, read by their key, and whoever a test makes up."""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, TypeAlias

import pytest

from crux import Debate, DebateConfig, DebateResult, Persona
from crux.building import Built, build_persona
from crux.events import DebateEvent
from crux.personas.corpus import make_corpus
from crux.personas.shipped import shipped_corpus
from crux.personas.store import StoredCorpus
from crux.sources.utterance import Utterance
from llm_runtime.events import Event
from llm_runtime.messages import Generate, Request
from llm_runtime.testing import ScriptedModel

Script: TypeAlias = Callable[[Request], Any]

BLOCK = re.compile(r"<<<([^<>\n]+) ([0-9a-f]{16})>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)

TOPIC = "Should a city let software decide who waits, who pays and whose house is inspected?"
MAUD, ILARIO = "Maud Tarrowby", "Ilario Fennimast"


def block(request: Request, name: str) -> str:
    """What stands in the fence of that name, in the last user message that was first sent."""
    text = next(message.content for message in request.messages if message.role == "user")
    return next((found[3] for found in BLOCK.finditer(text) if found[1] == name), "")


@pytest.fixture(scope="session")
def key() -> dict[str, Any]:
    """What a pipeline should find in the shipped essays."""
    return tomllib.loads(resources.files("crux").joinpath("authors/key.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def reader(key: dict[str, Any]) -> Callable[[], ScriptedModel]:
    """A model that reads the shipped essays as their key does, and writes plain contracts."""
    concepts = {belief["id"]: belief["concept"] for belief in key["belief"]}
    ties = {(concepts[edge["from"]], concepts[edge["to"]]): edge["polarity"] for edge in key["edge"]}

    def read(request: Request) -> str:
        known = {one["claim"]: one["id"] for one in lines_of(request, "CLAIMS SO FAR")}
        passages: list[dict[str, Any]] = []
        for passage in lines_of(request, "PASSAGES"):
            claims: list[dict[str, Any]] = []
            for belief in key["belief"]:
                for statement in belief["statements"]:
                    if statement["quote"] in passage["text"]:
                        text = belief["concept"]
                        ids = {"ref": known[text]} if text in known else {"id": f"n{len(known)}", "text": text}
                        known.setdefault(text, ids.get("id", ""))
                        claims.append({**ids, "stance": "holds", "quote": statement["quote"]})
            passages.append({"id": passage["id"], "claims": claims, "none": "" if claims else "a story"})
        return json.dumps({"passages": passages})

    def link(request: Request) -> str:
        ids = {one["claim"]: one["id"] for one in lines_of(request, "CLAIMS")}
        relations = [
            {"from": ids[cause], "to": ids[effect], "kind": "supports" if polarity == 1 else "undermines"}
            for (cause, effect), polarity in ties.items()
            if cause in ids and effect in ids
        ]
        return json.dumps({"relations": relations})

    def judge(request: Request) -> str:
        verdicts: list[dict[str, Any]] = []
        for one in lines_of(request, "PAIRS"):
            polarity = ties.get((one["premise"], one["claim"]))
            kind = {1: "supports", -1: "undermines", None: "unrelated"}[polarity]
            verdicts.append({"pair": one["pair"], "kind": kind, "span": one["premise"]})
        return json.dumps({"verdicts": verdicts})

    steps = {"reading": read, "audit": read, "stances": all_held, "linking": link, "judge": judge, **CONTRACT}
    return lambda: ScriptedModel(steps)


def all_held(request: Request) -> str:
    """A second reader to whom every author holds every claim."""
    ids = [one["id"] for one in lines_of(request, "PLACES")]
    return json.dumps({"stances": [{"id": key, "stance": "holds"} for key in ids]})


def nothing_read(request: Request) -> str:
    """Every passage answered, and no claim in any."""
    ids = [one["id"] for one in lines_of(request, "PASSAGES")]
    return json.dumps({"passages": [{"id": key, "claims": [], "none": "a story"} for key in ids]})


def lines_of(request: Request, name: str) -> list[dict[str, Any]]:
    """The objects in the fence of that name, one a line."""
    return [json.loads(line) for line in block(request, name).split("\n") if line.startswith("{")]


def _texts(request: Request) -> str:
    return block(request, "TEXTS")


def _first_sentences(request: Request) -> list[str]:
    bodies = [part.split("\n", 1)[1] for part in _texts(request).split("\n\n[") if "\n" in part]
    return [re.split(r"(?<=[.!?])\s", body.strip())[0] for body in bodies if body.strip()]


def _excerpts(request: Request) -> str:
    return json.dumps({"excerpts": [*_first_sentences(request)[:8], "Never written by anyone at all."]})


def _voice(request: Request) -> str:
    return json.dumps(
        {
            "speech_patterns": ["begins with a case"],
            "vocabulary": ["the collar"],
            "forbidden_phrases": ["synergy going forward"],
            "examples": _first_sentences(request)[:2],
        }
    )


CONTRACT: dict[str, Any] = {
    **{
        f"contract_{part}": json.dumps({"text": f"The author shows {part.replace('_', ' ')} by cases and counts."})
        for part in ("personality", "bias", "stakes", "epistemology", "time_horizon", "evidence_policy")
    },
    "contract_flip": json.dumps(
        {"conditions": ["A full count of the collar that shows as many vehicles gained as Ninebridges lost."]}
    ),
    "contract_excerpts": _excerpts,
    "contract_voice": _voice,
}


@pytest.fixture
def build() -> Callable[..., Awaitable[Built]]:
    """Build a persona with a fixed seed and time."""

    async def make(stored: StoredCorpus, model: Generate, **more: Any) -> Built:
        pytest.importorskip("bm25s", reason="the belief pipeline needs the extra 'debate'")
        return await build_persona(
            stored.name,
            stored.corpus,
            generate=model,
            aliases=stored.aliases,
            seed=5,
            now=lambda: "2026-11-20T00:00:00+00:00",
            **more,
        )

    return make


@pytest.fixture(scope="session")
def authors(reader: Callable[[], ScriptedModel]) -> list[Persona]:
    """Maud Tarrowby and Ilario Fennimast, built."""
    pytest.importorskip("bm25s", reason="retrieval needs the extra 'debate'")
    built: list[Persona] = []
    for slug in ("maud-tarrowby", "ilario-fennimast"):
        stored = shipped_corpus(slug)
        made = asyncio.run(
            build_persona(
                stored.name, stored.corpus, generate=reader(), seed=5, now=lambda: "2026-11-20T00:00:00+00:00"
            )
        )
        assert not made.standing.thin, made.standing.reasons
        contract = made.persona.contract.model_copy(update={"invented": True})
        built.append(made.persona.model_copy(update={"contract": contract}))
    return built


@pytest.fixture
async def small_persona(build: Any, plain_reader: ScriptedModel) -> Callable[..., Awaitable[Persona]]:
    """A persona from a few sentences, without a belief graph."""

    async def make(name: str, *texts: str) -> Persona:
        items = [
            Utterance(id=f"{name}-{n}", source="essay", date=f"2020-01-{n:02}", text=text)
            for n, text in enumerate(texts, 1)
        ]
        return (await build(StoredCorpus(name=name, corpus=make_corpus(items)), plain_reader)).persona

    return make


@pytest.fixture
def plain_reader() -> ScriptedModel:
    """A reader that finds no claim anywhere."""
    return ScriptedModel(
        {"reading": nothing_read, "stances": '{"stances": []}', "linking": '{"relations": []}', **CONTRACT}
    )


def turn(
    position: str = "YES: it should.",
    utterance: str = "The count decides, and the count was published.",
    *,
    updated: bool = False,
    because: str = "Nothing named a flaw.",
    claim_ref: str = "",
    core: tuple[str, str] | None = None,
) -> str:
    """A turn in the wire form."""
    answer: dict[str, Any] = {
        "state": {
            "position": position,
            "challenge": "",
            "updated": updated,
            "because": because,
            "claim_ref": claim_ref,
        },
        "utterance": utterance,
    }
    if core:
        answer["core"] = {"statement": core[0], "type": core[1]}
    return json.dumps(answer)


CORE = "Did most of the traffic that the charge removed cease, rather than move next door?"


def aspects(count: int = 3) -> str:
    """A decomposition."""
    listed = [
        "Did the Cordon make traffic cease rather than move to the collar?",
        "Is an appeal under a printed rule enough against wrong refusals?",
        "Should the list bind the inspector in the choice of the door?",
        "Should a somebody sign for what a program decides?",
        "Should every rule die after five years?",
    ]
    return json.dumps({"aspects": [{"label": text, "description": f"At issue: {text}"} for text in listed[:count]]})


def pairs(*who: tuple[str, str], claim: str = "whether most of the traffic ceased", relevant: bool = True) -> str:
    """A detection."""
    return json.dumps(
        {
            "pairs": [
                {
                    "has_direct_opposition": True,
                    "has_specific_claim": True,
                    "topic_relevant": relevant,
                    "personas": [f"Speaker {a}", f"Speaker {b}"],
                    "claim": claim,
                }
                for a, b in who
            ]
        }
    )


def letter(request: Request) -> str:
    """The speaker's letter, by the seat in the label."""
    return "ABCDEFGH"[int(request.label.seat.split(":")[0]) - 1]


def stance_of(request: Request) -> str:
    """In these scripts odd seats say YES and even seats NO."""
    return "YES" if letter(request) in "ACEG" else "NO"


def speak(request: Request) -> str:
    """A plain turn of whoever is asked."""
    return turn(
        f"{stance_of(request)}: the record shows it.",
        f"Turn {request.label.phase} {request.label.round} of {letter(request)}: counts and kitchens disagree.",
    )


def converge(request: Request) -> str:
    """Both sides name the same thing."""
    return turn(f"{stance_of(request)}: by the counts.", "It is whether the traffic ceased.", core=(CORE, "factual"))


def card(request: Request) -> str:
    """A card that quotes the first sentence it was offered for each side."""
    offered = [
        json.loads(line) for line in block(request, "SENTENCES FROM THEIR OWN WRITINGS").split("\n") if line[:1] == "{"
    ]
    said = [json.loads(line) for line in block(request, "WHAT WAS SAID").split("\n")]
    sides: list[dict[str, Any]] = []
    for speaker in dict.fromkeys(line["speaker"] for line in said if line["speaker"] != "evidence"):
        own = [line["id"] for line in said if line["speaker"] == speaker]
        sides.append(
            {
                "speaker": speaker,
                "position": "YES" if speaker[-1] in "ACEG" else "NO",
                "condition": "",
                "messages": own[-1:],
                "reasoning": [
                    {"sentence": "The traffic was counted.", "messages": own[:1]},
                    {"sentence": f"{speaker} holds to the count.", "messages": own[-1:]},
                ],
                "falsifier": "I would change my mind if a full count showed otherwise by 2028.",
                "quotes": [
                    *[line["wrote"] for line in offered if line["speaker"] == speaker][:1],
                    "This was never written.",
                ],
            }
        )
    return json.dumps(
        {
            "question": CORE,
            "disagreement_type": "evidence",
            "diagnosis": [{"sentence": "Different data on one question.", "messages": [said[0]["id"]]}],
            "resolved": False,
            "resolution": "A count of the collar would settle it.",
            "sides": sides,
        }
    )


def earned(request: Request) -> str:
    """A judge who finds the claim in the words that are cited, and takes praise for praise."""
    praise = any(word in block(request, "REASON") for word in ("good point", "brilliant"))
    span = " ".join(block(request, "CITED WORDS").split("\n")[0].split()[:6])
    return json.dumps({"span": span, "bears": True, "ground": "politeness" if praise else "argument"})


def judged(request: Request) -> str:
    """A judge who hears support wherever two texts share three words of some length."""
    verdicts: list[dict[str, Any]] = []
    for line in block(request, "PAIRS").split("\n"):
        pair = json.loads(line)
        words = [set(re.findall(r"\w{4,}", pair[side].lower())) for side in ("premise", "claim")]
        near = len(words[0] & words[1]) >= 3
        kind = "supports" if near else "unrelated"
        verdicts.append({"pair": pair["pair"], "kind": kind, "span": pair["premise"]})
    return json.dumps({"verdicts": verdicts})


PANEL: dict[str, Any] = {
    "earned": earned,
    "judge": judged,
    "decomposition": aspects(),
    "opening": speak,
    "take": speak,
    "clash": speak,
    "closing": speak,
    "flip_test": speak,
    "detection": pairs(("A", "B")),
    "room_position": speak,
    "room_exchange": speak,
    "room_convergence": converge,
    "exit_check": '{"exit": false}',
    "convergence_judge": '{"same": true, "opposite_wording": false}',
    "card": card,
    "summary": '{"summary": "Speaker A claimed the traffic ceased; Speaker B objected.", "messages": ["m3", "m4"]}',
    "baseline_one_call": '{"answer": "They weigh counts and cases differently."}',
    "baseline_thinking": '{"thinking": "First...", "answer": "They differ on what a wrong is."}',
}


@dataclass
class Held:
    """A debate that was held: wire events, house events, requests, result."""

    wire: list[DebateEvent]
    house: list[Event]
    model: ScriptedModel
    debate: Debate
    result: DebateResult

    def types(self) -> list[str]:
        """The wire events' names, in order."""
        return [event.type for event in self.wire]

    def of(self, name: str) -> list[Any]:
        """The wire events of one name."""
        return [event for event in self.wire if event.type == name]

    def heard(self, kind: type[Any]) -> list[Any]:
        """The house events of one class."""
        return [event for event in self.house if isinstance(event, kind)]


@dataclass
class Scripts:
    """The words of these tests, for tests that write their own scripts."""

    turn: Callable[..., str] = turn
    speak: Script = speak
    converge: Script = converge
    card: Script = card
    pairs: Callable[..., str] = pairs
    aspects: Callable[..., str] = aspects
    block: Callable[[Request, str], str] = block
    letter: Script = letter
    stance_of: Script = stance_of
    panel: dict[str, Any] = field(default_factory=lambda: dict(PANEL))
    core: str = CORE


@pytest.fixture(scope="session")
def scripts() -> Scripts:
    """See :class:`Scripts`."""
    return Scripts()


#: Debates in which nothing is special: many tests look at one and the same. Each keeps its persons alive.
PLAIN: dict[str, Held] = {}


@pytest.fixture
def hold() -> Callable[..., Awaitable[Held]]:
    """Hold a debate of ``personas`` with a scripted panel; ``script`` replaces phases, the rest is the config."""

    async def run(
        personas: Sequence[Persona],
        topic: str = TOPIC,
        *,
        script: dict[str, Any] | None = None,
        wrap: Callable[[Generate], Generate] = _itself,
        evidence: Sequence[Any] = (),
        seed: int = 7,
        **config: Any,
    ) -> Held:
        plain = script is None and wrap is _itself and not evidence
        key = f"{[id(persona) for persona in personas]} {topic} {seed} {config}"
        if plain and key in PLAIN:
            return PLAIN[key]
        model = ScriptedModel({**PANEL, **(script or {})})
        house: list[Event] = []
        config.setdefault("anyway", True)  # these small persons have written on little
        debate = Debate(
            topic,
            personas,
            generate=wrap(model),
            config=DebateConfig(**config),
            emit=house.append,
            seed=seed,
            clock=lambda: 1_000,
            evidence=evidence,
        )
        wire = [event async for event in debate.events()]
        held = Held(wire, house, model, debate, debate.result())
        if plain:
            PLAIN[key] = held
        return held

    return run


def _itself(model: Generate) -> Generate:
    return model
