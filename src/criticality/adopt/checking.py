"""What was adopted, judged again without a model: does each function still keep its promises, and which changed?"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal

from criticality.adopt.adopting import Adoption
from criticality.adopt.proposing import artifacts_of, proposal_fault
from criticality.canonical import pretty
from criticality.config import Config, ProjectConfig
from criticality.judging.court import Court
from criticality.judging.outcomes import JudgeFailed
from criticality.languages import adopter
from criticality.standing import AS_IS, Adopter, Candidate, Package
from criticality.verdicts import Bench, judged
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model, fits
from llm_runtime.tasks import gather

RECORD = "adopted.json"


class AdoptionRecord(Model):
    """All that was adopted of a package; ``package`` is the way to it from the folder that the record lies in."""

    package: str
    adoptions: list[Adoption]


class CheckedFunction(Model):
    """How one function stands.

    Args:
        standing: ``holds``; ``changed`` where it holds and its text is another one; ``broken``; ``refitted`` where it
            no longer takes or gives what was adopted; ``gone``; ``unjudged`` where that says nothing of it.
        what: a broken promise with its case, or the reason, each.
        path, line: where it stands; empty and 0 where it is gone.
        cases: that were tried.
    """

    function: str
    standing: Literal["holds", "changed", "broken", "refitted", "gone", "unjudged"]
    what: list[str] = []
    path: str = ""
    line: int = 0
    cases: int = 0


def record_text(folder: Path, package: Package, adoptions: Sequence[Adoption]) -> str:
    """Return the text of the record of a folder, which :func:`check` reads."""
    record = AdoptionRecord(package=os.path.relpath(package.top, folder), adoptions=list(adoptions))
    return pretty(record.model_dump(mode="json", exclude_defaults=True)) + "\n"


async def check(folder: Path, parallel: int = 2) -> list[CheckedFunction]:
    """Return how each function stands that was adopted into a folder; the package is read where it was then.

    Raises:
        ConfigurationError: nothing was adopted there, the package cannot be read, or there is no box to run it in.
    """
    adoptions, adopts, package = await asyncio.to_thread(_read, folder)
    known = {one.shown: one for one in package.candidates if one.name}
    there = [known[one.function] for one in adoptions if one.function in known]
    faults = await adopts.import_faults(package, [one for one in there if not one.refused])
    court, turn = Court(parallel), asyncio.Semaphore(parallel)

    async def each(one: Adoption) -> CheckedFunction:
        candidate = known.get(one.function)
        if candidate is None:
            return CheckedFunction(function=one.function, standing="gone", what=[f"{package.name} has it no longer"])
        why = f"it cannot be imported: {faults[candidate.module]}" if candidate.module in faults else ""
        async with turn:
            found = await _checked(adopts, package, candidate, one, court, why)
        return found.model_copy(update={"path": str(candidate.path), "line": candidate.line})

    async with aclosing(court):
        return await gather(map(each, adoptions))


def _read(folder: Path) -> tuple[list[Adoption], Adopter, Package]:
    path = folder / RECORD
    if not path.is_file():
        raise ConfigurationError(f"{folder} has no {RECORD}; name a folder that criticality adopt wrote")
    with fits(f"{path} does not fit at "):
        record = AdoptionRecord.model_validate_json(path.read_bytes())
    top = Path(os.path.normpath(folder / record.package))
    adopts = adopter(top)
    return record.adoptions, adopts, adopts.read(top)


async def _checked(
    adopts: Adopter, package: Package, candidate: Candidate, one: Adoption, court: Court, why: str
) -> CheckedFunction:
    name, changed = candidate.id, candidate.digest != one.digest
    if unlike := candidate.refused or proposal_fault(candidate, one.proposal):
        return CheckedFunction(function=one.function, standing="refitted", what=[unlike])
    if why:
        return CheckedFunction(function=one.function, standing="unjudged", what=[why])
    artifacts = artifacts_of(candidate, one.proposal)
    artifacts.pinned[name] = [case[0] for case in one.kept_cases]
    config = Config(project=ProjectConfig(name=package.name))
    bench = Bench(artifacts, adopts.language(package, candidate), court, config)
    try:
        verdict = await judged(bench, [name], {name: AS_IS}, list(artifacts.claims))
    except JudgeFailed as fault:
        return CheckedFunction(function=one.function, standing="unjudged", what=[str(fault)])
    standing = "broken" if verdict.faults else "changed" if changed else "holds"
    what = [fault.what for fault in verdict.faults]
    return CheckedFunction(function=one.function, standing=standing, what=what, cases=verdict.cases)
