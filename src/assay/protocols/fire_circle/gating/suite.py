"""SUITE.toml: what a gate judges and how, read and checked before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from assay.fields import read
from assay.protocols.fire_circle.gating.cases import Case, CaseColumns, read_cases
from assay.protocols.fire_circle.gating.targets import Target
from assay.protocols.fire_circle.gating.task import Options
from assay.protocols.fire_circle.prompt_file import read_data
from assay.report.clean import label
from assay.terms import Terms
from fire_circle.gates.comparing import Waiver
from llm_runtime.errors import ConfigurationError
from llm_runtime.keys import read_toml
from llm_runtime.models import Model, fits
from llm_runtime.rewording import instead, reworded
from llm_runtime.structs import Struct


class _File(Model):
    name: str = ""
    cases: tuple[str, ...] = Field(min_length=1)
    columns: CaseColumns = CaseColumns()
    policy: str = ""
    study: str = ""
    target: Target = Target()
    terms: Terms = Terms()
    waivers: tuple[Waiver, ...] = ()


class Suite(Struct):
    """A suite as it was read.

    Args:
        path: of the file.
        name: of the suite, unique in a lock.
        cases: in the order of the file.
        options: what it says of how to judge, by field.
        target: what is called for answers before the run.
        terms: models and bounds.
        waivers: of cases that may fail for a while.
        notes: what of its files was not read, one line each.
    """

    path: Path
    name: str
    cases: tuple[Case, ...]
    options: dict[str, Any]
    target: Target
    terms: Terms
    waivers: tuple[Waiver, ...]
    notes: tuple[str, ...]


def read_suite(path: Path) -> Suite:
    """Read a suite and all its cases.

    Raises:
        ConfigurationError: a field, a file or a case is at fault; one line says which.
    """
    if not path.is_file():
        raise ConfigurationError(f"{path} is no suite: there is no such file")
    table = read_toml(path)
    own = {name: table.pop(name) for name in _File.model_fields if name in table}
    with fits(f"{path.name}: "):
        file = _File.model_validate(own)
    with reworded(path.name, ConfigurationError):
        read(Options, table, strict=True)
    if table.get("recall"):
        raise ConfigurationError(f"{path.name}: recall: a verdict must not hang on one machine's library; leave it out")
    places = [match for pattern in file.cases for match in _matching(path, pattern)]
    cases = [case for place in places for case in read_cases(place, file.columns, path.parent)]
    _check_canaries(cases)
    options = {**table, "policy": _policy(path, file.policy), "target": file.target.model}
    if file.study:
        options["study"] = str(path.parent / file.study)
    named = tuple(case.model_copy(update={"id": label(case.id), "twin": label(case.twin)}) for case in cases)
    name = file.name or path.stem
    return Suite(path, name, named, options, file.target, file.terms, file.waivers, tuple(_left_out(places)))


def _check_canaries(cases: Sequence[Case]) -> None:
    """Refuse a canary without a harmless twin, and one that the attacker's own words hold."""
    names = {case.id for case in cases}
    for case in (one for one in cases if one.canary):
        if case.twin not in names - {case.id}:
            raise ConfigurationError(f"case {case.id}: its canary wants a twin, the id of a harmless case")
        if case.canary in f"{case.user}\n{case.history}":
            raise ConfigurationError(
                f"case {case.id}: its canary stands in the user's words; only the target may have it"
            )


def _left_out(places: Sequence[Path]) -> Iterator[str]:
    """Yield what is not read of promptfoo's configurations: their providers, and what they assert."""
    files = [file for place in places for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    for file in files:
        text = file.read_text(encoding="utf-8-sig") if file.suffix.lower() in (".yaml", ".yml") else ""
        match read_data(text, file.name) if "prompts:" in text else None:
            case {"prompts": _, **rest}:
                names = [*sorted(set(_asserted(rest))), *(["providers"] if "providers" in rest else [])]
                if names:
                    yield f"{file.name}: {', '.join(names)} of promptfoo are left out; use expect and [target]"
            case _:
                pass


def _asserted(told: Any) -> Iterator[str]:
    """Yield the kinds of what a part of a configuration asserts."""
    match told:
        case {"type": str(kind)}:
            yield kind
        case {"assert": [*every]} | {"tests": [*every]} | [*every]:
            for one in every:
                yield from _asserted(one)
        case _:
            pass


def _matching(suite: Path, pattern: str) -> list[Path]:
    places = sorted(suite.parent.glob(pattern)) if any(sign in pattern for sign in "*?[") else [suite.parent / pattern]
    if not places or not places[0].exists():
        raise ConfigurationError(f"{suite.name}: cases {pattern!r}: there is no such file beside the suite")
    return places


def _policy(suite: Path, policy: str) -> str:
    """Return the policy: of a file where the name of one stands there."""
    if not policy.endswith((".md", ".txt")) or "\n" in policy:
        return policy
    refused = ConfigurationError(f"{suite.name}: policy {policy}: it cannot be read as UTF-8 text")
    with instead(refused, OSError, UnicodeDecodeError):
        return (suite.parent / policy).read_text(encoding="utf-8-sig")
