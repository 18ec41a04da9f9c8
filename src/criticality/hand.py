"""What a person changed on disk: read, judged, then taken over or left with its failing case; never overwritten."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from criticality.artifacts import Artifacts, Body, bodies_of
from criticality.bodies import SpliceRefused
from criticality.checks import failure_of, unfit
from criticality.composition_audit import units_in_order
from criticality.edits import BodyEdited, ClaimsEdited, EditRefused, SpecEdited
from criticality.judging.hearing import Verdict
from criticality.language import Language
from criticality.lattice_plan import dependencies
from criticality.order import resting_on
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec, fault_line
from criticality.spec.types import TypeFault
from criticality.tree import claim_fault, function_key
from criticality.verdicts import called, delivered, figures, hearing, judged
from criticality.work import Work
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Event
from llm_runtime.models import first_fault
from llm_runtime.toml import parse_toml

SPEC, CLAIMS = "spec/spec.toml", "spec/claims.toml"
#: What stands in the file of claims for a reader, and belongs to the specification.
_SPOKEN = ("text", "type", "testable")
_AT_LINE = re.compile(r"line (\d+)")


def spec_edited(artifacts: Artifacts, text: str) -> Event | None:
    """Return the new revision that a person's text makes; ``None`` where it says the same in other words.

    Raises:
        ConfigurationError: it is no specification; its line is named, and nothing is written.
    """
    try:
        spec = Spec.model_validate(parse_toml(text))
    except tomllib.TOMLDecodeError as fault:
        raise ConfigurationError(f"{_at(SPEC, fault)} is not TOML: {fault}; nothing was changed") from None
    except (ValidationError, TypeFault) as fault:
        raise ConfigurationError(f"{_place(text, fault)}: {fault_line(fault)}; nothing was changed") from None
    if spec == artifacts.spec:
        return None
    version = max(artifacts.proposals, default=0) + 1
    return SpecEdited(version=version, spec=spec.model_dump(mode="json"), planned=_planned(artifacts.approved, spec))


async def claims_edited(work: Work, text: str) -> Event | None:
    """Return the tests of claims as a person wrote them, with the units that break them; ``None`` if none differ.

    Raises:
        ConfigurationError: a test cannot be judged, or shows nothing; nothing is written.
    """
    artifacts, spec = work.artifacts, work.artifacts.approved
    try:
        held = {
            name: StructuredClaim.model_validate({k: v for k, v in entry.items() if k not in _SPOKEN} | {
                "id": name, "type": spec.claims[name].type, "testable": artifacts.claims[name].testable,
            })
            for name, entry in parse_toml(text)["claims"].items()
            if name in artifacts.claims
        }  # fmt: skip
    except (tomllib.TOMLDecodeError, ValidationError, KeyError, AttributeError, TypeError) as fault:
        reason = first_fault(fault) if isinstance(fault, ValidationError) else f"{fault}"
        raise ConfigurationError(f"{_at(CLAIMS, fault)} cannot be read: {reason}; nothing was changed") from None
    changed = [claim for name, claim in held.items() if claim != artifacts.claims[name]]
    if not changed:
        return None
    faults = [f for c in changed if (f := claim_fault(work.language, artifacts, c, spec.claims[c.id].text))]
    faults = faults or await work.court.vacuous(spec, artifacts.plan, changed)
    if faults:
        raise ConfigurationError(f"{CLAIMS}: {faults[0]}; nothing was changed")
    trial = copy.copy(work)
    trial.artifacts = copy.copy(artifacts)
    trial.artifacts.claims = artifacts.claims | {claim.id: claim for claim in changed}
    units: list[str] = []
    what = ""
    for claim in changed:
        needed = {*claim.functions, *called(trial.artifacts, claim)}
        if claim.tests and needed.issubset(artifacts.bodies):
            verdict = await judged(trial, sorted(needed), artifacts.bodies, [claim.id])
            if verdict.faults:
                what = what or verdict.faults[0].what
                units += [u for u in units_in_order(artifacts) if set(u.split("+")).intersection(claim.functions)]
    dumped = [claim.model_dump(mode="json") for claim in changed]
    return ClaimsEdited(claims=dumped, units=list(dict.fromkeys(units)), what=what)


def _at(path: str, fault: Exception) -> str:
    line = _AT_LINE.search(str(fault))
    return f"{path}:{line[1]}" if line else path


def _place(text: str, fault: ValidationError | TypeFault) -> str:
    """Name the line under whose heading the fault lies, as near as the text tells."""
    names = fault_line(fault).partition(": ")[0].split(".")
    lines = text.splitlines()
    for length in range(len(names), 0, -1):
        heading = "[" + ".".join(names[:length]) + "]"
        for number, line in enumerate(lines, start=1):
            if line.strip().replace('"', "") in (heading, f"[{heading}]"):
                return f"{SPEC}:{number}"
    return SPEC


def _planned(old: Spec, new: Spec) -> bool:
    """Tell whether the modules that were planned still serve: no operation, type, field, error or claim is new."""

    def shape(spec: Spec) -> object:
        fields = {name: [(f.name, f.type) for f in model.fields] for name, model in spec.data_models.items()}
        bases = {name: new.base for name, new in spec.newtypes.items()}
        return spec.system.name, spec.interfaces, fields, bases, spec.enums, set(spec.errors)

    return shape(old) == shape(new) and set(new.claims) <= set(old.claims)


def edited_bodies(language: Language, artifacts: Artifacts, path: str, text: str) -> dict[str, str] | str:
    """Return the bodies in a module's file that are not the accepted ones; a line where the file does not serve."""
    spec = artifacts.approved
    expected = language.sources(spec, artifacts.plan, artifacts.bodies)[path]
    changed: dict[str, str] = {}
    for module in artifacts.plan:
        for function in module.functions if language.module_path(spec, module.name) == path else ():
            header = "".join(language.signature(function).split())
            try:
                body = language.body_of(text, function.name)
            except SpliceRefused as refused:
                return str(refused)
            if header.rstrip("{:") not in "".join(text.split()):
                return f"the signature of {function.name} is not the planned one; change spec/spec.toml instead"
            if body != language.body_of(expected, function.name):
                changed[f"{module.name}.{function.name}"] = body
    return changed


