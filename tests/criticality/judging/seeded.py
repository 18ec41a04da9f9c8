"""Six small projects with right bodies and seeded wrong ones, and hearings of them without an engine."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from criticality.artifacts import Body
from criticality.judging.hearing import Hearing
from criticality.languages import language
from criticality.lattice_plan import ModulePlan, index
from criticality.spec.claims import StructuredClaim, StructuredClaims
from criticality.spec.spec import Spec

NAMES = ("blocks", "slots", "versions", "runs", "kitty", "turnstile")
PYTHON = language("python")
#: Changes of right bodies that keep every promise: they are no bugs.
SAME = (
    ("numbers.parse_number", "<= 4"),
    ("areas.merged", "last >= result[-1].last"),
    ("areas.merged", "block.network < result[-1].last + 1"),
    ("runs.packed", "start = 1"),
    ("expenses.shares_of", "strict=False"),
    ("balances.settlement", "max("),
    ("reports.statement", "list(sheet)"),
)


@dataclass
class Project:
    """A project: what it must do, and bodies by function."""

    spec: Spec
    plan: tuple[ModulePlan, ...]
    right: dict[str, str]
    wrong: list[tuple[str, str]]
    claims: list[StructuredClaim] = field(default_factory=list)
    language: str = "python"


def project(name: str) -> Project:
    """Return one of the projects, with twenty wrong bodies."""
    made = {"kitty": _kitty, "turnstile": _turnstile}.get(name, lambda: _written(name))()
    every = [(f, text) for f, body in made.right.items() for text in PYTHON.mutants(body)]
    every = [(f, t) for f, t in every if not any(f == same and mark in t for same, mark in SAME)]
    missing = max(0, 20 - len(made.wrong))
    made.wrong += [every[i * len(every) // max(1, missing)] for i in range(missing)]
    return made


def ported(name: str, target: str) -> Project:
    """Return a project with its bodies in another language."""
    one = _written(name) if name in NAMES else ruled_out(name)
    bodies = table("ported")[target][name]
    wrong = [pair for body in bodies["wrong"] for pair in body.items()]
    # What the plans import are modules of Python.
    plan = tuple(module.model_copy(update={"imports": []}) for module in one.plan)
    return Project(one.spec, plan, bodies["right"], wrong, language=target)


def table(name: str) -> dict[str, Any]:
    """Return a table of small projects."""
    return yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text("utf-8"))


def ruled_out(name: str, tables: str = "ruled_out") -> Project:
    """Return a project of a table, that of bodies that a clause rules out; its functions stand in ``it``."""
    one = table(tables)[name]
    spec = {
        "system": {"name": name, "description": f"The project {name}."},
        "newtypes": {n: {"base": b, "constraints": held} for n, (b, *held) in one.get("newtypes", {}).items()},
        "enums": one.get("enums", {}),
        "errors": {error: f"It is {error}" for error in one.get("errors", ())},
        "data_models": {
            n: {
                "fields": [{"name": f, "type": of} for f, of in record["fields"].items()],
                "invariants": record.get("invariants", []),
            }
            for n, record in one.get("records", {}).items()
        },
        "interfaces": {
            "All": {
                "methods": [
                    {"name": n, "params": f["params"], "returns": f["returns"]} for n, f in one["functions"].items()
                ]
            }
        },
        "claims": {"all_001": {"text": "Everything is as its contract says", "type": "invariant"}},
    }
    functions = [
        {
            "name": n, "doc": "It.", **f, "contracts": [*f["contracts"], "PURITY: pure", "CLAIM_REF: all_001"],
            "calls": [f"it.{called}" for called in f.get("calls", ())],
        }
        for n, f in one["functions"].items()
    ]  # fmt: skip
    module = {"name": "it", "purpose": "It.", "interfaces": ["All"], "imports": ["re"], "functions": functions}
    right = {f"it.{n}": text for body in reversed(one["right"]) for n, text in body.items()}
    return Project(Spec.model_validate(spec), (ModulePlan.model_validate(module),), right, [])


def hearing(
    one: Project, unit: list[str], bodies: Mapping[str, str] | None = None, due: list[str] | None = None, **more: Any
) -> Hearing:
    """Return a hearing of some functions; everything else has its right body."""
    texts = {**one.right, **(bodies or {})}
    served = {name: Body(text, "", "worker", 1) for name, text in texts.items()}
    accepted = {name: body for name, body in served.items() if name not in unit}
    variants = more.pop("variants", [])
    systems = [served, accepted, *({**served, name: Body(text, "", "worker", 1)} for _, name, text in variants)]
    if due is None:
        due = [claim.id for claim in one.claims if set(claim.functions) & set(unit)]
    return Hearing(
        spec=one.spec, modules=one.plan, claims=one.claims,
        program=language(one.language).serve(one.spec, one.plan, systems),
        unit=unit, accepted=list(accepted), due=due, variants=[(kind, name) for kind, name, _ in variants],
        bodies={name: [texts[name], *(text for _, of, text in variants if of == name)] for name in unit}, **more,
    )  # fmt: skip


def unit_of(one: Project, name: str) -> list[str]:
    """Return the functions that are judged with one: those that call each other in a circle."""
    calls = {f: set(function.calls) for f, (_, function) in index(one.plan).items()}
    return [f for f in calls if f == name or (name in calls[f] and f in calls[name])]


def _written(name: str) -> Project:
    data = yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text("utf-8"))
    plan = tuple(ModulePlan.model_validate(module) for module in data["modules"])
    return Project(
        Spec.model_validate(data["spec"]), plan, data["right"], [pair for one in data["wrong"] for pair in one.items()]
    )


def _module(path: Path) -> Any:
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    return module


def _turnstile() -> Project:
    module = _module(Path(__file__).parent.with_name("turnstile_system.py"))
    plan = (ModulePlan.model_validate(module.GATE), ModulePlan.model_validate(module.PARITY))
    pair = re.findall(r"### (\w+)\n```python\n(.*?)\n```", module.PAIR, re.DOTALL)
    right = {"gate.enter": module.ENTER, **{f"parity.{name}": body for name, body in pair}}
    wrong = [
        ("gate.enter", "return Gate(Count(gate.inside + 1), gate.limit)"),
        ("gate.enter", "if gate.inside > gate.limit:\n    raise Full\nreturn Gate(Count(gate.inside + 1), gate.limit)"),
        (
            "gate.enter",
            "if gate.inside >= gate.limit:\n    return gate\nreturn Gate(Count(gate.inside + 1), gate.limit)",
        ),
        (
            "gate.enter",
            "if gate.limit - gate.inside <= 1:\n    raise Full\nreturn Gate(Count(gate.inside + 1), gate.limit)",
        ),
        ("parity.is_even", "return count % 2 == 0 and count < 39"),
        ("parity.is_odd", "return not (count > 1 and is_even(count))"),
    ]
    claims = StructuredClaims.model_validate(module.CLAIMS).claims
    return Project(Spec.model_validate(module.SPEC), plan, right, wrong, claims)


def _kitty() -> Project:
    from assay.demo import demo_answers

    answers = {label.removeprefix("criticality/"): text for label, (text, _) in demo_answers("build").answers.items()}
    modules = ("money", "members", "expenses", "balances", "reports")
    plan = tuple(ModulePlan.model_validate_json(answers[f"lattice/{m}:structurer/2/1"]) for m in modules)
    right: dict[str, str] = {}
    for label, text in answers.items():
        match = re.fullmatch(r"injection/([a-z_.]+):\w+/101/\d", label)
        if match:  # the last attempt is the one that was accepted
            right[match[1]] = text.strip().removeprefix("```python\n").removesuffix("\n```")
    claims = StructuredClaims.model_validate_json(answers["tests/claims:structurer/2/2"]).claims
    return Project(
        Spec.model_validate(json.loads(answers["ignition/proposal-2:architect/2/1"])["spec"]), plan, right, [], claims
    )
