"""The artifact server's tools: committed truth, read from the journal and appended to it."""

from __future__ import annotations

import tomllib
from contextlib import closing
from functools import reduce
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from criticality import events as e
from criticality.agents.policies import Agent, NotAllowed
from criticality.canonical import toml
from criticality.deliverable import ledger_text, state_text
from criticality.ledger import Decision, Ledger, LedgerStep
from criticality.orchestrator import read_project
from criticality.project import files
from criticality.project.journal import Clock, Journal
from criticality.spec.spec import Spec
from criticality.spec.types import parse_type
from criticality.telemetry import phase_of
from llm_runtime.errors import ConfigurationError
from llm_runtime.http.shape import mapping
from llm_runtime.models import Model
from llm_runtime.toml import parse_toml


class DecisionEntry(Model):
    """A decision as an agent may propose it.

    Args:
        constraint: what holds from now on; the only part that reaches a prompt.
        category: e.g. ``"architectural"``, ``"data_model"``.
        confidence: an agent's word is never canonical: only a person's is.
        dependencies: ids of decisions that it rests on; they have to stand.
        supersedes: the id of the decision that it takes the place of, or empty.
        rationale: for people.
    """

    constraint: str = Field(min_length=3, max_length=500)
    category: str = Field(min_length=1, max_length=60)
    confidence: Literal["delegated", "inferred", "provisional"] = "inferred"
    dependencies: list[str] = []
    supersedes: str = ""
    rationale: str = Field(default="", max_length=2000)


def approved_spec(root: Path) -> Spec:
    """Return the specification that a person approved.

    Raises:
        ConfigurationError: there is none yet.
    """
    spec = read_project(root)[1].spec
    if spec is None:
        raise ConfigurationError("no specification has been approved yet; the interview comes first")
    return spec


def read_spec_section(root: Path, section: str) -> str:
    """Return a section of the specification as TOML: ``"system"``, ``"data_models"`` or ``"data_models.Account"``.

    Raises:
        ConfigurationError: there is no such section; the message names those that there are.
    """
    value: Any = approved_spec(root).model_dump(mode="json")
    path = section.split(".")
    for part in path:
        within = mapping(value)
        if part not in within:
            names = ", ".join(within) or "none"
            raise ConfigurationError(f"the specification has no section {section[:80]!r}; there are: {names}")
        value = within[part]
    return toml(reduce(lambda inner, part: {part: inner}, reversed(path), value))


def append_decision(root: Path, agent: Agent, entry: DecisionEntry, clock: Clock) -> Decision:
    """Append a decision to the ledger, whole or not at all.

    Raises:
        ConfigurationError: it rests on what does not stand, or takes the place of what is not there.
        NotAllowed: it would take the place of what a person said.
        StoreBusy: an orchestrator works on the project.
    """
    files.require_project(root)
    with files.holding(root), closing(Journal(root / files.JOURNAL, clock)) as journal:
        journal.open()
        state, artifacts, ledger, _ = read_project(root)
        _may_stand(ledger, entry)
        event = e.DecisionAppended(agent=agent, phase=phase_of(state), **entry.model_dump())
        ledger.record(event, journal.append(event))
        files.write_project_file(root, files.LEDGER, ledger_text(ledger))
        files.write_atomic(root / files.STATE, state_text(state, artifacts, journal.seq))
    return list(ledger.decisions().values())[-1]


def _may_stand(ledger: Ledger, entry: DecisionEntry) -> None:
    statuses = ledger.statuses()
    fallen = [name for name in entry.dependencies if statuses.get(name) != "active"]
    if fallen:
        raise ConfigurationError(f"it rests on {', '.join(fallen)}, which the ledger does not hold as active")
    if not entry.supersedes:
        return
    if statuses.get(entry.supersedes) != "active":
        raise ConfigurationError(f"it supersedes {entry.supersedes}, which the ledger does not hold as active")
    if ledger.decisions()[entry.supersedes].confidence == "canonical":
        raise NotAllowed(f"{entry.supersedes} is canonical: a person said it, and only a person can override it")


def get_type_witness(root: Path, name: str) -> dict[str, Any]:
    """Return the witness of a newtype or a record in the universal schema.

    The schema is the one of the specification, section 5.2 "Type Witnesses (Cross-Language)".

    Raises:
        ConfigurationError: the specification has no such type, or a type of a kind that is its own witness.
    """
    spec = approved_spec(root)
    if name in spec.newtypes:
        new = spec.newtypes[name]
        stated = [_stated(word.partition("(")[0], word) for word in new.constraints]
        return _witness(name, new.description, new.base, stated)
    if name in spec.data_models:
        model = spec.data_models[name]
        stated = [
            _stated(f"{f.name}_{word}", word, f"{f.name}: {word}") for f in model.fields for word in f.constraints
        ]
        stated += [_stated(f"invariant_{n}", text) for n, text in enumerate(model.invariants, start=1)]
        fields = ", ".join(f"{field.name}: {field.type}" for field in model.fields)
        return _witness(name, model.description, f"record ({fields})", stated)
    names = ", ".join([*spec.newtypes, *spec.data_models]) or "none"
    raise ConfigurationError(f"there is no witness {name[:80]!r}; there are: {names}")


def _stated(name: str, formal: str, description: str = "") -> dict[str, Any]:
    return {"id": name, "description": description or formal, "formal": formal, "testable": True}


def _witness(name: str, description: str, inner: str, invariants: list[dict[str, Any]]) -> dict[str, Any]:
    plain = inner.startswith("record")
    witness = {
        "name": name,
        "description": description,
        "base": {"generic": not plain and bool(parse_type(inner).args), "inner_type": inner},
        "invariants": invariants,
        "constructors": [{"name": "new", "trust_level": "safe" if invariants else "unsafe"}],
    }
    return {"witness": witness}


class LedgerFile(Model):
    """``ledger.toml``."""

    meta: dict[str, str]
    operations: list[LedgerStep] = []


#: The artifacts that have a schema: where each lies, and what it has to be.
SCHEMAS: dict[str, tuple[str, type[BaseModel]]] = {
    "spec": ("spec/spec.toml", Spec),
    "ledger": (files.LEDGER, LedgerFile),
}


def validate_schema(root: Path, artifact: str) -> dict[str, Any]:
    """Tell whether the file of an artifact, as it lies in the project, fits its schema: ``{"valid", "errors"}``.

    Raises:
        ConfigurationError: there is no such artifact, or no such file yet.
    """
    if artifact not in SCHEMAS:
        raise ConfigurationError(f"there is no artifact {artifact[:80]!r}; there are: {', '.join(SCHEMAS)}")
    files.require_project(root)
    place, model = SCHEMAS[artifact]
    try:
        model.model_validate(parse_toml((root / place).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigurationError(f"the project has no {place} yet") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        return {"valid": False, "errors": [f"{place} is not TOML: {fault}"]}
    except ValidationError as fault:
        faults = fault.errors(include_url=False, include_input=False)[:20]
        return {"valid": False, "errors": [f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in faults]}
    return {"valid": True, "errors": []}
