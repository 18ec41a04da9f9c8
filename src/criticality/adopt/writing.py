"""What an adoption leaves on the disk: specification, claims, contracts, native tests, trace; in one folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from criticality.adopt.adopting import Adoption, Decision
from criticality.adopt.checking import RECORD, AdoptionRecord, read_adopted
from criticality.adopt.deciding import deviations, kept
from criticality.adopt.proposing import artifacts_of
from criticality.artifacts import Artifacts, Body
from criticality.canonical import pretty, toml
from criticality.deliverable import claims_data, contracts_text
from criticality.languages import language
from criticality.lattice_plan import ModulePlan
from criticality.project.files import write_project_file
from criticality.project.written import Written
from criticality.spec.spec import Interface, Spec
from criticality.standing import Adopted, Adopter, Candidate, Package
from criticality.trace import trace, trace_markdown
from llm_runtime.errors import ConfigurationError
from llm_runtime.grouping import grouped


def require_free(folder: Path) -> None:
    """Refuse a folder that holds something else.

    Raises:
        ConfigurationError: it does.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not Written(folder).there):
        raise ConfigurationError(f"{folder} holds something else; name another folder with --into")


def write_adoption(
    folder: Path, adopter: Adopter, package: Package, candidates: Mapping[str, Candidate],
    adoptions: Sequence[Adoption], left_out: Mapping[str, str], isolation: str, run: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Write the folder and return the trace; files that a person changed stay as they are.

    Args:
        run: that adopted them.

    Raises:
        StoreUnwritable: it cannot be written.
    """
    adopted = [one for one in adoptions if not one.refused]
    artifacts = together(package, candidates, adopted) if adopted else Artifacts(name=package.name)
    data = _trace(artifacts, package, adoptions, left_out)
    tree = {"trace.json": pretty(data) + "\n", "trace.md": trace_markdown(data, isolation)}
    if artifacts.spec is not None:
        tree |= adopter.tests(package, [_adopted(candidates[one.id], one) for one in adopted], folder)
        way, why = os.path.relpath(package.top, folder), data["not_adopted"]
        record = AdoptionRecord(package=way, adoptions=adopted, run=run, left_out=why, isolation=isolation)
        tree[RECORD] = pretty(record.model_dump(mode="json", exclude_defaults=True)) + "\n"
        tree["spec/spec.toml"] = toml(artifacts.spec.model_dump(mode="json"))
        tree["spec/claims.toml"] = toml(claims_data(artifacts))
        tree["docs/contracts.md"] = contracts_text(language(package.language), artifacts)
    for adoption in adopted:
        if adoption.rewritten:
            tree[f"rewritten/{adoption.id}.patch"] = adoption.rewritten
    written = Written(folder)
    for path, text in tree.items():
        if written.may_write(path, text):
            write_project_file(folder, path, text, durable=False)
            written.wrote(path, text)
    written.save()
    return data


def write_decisions(folder: Path, decisions: Mapping[str, Decision]) -> list[Adoption]:
    """Take what a person said of deviations, by their places, and write a folder anew; nothing of the package runs.

    Raises:
        ConfigurationError: nothing was adopted there, there is no such deviation, or a function has changed since.
        StoreUnwritable: it cannot be written.
    """
    record, adopts, package = read_adopted(folder)
    by_id = {one.id: one for one in package.candidates if one.name}
    there = {one.place: one for one in deviations(record.adoptions)}
    if strange := [place for place in decisions if place not in there]:
        raise ConfigurationError(
            f"{folder} has no deviation {strange[0][:80]}; there are: {', '.join(there) or 'none'}"
        )  # fmt: skip
    for place, decision in decisions.items():
        there[place].finding.decision = decision
    if decisions:
        _require_unchanged(record, by_id)
        how = record.left_out, record.isolation, record.run
        write_adoption(folder, adopts, package, by_id, record.adoptions, *how)
    return record.adoptions


def _require_unchanged(record: AdoptionRecord, known: Mapping[str, Candidate]) -> None:
    for one in record.adoptions:
        if one.id not in known or known[one.id].digest != one.digest:
            raise ConfigurationError(f"{one.function} has changed since it was adopted; adopt it again, then decide")


def _adopted(candidate: Candidate, adoption: Adoption) -> Adopted:
    whole = kept(candidate, adoption)
    return Adopted(whole.asked_of(candidate), artifacts_of(candidate, whole), adoption.kept_cases)


def together(package: Package, candidates: Mapping[str, Candidate], adopted: Sequence[Adoption]) -> Artifacts:
    """Return the artifacts of all functions as those of one project."""
    whole = Artifacts(name=f"adopted-{package.name}", revision=1)
    specs: list[Spec] = []
    count = 1
    for adoption in adopted:
        one = artifacts_of(candidates[adoption.id], kept(candidates[adoption.id], adoption), count)
        assert one.spec is not None
        specs.append(one.spec)
        count += len(one.claims)
        for name, module in one.modules.items():
            known = whole.modules.get(name)
            functions = [*(known.functions if known else ()), *module.functions]
            whole.modules[name] = ModulePlan.model_validate(module.model_dump() | {"functions": functions})
        whole.claims |= one.claims
        whole.bodies[adoption.id] = Body("", "", "hand", 0)
        whole.measured[adoption.id] = {**adoption.measured, "suite": adoption.suite}
        whole.left_open[adoption.id] = adoption.left_open
    whole.outlines = [{"name": name} for name in whole.modules]
    whole.spec = _spec(package, specs)
    return whole


def _spec(package: Package, specs: Sequence[Spec]) -> Spec:
    named = ((name, one.methods) for spec in specs for name, one in spec.interfaces.items())
    methods = grouped((name, method) for name, held in named for method in held)
    interfaces = {name: Interface(methods=held) for name, held in methods.items()}
    first = specs[0]
    name = "adopted-" + re.sub(r"[^a-z0-9]+", "-", package.name.lower()).strip("-")[:32]
    system = first.system.model_copy(update={"name": name, "description": f"adopted functions of {package.name}"})
    claims = {name: claim for spec in specs for name, claim in spec.claims.items()}
    claims = {name: claim for name, claim in claims.items() if not name.endswith("_000")} or claims
    kinds = ("errors", "enums", "data_models")
    types = {kind: {name: one for spec in specs for name, one in getattr(spec, kind).items()} for kind in kinds}
    return first.model_copy(update={"system": system, "interfaces": interfaces, "claims": claims} | types)


def _trace(
    artifacts: Artifacts, package: Package, adoptions: Sequence[Adoption], left_out: Mapping[str, str]
) -> dict[str, Any]:
    data = trace(artifacts)
    for claim in data["claims"].values():
        # Each was judged with its function, which would not be among these otherwise.
        claim["result"] = "holds in every test" if claim["tests"] else claim["result"]
    data.setdefault("system", artifacts.name)
    data.setdefault("transformations", [])
    data["package"] = {"name": package.name, "digest": package.digest()}
    data["findings"] = grouped(
        (one.function, f.model_dump(exclude={"owed", "allowed"})) for one in adoptions for f in one.findings
    )
    data["not_adopted"] = {one.function: one.refused for one in adoptions if one.refused} | dict(left_out)
    return data
