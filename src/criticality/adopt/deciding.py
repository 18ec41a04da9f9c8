"""What a person says of a deviation: its behaviour stands, or its docstring does; and what that makes of a contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from criticality.adopt.adopting import Adoption, Finding
from criticality.adopt.proposing import Promised, Proposal, documented
from criticality.standing import Candidate
from llm_runtime.structs import Struct

_ENDED = re.compile(r"(.*); (it raised|the result was) (.*)", re.DOTALL)


class Deviation(Struct):
    """A promise of a docstring beside what the code does instead.

    Args:
        place: what names it, ``words.slug#2``.
        doc: the docstring, up to 2,000 characters.
        call, answer: the case, and how the code ended on it.
    """

    function: str
    place: str
    doc: str
    call: str
    answer: str
    finding: Finding


def deviations(adoptions: Sequence[Adoption]) -> Iterator[Deviation]:
    """Yield what there is to accept or reject of the functions that are adopted, in their order."""
    for one in (each for each in adoptions if not each.refused):
        found = [finding for finding in one.findings if finding.kind == "finding"]
        for number, finding in enumerate(found, 1):
            call, answer = _case(one.function.rpartition(".")[2], finding)
            yield Deviation(one.function, f"{one.function}#{number}", one.doc, call, answer, finding)


def kept(candidate: Candidate, adoption: Adoption) -> Proposal:
    """Return what is promised of a function: of what was accepted, its case with the answer that stands."""
    accepted = (one for one in adoption.findings if one.decision == "accepted")
    stands = [claim for one in accepted if (claim := _standing(candidate, adoption.proposal, one))]
    return adoption.proposal.model_copy(update={"claims": [*adoption.proposal.claims, *stands]})


def owed(candidate: Candidate, adoption: Adoption) -> Proposal | None:
    """Return what is promised with all that was rejected put back; ``None`` where nothing was."""
    rejected = [one for one in adoption.findings if one.decision == "rejected"]
    if not rejected:
        return None
    whole, allowed = kept(candidate, adoption), {one.allowed for one in rejected}
    contracts, claims = [line for line in whole.contracts if line not in allowed], [*whole.claims]
    errors = dict(whole.errors)
    for one in rejected:
        contracts += one.owed.contracts
        claims += one.owed.claims
        errors = one.owed.errors | errors
    return whole.model_copy(update={"contracts": contracts, "claims": claims, "errors": errors})


def _case(name: str, finding: Finding) -> tuple[str, str]:
    ended = _ENDED.fullmatch(finding.case)
    if ended is None or finding.owed.claims:
        return finding.case, ""
    given = "" if ended[1] == "no arguments" else ended[1]
    # The case of a class is its calls already; that of a function is the names of its parameters with values.
    call = given if given.lower().startswith(f"{name.replace('_', '').lower()}(") else f"{name}({given})"
    return call, f"{ended[2]} {ended[3]}"


def _standing(candidate: Candidate, proposal: Proposal, finding: Finding) -> Promised | None:
    """Return the answer as a claim; ``None`` where the case cannot be written as an example."""
    call, answer = _case(candidate.name, finding)
    error = answer.removeprefix("it raised ") if answer.startswith("it raised ") else ""
    wanted = f"Traceback\n{error.partition('(')[0]}: " if error else answer.removeprefix("the result was ")
    asked = proposal.asked_of(candidate)
    claim = documented(replace(asked, examples=((call, wanted),)), proposal) if answer else None
    text = f"accepted by a person, against the docstring: {call}"[:400]
    return claim and claim.model_copy(update={"text": text, "source": "person"})