def merged(language: Language, artifacts: Artifacts, theirs: str, names: Iterable[str]) -> str:
    """Return a person's file with some bodies put into it; all else stays to the byte."""
    for name in names:
        theirs = language.splice(theirs, name.partition(".")[2], artifacts.bodies[name].text)
    return theirs


async def taken_over(work: Work, path: str, text: str) -> Event | None:
    """Judge what a person wrote in a module; ``None`` where no body changed."""
    artifacts = work.artifacts
    bodies = edited_bodies(work.language, artifacts, path, text)
    if isinstance(bodies, str):
        return EditRefused(path=path, text=text, what=bodies)
    if not bodies:
        return None
    every = {**artifacts.bodies, **bodies_of(bodies)}
    units = [unit for unit in units_in_order(artifacts) if set(unit.split("+")).intersection(bodies)]
    missing = [name for unit in units for name in unit.split("+") if name not in every]
    failure = await unfit(work, bodies, {n: body for n, body in every.items() if n not in bodies})
    verdict = Verdict()
    if failure is None and not missing:
        unit = _resting(artifacts, bodies, every)
        verdict = await judged(work, unit, every, list(_concerned(artifacts, unit, every)))
        failure = failure_of(verdict)
        if verdict.guilty is not None:
            failure = {"what": [verdict.guilty.what]}
    if missing:
        failure = {"what": [f"{', '.join(missing)} is still to do, and is written together with it"]}
    if failure is not None:
        return EditRefused(path=path, text=text, what=str(failure["what"][0])[:800], units=units)
    compared = await _compared(work, bodies, every)
    return BodyEdited(
        path=path,
        units=units,
        bodies=bodies,
        keys={name: function_key(work.language, artifacts, name) for name in bodies},
        tests=verdict.cases,
        cases={name: delivered(name, verdict, compared) for name in bodies},
        measured={name: figures(work, name, verdict, compared) for name in bodies},
    )


def _resting(artifacts: Artifacts, bodies: Mapping[str, str], every: Mapping[str, Body]) -> list[str]:
    """Return the edited functions and those with a body that rest on them: they are judged together."""
    edges = dependencies(artifacts.plan)
    touched = resting_on(edges, bodies)
    return [*bodies, *(name for name in edges if name in touched and name in every and name not in bodies)]


def _concerned(artifacts: Artifacts, unit: list[str], every: Mapping[str, Body]) -> Iterator[str]:
    """Yield the claims that speak of the functions and can be judged with what is there."""
    for name, claim in artifacts.claims.items():
        needed = {*claim.functions, *called(artifacts, claim)}
        if claim.tests and needed.intersection(unit) and needed.issubset(every):
            yield name


async def _compared(work: Work, bodies: Mapping[str, str], every: Mapping[str, Body]) -> Verdict:
    """Compare the bodies with small changes of them; no model is asked."""
    most = work.config.acceptance.mutants
    variants = [
        ("mutant", name, Body(text)) for name, body in bodies.items() for text in work.language.mutants(body)[:most]
    ]
    return await work.court.compare(hearing(work, list(bodies), every, variants=variants))
