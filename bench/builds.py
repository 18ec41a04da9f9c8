"""A system of a hundred functions, from a scripted model, with real tools: checking, bookkeeping, resuming."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import Figure
from criticality import Answers, AnswersFile, Orchestrator, create_project
from criticality.ledger import Ledger
from criticality.machine.states import Active, ProtocolState
from criticality.project.files import JOURNAL
from criticality.project.journal import read_journal
from llm_runtime.events import Event
from llm_runtime.messages import Generate, Request
from llm_runtime.providers.scripted import scripted

MODULES = 10
FUNCTIONS = 10

SPEC: dict[str, Any] = {
    "system": {"name": "hundred", "description": "A hundred small functions over counts, to be measured by."},
    "newtypes": {"Count": {"base": "Int", "constraints": ["non_negative"], "description": "A number of things"}},
    "errors": {"TooMany": "There are more than may be"},
    "data_models": {
        "Shelf": {
            "fields": [
                {"name": "held", "type": "Count", "constraints": []},
                {"name": "room", "type": "Count", "constraints": []},
            ],
            "invariants": ["held <= room"],
            "description": "What lies on a shelf, and what fits on it",
        }
    },
    "interfaces": {"Shelves": {"methods": [{"name": "put_0_0", "params": ["shelf: Shelf", "more: Count"],
                                            "returns": "Result<Shelf, TooMany>"}]}},
    "claims": {"room_001": {"text": "A shelf never holds more than fits", "type": "invariant", "testable": True}},
}  # fmt: skip
ANSWERS = Answers(
    answers={
        "problem_users": "Somebody measures.", "success_criteria": "All pass.", "core_features": "Shelves.",
        "language_platform": "Python", "integrations": "None", "performance": "none", "security": "none",
        "compliance": "none",
    },
    delegate={"after": "constraints", "notes": ""},  # pyright: ignore[reportArgumentType]
)  # fmt: skip
BODY = "if shelf.held + more > shelf.room:\n    raise TooMany\nreturn replace(shelf, held=Count(shelf.held + more))"


def module(number: int) -> dict[str, Any]:
    contracts = [
        "ENSURES: shelf.held + more > shelf.room implies raises(TooMany)",
        "ENSURES: shelf.held + more <= shelf.room implies not raises(TooMany)",
        "ENSURES: result.held == shelf.held + more and result.room == shelf.room",
        "PURITY: pure",
    ]
    functions = [
        {
            "name": f"put_{number}_{place}",
            "params": ["shelf: Shelf", "more: Count"],
            "returns": "Result<Shelf, TooMany>",
            "doc": "Put more on a shelf.",
            "contracts": [*contracts, *(["CLAIM_REF: room_001"] if number == place == 0 else [])],
            "calls": [],
        }
        for place in range(FUNCTIONS)
    ]
    return {"name": f"shelves_{number}", "purpose": "Shelves.", "interfaces": ["Shelves"] if number == 0 else [],
            "imports": [], "functions": functions}  # fmt: skip


def answer(request: Request) -> str:
    item = request.label.seat.partition(":")[0]
    modules = [module(number) for number in range(MODULES)]
    match request.label.phase, item:
        case "ignition", "features":
            return json.dumps({"features": []})
        case "ignition", "challenge":
            return json.dumps({"challenges": []})
        case "ignition", _:
            return json.dumps({"spec": SPEC, "decisions": []})
        case "lattice", "structure":
            outline = [{**m, "functions": [f["name"] for f in m["functions"]]} for m in modules]
            return json.dumps({"modules": [{k: v for k, v in m.items() if k != "imports"} for m in outline]})
        case "lattice", _:
            return json.dumps(next(m for m in modules if m["name"] == item))
        case "composition_audit", _:
            return json.dumps({"contradictions_found": []})
        case "tests", _:
            test = {
                "name": "never_over",
                "variables": ["shelf: Shelf"],
                "assume": ["shelf.held < shelf.room"],
                "steps": ["after = put_0_0(shelf, Count(1))"],
                "check": ["after.held <= after.room"],
            }
            claim = {"id": "room_001", "type": "invariant", "subject": "a shelf", "predicate": "is not too full",
                     "functions": ["shelves_0.put_0_0"], "tests": [test]}  # fmt: skip
            return json.dumps({"claims": [claim]})
        case "injection", _:
            return BODY
        case "mesoscopic", _:
            return json.dumps({"scenarios": []})
        case _:
            return json.dumps({"decision": "skip", "guard": "nothing to gain"})


def model() -> Generate:
    return scripted(answer)


def clock() -> int:
    return time.time_ns() // 1_000_000


def project(root: Path) -> Orchestrator:
    return Orchestrator(root, model(), human=AnswersFile(ANSWERS), clock=clock)


def _at(phase: str) -> Callable[[ProtocolState], bool]:
    def reached(state: ProtocolState) -> bool:
        return isinstance(state, Active) and state.phase.phase == phase

    return reached


def _ledger() -> float:
    """Seconds for one decision among a thousand."""
    from criticality import events as e

    ledger = Ledger()
    begun = time.perf_counter()
    for number in range(1000):
        ledger.record(e.Delegated(after="constraints", notes=f"note {number}"), number)
    return (time.perf_counter() - begun) / 1000


async def bookkeeping(journal: list[tuple[int, Event]], root: Path) -> list[float]:
    """Seconds for each event of a build, told to a new project while nothing else runs."""
    create_project(root, "hundred", seed=1, clock=clock)
    taken: list[float] = []
    async with project(root) as work:
        for _, event in journal:
            if event.type.startswith("criticality.") and event.type != "criticality.project_created":
                begun = time.perf_counter()
                await work.take(event)
                taken.append(time.perf_counter() - begun)
    return taken


async def measured(folder: Path) -> dict[str, float]:
    """Seconds: verification a function, bookkeeping an event, resuming."""
    root = folder / "hundred"
    create_project(root, "hundred", seed=1, clock=clock)
    async with project(root) as work:
        await work.run(until=_at("injection"))
        begun = time.perf_counter()
        await work.run(until=_at("mesoscopic"))
        whole = time.perf_counter() - begun
    begun = time.perf_counter()
    async with project(root):
        resumed = time.perf_counter() - begun
    taken = await bookkeeping(read_journal(root / JOURNAL), folder / "again")
    return {"verify": whole / (MODULES * FUNCTIONS), "state": median(taken), "slowest": max(taken), "resume": resumed}


def figures() -> Iterator[Figure]:
    """The bounds of a build: nobody waits for the tool itself."""
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measured(Path(folder)))
    yield Figure("a function checked, typed and tested, of a hundred", found["verify"], "s", at_most=1.0)
    yield Figure("a state operation, everything on disk", found["state"] * 1000, "ms", at_most=5.0)
    yield Figure("the slowest of them", found["slowest"] * 1000, "ms")
    yield Figure("a ledger operation", _ledger() * 1000, "ms", at_most=5.0)
    yield Figure("resuming a build of a hundred functions", found["resume"], "s", at_most=1.0)
