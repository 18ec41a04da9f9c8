"""A scripted council of records: every phase answers by its form; a test replaces what it is about."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from crucible import Attachment, Council, CouncilResult, EngineConfig
from llm_runtime import CallLabel, Message, Reply, Request, Usage
from llm_runtime.events import Event

Says: TypeAlias = "Callable[[Request], Any]"
"""What a phase answers: text as it is, anything else as JSON; an exception is raised."""


def shown(request: Request) -> str:
    """All that the last message shows."""
    return request.messages[-1].content


def asked_about(request: Request) -> list[str]:
    """The objections that a seat has to answer."""
    found = re.search(r"one for each of these objections: (.*?)\. `does`", shown(request))
    return re.findall(r"O\d+", found[1]) if found else []


def letter(request: Request) -> str:
    """The letter of the seat that is asked to revise."""
    found = re.search(r"you are member (\w)", shown(request))
    assert found is not None
    return found[1]


def position(request: Request) -> Any:
    role = request.label.seat.partition(":")[2]
    if "you are member" not in shown(request):
        claims = [{"text": f"The {role} says that one server carries the load."}, {"text": "Two would cost more."}]
        return {"claims": claims, "conclusion": f"Take one server, says the {role}.", "confidence": "high"}
    answers = [{"objection": id, "does": "concede", "words": "Nobody measured it."} for id in asked_about(request)]
    claims = [{"id": f"{letter(request)}1", "text": "One server carries the load of a quiet day."}]
    return {"answers": answers, "claims": claims, "conclusion": "Take one server and measure.", "confidence": "low"}


FAILS = (
    "The load was never measured. Who says that it is low has looked at one week in summer.",
    "December is left out: orders are five times as many then, and a shop lives on them.",
    "Nobody says who restarts the machine at night, and a day without it costs a month of profit.",
)


def critique(request: Request) -> Any:
    ids = re.findall(r"^([EP-S]\d+)\. ", shown(request), re.MULTILINE)
    known = re.search(r"one entry for each of these: (.*?)\. `holds`", shown(request))
    earlier = [{"id": id, "holds": False} for id in (re.findall(r"O\d+", known[1]) if known else [])]
    fails = FAILS[(request.label.round + request.label.attempt - 2) % len(FAILS)]
    attack = {"claim": ids[0], "words": "one server carries the load", "fails": fails, "settles": "A load test."}
    return {"earlier": earlier, "objections": [attack]}


def weigh(request: Request) -> Any:
    """An honest reader of short texts: those that the tests write for refusals begin otherwise."""
    return {"says": "", "answers": not any(words in shown(request) for words in (*REFUSALS, *NEAR_REFUSALS))}


def effects(request: Request) -> Any:
    ids = re.findall(r"<<<CLAIM (O\d+)", shown(request))
    return {"claims": [{"id": id, "does": "weakened", "words": "on a quiet day"} for id in ids]}


REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I'm unable to assist with this request. Please consult a professional who can give you advice.",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
    "Je suis désolé, mais je ne peux pas répondre à cette demande.",
    "抱歉，我无法回答这个问题。",
    "申し訳ありませんが、そのご要望にはお応えできません。",
    "Извините, я не могу помочь с этим запросом.",
    "عذراً، لا أستطيع المساعدة في هذا الطلب.",
)
#: Too short to tell by, or in the council's own words.
NEAR_REFUSALS = ("I can't.", "I won't say whether one server carries the load, or two.", "拒绝。")

#: Which of the seats has failed, if one has, is drawn: some claim that the answer rests on is still held.
ANSWER = {
    "answer": "Take one server; on a quiet day it is enough.",
    "claims": [{"text": "One is enough.", "rests_on": ["P1", "Q1", "R1", "S1"]}],
}

NO_FINDINGS = {"findings": [], "looked_at": "All of it."}


@dataclass
class Scripted:
    """A model function by phase; it keeps what it was asked."""

    says: Mapping[str, Any]
    requests: list[Request] = field(default_factory=list[Request])

    async def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        said = self.says[request.label.phase]
        said = said(request) if callable(said) else said
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Reply(text, request.model, "scripted", Usage(1, 1))

    @property
    def phases(self) -> list[str]:
        return [request.label.phase for request in self.requests]


def configuration(grammar: str = "parallel", loops: int = 2, roles: Sequence[str] = (), **more: Any) -> Any:
    seats = roles or ("domain_expert", "red_team", "pragmatist", "creative")
    return {
        "reconstructed_query": "How many servers does a shop of three people need?",
        "complexity": "complex",
        "short_circuit_allowed": False,
        "council": [{"role": role, "system_prompt": f"You are the {role}."} for role in seats],
        "loop_grammar": grammar,
        "loop_count": loops,
        "red_team_flavor": "logical",
        "allow_early_exit": True,
        "synthesis_instruction": "One paragraph.",
        **more,
    }


async def hold(
    says: Mapping[str, Any] | None = None,
    *,
    material: Sequence[Attachment] = (),
    emit: Callable[[Event], Any] = lambda event: None,
    models: tuple[str, ...] = (),
    configured: Any = None,
    **asked: Any,
) -> tuple[CouncilResult, Scripted]:
    """Hold a council; return what it came to, and the model that played it."""
    model = Scripted(
        {
            "triage": configured or configuration(),
            "position": position,
            "defence": position,
            "critique": critique,
            "synthesis": ANSWER,
            "effects": effects,
            "weigh": weigh,
        }
        | dict(says or {})
    )
    config = EngineConfig(openrouter_api_key="", generate=model, observability=True, models=models)
    council = Council(config, emit=emit, seed=7)
    return await council.run("How many servers?", material=material, **asked), model


def played(text: str, synthesis: Any = ANSWER) -> str | None:
    """Answer what a council of records asks over HTTP, without labels; ``None`` for anything else."""
    signs = {
        "Take your position": ("position", position, 1),
        "you are member": ("position", position, 2),
        "Attack by your attack vector. Where": ("critique", critique, 1),
        "Press what still holds": ("critique", critique, 2),
        "You compare an answer": ("effects", effects, 1),
        "You say whether it answers": ("weigh", weigh, 1),
        '"findings": [': ("synthesis", lambda request: synthesis if "answer" not in synthesis else NO_FINDINGS, 1),
        "You write the answer to a user": ("synthesis", lambda request: synthesis, 1),
    }
    found = next((play for sign, play in signs.items() if sign in text), None)
    if found is None:
        return None
    phase, says, loop = found
    label = CallLabel("crucible", phase, "0:domain_expert", loop)
    said = says(Request("m", (Message("user", text),), label))
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def objection(text: str, fails: str) -> str:
    """What somebody in the critic's seat fills in, who is shown ``text``."""
    said = json.loads(played(text) or "")
    said["objections"][0]["fails"] = fails
    return json.dumps(said)
