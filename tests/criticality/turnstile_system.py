"""A small second system for the tests, with a model that answers by label."""

from __future__ import annotations

import copy
import importlib.util
import json
from typing import Any

import pytest

from criticality import Answers
from llm_runtime.messages import Generate, Request
from llm_runtime.providers.scripted import scripted

NEEDED = ("mypy", "hypothesis", "ruff", "bandit", "tomlkit")
HERE = all(importlib.util.find_spec(name) is not None for name in NEEDED)
needs_toolchain = pytest.mark.skipif(not HERE, reason="the `code` extra is not installed: no type checker to ask")

SPEC: dict[str, Any] = {
    "system": {"name": "turn-stile", "description": "Counts who goes through a gate, and who may."},
    "newtypes": {"Count": {"base": "Int", "constraints": ["non_negative", "max(40)"], "description": "People inside"}},
    "errors": {"Full": "The room holds no more"},
    "data_models": {
        "Gate": {
            "fields": [
                {"name": "inside", "type": "Count", "constraints": []},
                {"name": "limit", "type": "Count", "constraints": []},
            ],
            "invariants": ["inside <= limit"],
            "description": "A gate and the room behind it",
        }
    },
    "interfaces": {
        "Turnstile": {"methods": [{"name": "enter", "params": ["gate: Gate"], "returns": "Result<Gate, Full>"}]}
    },
    "claims": {
        "room_001": {"text": "The room never holds more than its limit", "type": "invariant", "testable": True},
        "room_002": {"text": "Turnstiles should feel pleasant", "type": "behavioral", "testable": False},
        "parity_001": {"text": "Every count is either even or odd", "type": "invariant", "testable": True},
    },
}
GATE: dict[str, Any] = {
    "name": "gate", "purpose": "Going in.", "interfaces": ["Turnstile"], "imports": [],
    "functions": [
        {
            "name": "enter", "params": ["gate: Gate"], "returns": "Result<Gate, Full>", "doc": "Let one person in.",
            "contracts": [
                "ENSURES: gate.inside == gate.limit implies raises(Full)",
                "ENSURES: gate.inside < gate.limit implies not raises(Full)",
                "ENSURES: result == Gate(Count(gate.inside + 1), gate.limit)",
                "PURITY: pure", "CLAIM_REF: room_001",
            ],
            "calls": [],
        }
    ],
}  # fmt: skip
PARITY: dict[str, Any] = {
    "name": "parity", "purpose": "Even and odd.", "interfaces": [], "imports": [],
    "functions": [
        {
            "name": name, "params": ["count: Count"], "returns": "Bool", "doc": f"Whether a count is {word}.",
            "contracts": [f"ENSURES: result == (count % 2 == {rest})", "PURITY: pure", "CLAIM_REF: parity_001"],
            "calls": [f"parity.{other}"],
        }
        for name, word, rest, other in (("is_even", "even", 0, "is_odd"), ("is_odd", "odd", 1, "is_even"))
    ],
}  # fmt: skip
CLAIMS: dict[str, Any] = {
    "claims": [
        {
            "id": "room_001", "type": "invariant", "subject": "the room", "predicate": "within its limit",
            "functions": ["gate.enter"],
            "tests": [
                {
                    "name": "never_over", "variables": ["gate: Gate"], "assume": ["gate.inside < gate.limit"],
                    "steps": ["after = enter(gate)"],
                    "check": ["after.inside <= after.limit", "after.inside == gate.inside + 1"], "raises": "",
                },
                {
                    "name": "full_is_full", "steps": ["after = enter(Gate(Count(2), Count(2)))"], "raises": "Full",
                },
            ],
        },
        {
            "id": "parity_001", "type": "invariant", "subject": "a count", "predicate": "even or odd",
            "functions": ["parity.is_even", "parity.is_odd"],
            "tests": [
                {
                    "name": "one_of_two", "variables": ["count: Count"],
                    "steps": ["even = is_even(count)", "odd = is_odd(count)"],
                    "check": ["even != odd"],
                }
            ],
        },
    ]
}  # fmt: skip
ENTER = "if gate.inside >= gate.limit:\n    raise Full\nreturn Gate(Count(gate.inside + 1), gate.limit)"
PAIR = """### is_even
```python
if count == 0:
    return True
return is_odd(Count(count - 1))
```
### is_odd
```python
if count == 0:
    return False
return is_even(Count(count - 1))
```"""
EMPTY_AUDIT = {"contradictions_found": []}


class Script:
    """Answers by phase and item; ``asked`` holds every label, so that nothing is asked twice unnoticed."""

    def __init__(self, **changes: Any) -> None:
        self.asked: list[str] = []
        self.prompts: dict[str, str] = {}
        self.changes = changes
        self.spec = copy.deepcopy(SPEC)

    def model(self) -> Generate:
        return scripted(self._answer)

    def _answer(self, request: Request) -> Any:
        label = request.label
        self.asked.append(str(label))
        self.prompts[str(label)] = request.messages[-1].content
        item = label.seat.partition(":")[0]
        for key in (str(label), f"{label.phase}/{item}", label.phase):
            if key in self.changes:
                found = self.changes[key]
                found = found(request) if callable(found) else found
                return found if isinstance(found, str | BaseException) else json.dumps(found)
        return json.dumps(found) if not isinstance(found := self.usual(label.phase, item), str) else found

    def usual(self, phase: str, item: str) -> Any:
        match phase, item:
            case "ignition", "features":
                return {"features": []}
            case "ignition", "challenge":
                return {"challenges": []}
            case "ignition", _:
                return {"spec": self.spec, "decisions": ["Counts are whole"]}
            case "lattice", "structure":
                return {
                    "modules": [
                        {"name": m["name"], "purpose": m["purpose"], "interfaces": m["interfaces"],
                         "functions": [f["name"] for f in m["functions"]]}
                        for m in (GATE, PARITY)
                    ]
                }  # fmt: skip
            case "lattice", "gate":
                return GATE
            case "lattice", "parity":
                return PARITY
            case "composition_audit", _:
                return EMPTY_AUDIT
            case "tests", _:
                return CLAIMS
            case "injection", "gate.enter":
                return ENTER
            case "injection", _ if "+settle" in item:
                return {"right": "both"}
            case "injection", _:
                return PAIR
            case "mesoscopic", _:
                return {"scenarios": []}
            case _:
                return {"decision": "skip", "guard": "nothing to gain"}


ANSWERS = Answers(
    answers={
        "problem_users": "A room fills up.", "success_criteria": "Never too many inside.",
        "core_features": "Entering.",
        "language_platform": "Python", "integrations": "None",
    },
    delegate={"after": "constraints", "notes": "keep it small"},  # pyright: ignore[reportArgumentType]
    contradictions=["Count them"],
)  # fmt: skip
ANSWERS = ANSWERS.model_copy(
    update={"answers": {**ANSWERS.answers, "performance": "none", "security": "none", "compliance": "none"}}
)


def clock() -> int:
    """A clock that stands still, so that two runs can be compared byte by byte."""
    return 1_760_000_000_000
