"""What was adopted, judged again without a model: does each function still keep its promises, and which changed?"""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path
from typing import Literal

from criticality.adopt.adopting import Adoption
from criticality.adopt.deciding import kept, owed
from criticality.adopt.proposing import Proposal, artifacts_of, proposal_fault
from criticality.config import Config, ProjectConfig
from criticality.judging.court import Court
from criticality.judging.hearing import Verdict
from criticality.judging.outcomes import JudgeFailed
from criticality.languages import adopter
from criticality.standing import AS_IS, Adopter, Candidate, Package
from criticality.verdicts import Bench, judged
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model, fits
from llm_runtime.tasks import gather

RECORD = "adopted.json"
Standing = Literal["holds", "changed", "broken", "rejected", "refitted", "gone", "unjudged"]


class AdoptionRecord(Model):
    """All that was adopted of a package, as the folder has it.

    Args:
        package: the way to it from the folder that the record lies in.
        run: that adopted it; people's labels stand beside it in the store.
        left_out: why others were not adopted, by name; ``isolation`` is the box that judged.
    """

    package: str
    adoptions: list[Adoption]
    run: str = ""
    left_out: dict[str, str] = {}
    isolation: str = ""


class CheckedFunction(Model):
    """How one function stands.

    Args:
        standing: ``holds``; ``changed`` where it holds and its text is another one; ``broken``; ``rejected`` where it
            still does what a person rejected; ``refitted`` where it no longer takes or gives what was adopted;
            ``gone``; ``unjudged`` where that says nothing of it.
        what: a broken promise with its case, or the reason, each.
        path, line: where it stands; empty and 0 where it is gone.
        cases: that were tried.
    """

    function: str
    standing: Standing
    what: list[str] = []
    path: str = ""
    line: int = 0
    cases: int = 0


async def check(folder: Path, parallel: int = 2) -> list[CheckedFunction]:
    """Return how each function stands that was adopted into a folder; the package is read where it was then.

    Raises:
        ConfigurationError: nothing was adopted there, the package cannot be read, or there is no box to run it in.
    """
    record, adopts, package = await asyncio.to_thread(read_adopted, folder)
    adoptions = record.adoptions
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


def read_adopted(folder: Path) -> tuple[AdoptionRecord, Adopter, Package]:
    """Return what a folder has of an adoption, and its package as it is now.

    Raises:
        ConfigurationError: nothing was adopted there, or the package cannot be read.
    """
    path = folder / RECORD
    if not path.is_file():
        raise ConfigurationError(f"{folder} has no {RECORD}; name a folder that criticality adopt wrote")
    with fits(f"{path} does not fit at "):
        record = AdoptionRecord.model_validate_json(path.read_bytes())
    top = Path(os.path.normpath(folder / record.package))
    adopts = adopter(top)
    return record, adopts, adopts.read(top)


async def _checked(
    adopts: Adopter, package: Package, candidate: Candidate, one: Adoption, court: Court, why: str
) -> CheckedFunction:
    name, whole, back = candidate.id, kept(candidate, one), owed(candidate, one)
    if unlike := candidate.refused or proposal_fault(candidate, back or whole):
        return CheckedFunction(function=one.function, standing="refitted", what=[unlike])
    if why:
        return CheckedFunction(function=one.function, standing="unjudged", what=[why])
    config = Config(project=ProjectConfig(name=package.name))

    async def heard(proposal: Proposal) -> Verdict:
        artifacts = artifacts_of(candidate, proposal)
        artifacts.pinned[name] = [case[0] for case in one.kept_cases]
        bench = Bench(artifacts, adopts.language(package, proposal.asked_of(candidate)), court, config)
        return await judged(bench, [name], {name: AS_IS}, list(artifacts.claims))

    try:
        verdict = await heard(back or whole)
        # What breaks only with what a person put back is no more than what it did when that was rejected.
        rejected = bool(back and verdict.faults) and not (await heard(whole)).faults
    except JudgeFailed as fault:
        return CheckedFunction(function=one.function, standing="unjudged", what=[str(fault)])
    what = [fault.what for fault in verdict.faults]
    standing = _stands(changed=candidate.digest != one.digest, broken=bool(what), rejected=rejected)
    return CheckedFunction(function=one.function, standing=standing, what=what, cases=verdict.cases)


def _stands(*, changed: bool, broken: bool, rejected: bool) -> Standing:
    return "rejected" if rejected else "broken" if broken else "changed" if changed else "holds"
