"""Adopting functions: a model proposes, the judge runs the code as it is, and what does not hold is said."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ConfigDict

from criticality.acceptance import each_once, spread
from criticality.adopt.classes import ClassProposal, ClassRevision
from criticality.adopt.events import FunctionJudged, PromisesBroken, PromisesMade
from criticality.adopt.proposing import (
    ALLOWED,
    FOUND,
    Promised,
    Proposal,
    Revision,
    artifacts_of,
    documented,
    judgeable_parts,
    proposal_fault,
    shown,
)
from criticality.adopt.rewriting import rewritten
from criticality.artifacts import Artifacts, Body
from criticality.asking import Asking, Note
from criticality.behaviour import BEHAVIOUR
from criticality.canonical import pretty
from criticality.config import Config
from criticality.judging.court import Court
from criticality.judging.hearing import Fault
from criticality.judging.outcomes import JudgeFailed
from criticality.spec.claims import ClaimTest
from criticality.spec.predicates import one_line
from criticality.standing import AS_IS, Adopted, Adopter, Candidate, Package
from criticality.verdicts import Bench, hearing, judged, suite
from llm_runtime.errors import StructuredOutputError
from llm_runtime.events import Emit
from llm_runtime.models import Model

#: Hearings of one function at most, and times that a model is asked about broken promises.
_HEARINGS, _REVISIONS = 14, 2
#: Promises that no proposal made in words.
_UNSAID = "no error but those that the contract promises"
_OF = re.compile(rf"((?:\b[a-z]\w*+: )?)(?:ENSURES:|{_UNSAID})")
#: Of what we take for a type, or for a way to make a value or to look at one, no docstring speaks.
_OURS = {"ResultOfAnotherType": "its result is not of one type", "NotMade": "its values are not made as was proposed",
         "ArgumentChanged": "it changes what it is given"}  # fmt: skip
Decision = Literal["", "accepted", "rejected"]
Kind = Literal["finding", "reworded", "withdrawn", "left_out"]


class Finding(Model):
    """One promise that the code breaks, or that was taken back: for a person to look at.

    Args:
        kind: ``finding`` where the code does not do what is promised; ``reworded`` and ``withdrawn`` where the
            promise was a misreading; ``left_out`` where it cannot be judged, as ``because`` says.
        promise, case: what was promised, and for which values it does not hold and what came instead.
        owed: the clause or the test that was taken out; ``allowed`` is the clause that was put in its place.
        decision: what a person said: the behaviour stands, or it does not; empty while nobody did.
    """

    model_config = ConfigDict(frozen=False, extra="forbid")

    kind: Kind
    promise: str
    case: str
    because: str = ""
    owed: Proposal = Proposal()
    allowed: str = ""
    decision: Decision = ""


class Adoption(Model):
    """What became of one function.

    Args:
        refused: why it is not adopted; empty where it is.
        digest, doc: of its text; its documentation, up to 2,000 characters.
        proposal: what holds of it.
        kept_cases: arguments, status and value of cases that the judge tried, as JSON.
        suite: how many of the changed bodies that are rejected the tests tell apart, and of how many.
        measured: cases; small changes of the body, how many were noticed and how many are the same.
        left_open: cases that the promises do not decide.
        rewritten: a patch with another body, where one was asked for; ``rewriting`` says what came of it.
    """

    model_config = ConfigDict(frozen=False, extra="forbid")

    function: str
    id: str
    refused: str = ""
    digest: str = ""
    doc: str = ""
    proposal: Proposal | ClassProposal = Proposal()
    findings: list[Finding] = []
    kept_cases: list[list[Any]] = []
    measured: dict[str, int] = {}
    suite: list[int] = []
    left_open: list[dict[str, str]] = []
    rewritten: str = ""
    rewriting: str = ""


@dataclass
class Adopting:
    """The adoption of functions of one package.

    Args:
        emit: takes the events.
        rewrite: ids of functions that are to be written anew.
    """

    adopter: Adopter
    package: Package
    ask: Asking
    court: Court
    config: Config
    emit: Emit
    rewrite: Collection[str] = ()

    async def adopt(self, candidate: Candidate, refused: str = "") -> Adoption:
        """Return what became of a function; a model without a usable answer is a reason, and no error.

        Args:
            refused: why nobody is asked about it; empty where somebody is.

        Raises:
            CallError: a call failed.
        """
        adoption = Adoption(
            function=candidate.shown, id=candidate.id, refused=refused, digest=candidate.digest,
            doc=candidate.doc[:2000],
        )  # fmt: skip
        try:
            if not refused:
                handed = "" if BEHAVIOUR.before(4 if candidate.members else 3) else candidate.handed
                await self._adopt(replace(candidate, handed=handed), adoption)
        except StructuredOutputError as fault:
            adoption.refused = f"no proposal that can be judged: {fault}"[:400]
        except JudgeFailed as fault:
            adoption.refused = str(fault)[:400]
        self.emit(FunctionJudged(function=candidate.shown, adoption=adoption.model_dump(mode="json")))
        return adoption

    async def _adopt(self, candidate: Candidate, adoption: Adoption) -> None:
        question = self.ask.question("adopt", candidate.id, "structurer", 1)
        proposal, notes = await self.ask.parts(
            question, ClassProposal if candidate.members else Proposal, _prompt("adopt", candidate),
            lambda answer: proposal_fault(candidate, answer), lambda answer: judgeable_parts(candidate, answer),
            name=_name(candidate), module=candidate.module, function=shown(question, candidate),
            examples=question.fence("EXAMPLES", "\n".join(f">>> {s}\n{w}" for s, w in candidate.examples)),
            callers=question.fence("CALL SITES", "\n\n".join(self.package.calls(candidate))),
        )  # fmt: skip
        if proposal.refused:
            adoption.refused = proposal.refused
            return
        self._told(candidate, 1, proposal)
        adoption.findings += _left_out(notes)
        # Of objects, what a docstring writes is not what is drawn.
        steps = proposal.asked_of(candidate).steps
        examples = None if steps else documented(candidate, proposal)
        adoption.proposal = proposal
        await self._settle(candidate, adoption, examples)
        if not adoption.refused:
            await self._measure(candidate, adoption)
        if candidate.id in self.rewrite and not (adoption.refused or candidate.members or steps):
            bench, text = self._bench(candidate, adoption.proposal, None), self.package.texts[candidate.path]
            path = candidate.path.relative_to(self.package.root).as_posix()
            adoption.rewritten, adoption.rewriting = await rewritten(bench, self.ask, candidate, path, text)

    async def _settle(self, candidate: Candidate, adoption: Adoption, examples: Promised | None) -> None:
        """Judge until all that is still promised holds; what does not is said, asked about, and taken out."""
        revisions, known = 0, set[str]()
        for _ in range(_HEARINGS):
            whole = _with(adoption.proposal, examples)
            bench = self._bench(candidate, whole, None)
            verdict = await judged(bench, [candidate.id], {candidate.id: AS_IS}, list(bench.artifacts.claims))
            if not verdict.faults:
                adoption.proposal = whole
                adoption.kept_cases = verdict.kept.get(candidate.id, [])
                adoption.measured = {"cases": verdict.cases}
                return
            faults = [_named(fault, bench.artifacts) for fault in verdict.faults]
            self.emit(PromisesBroken(function=candidate.shown, broken=[case for _, _, case in faults]))
            if why := _outside(verdict.faults, whole):
                adoption.refused = why
                return
            mine = [(fault, promise, case) for fault, promise, case in faults if not _documented(promise, examples)]
            asked = [one for one in mine if one[1] not in known][:4]
            if asked and revisions < _REVISIONS:
                revisions += 1
                known |= {promise for _, promise, _ in asked}
                await self._revise(candidate, adoption, asked, revisions)
                continue
            for fault, promise, case in faults:
                if examples is not None and _documented(promise, examples):
                    because = "it is an example of the docstring itself"
                    examples = _without_test(examples, promise)
                else:
                    because = "the model was asked once more, and the code still breaks it"
                adoption.findings.append(_found(whole, fault, promise, case, because))
                if why := _take_out(adoption, fault, promise):
                    adoption.refused = f"{why}: {case}"[:400]
                    return
        adoption.refused = "its promises did not settle"

    async def _revise(
        self, candidate: Candidate, adoption: Adoption, broken: Sequence[tuple[Fault, str, str]], number: int
    ) -> None:
        question = self.ask.question("adopt", candidate.id, "structurer", number + 1)
        numbers = list(range(1, len(broken) + 1))

        def check(answer: Revision) -> str | None:
            if sorted(one.number for one in answer.answers) != numbers:
                return f"answers decides on each of the numbers {', '.join(map(str, numbers))}, once"
            return proposal_fault(candidate, answer.proposal)

        def sieve(answer: Revision) -> tuple[Revision, list[Note]]:
            kept, notes = judgeable_parts(candidate, answer.proposal)
            return answer.model_copy(update={"proposal": kept}), notes

        now = adoption.proposal.model_dump(mode="json", exclude_defaults=True)
        cases = [f"{at}. {promise}\n   {case}" for at, (_, promise, case) in zip(numbers, broken, strict=True)]
        answer, notes = await self.ask.parts(
            question, ClassRevision if candidate.members else Revision, _prompt("adopt_again", candidate), check,
            sieve, name=_name(candidate),
            function=shown(question, candidate),
            proposal=question.fence("PROPOSAL", pretty(now)),
            broken=question.fence("BROKEN", "\n".join(cases)),
        )  # fmt: skip
        self._told(candidate, number + 1, answer.proposal)
        told = {promise for _, promise, _ in broken} | {promise for promise, _ in notes}
        adoption.findings += _left_out(notes)
        before, adoption.proposal = adoption.proposal, answer.proposal
        lost = _promises(before) - _promises(answer.proposal) - told
        if answer.proposal.refused:
            adoption.refused = answer.proposal.refused
        for decided in answer.answers:
            fault, promise, case = broken[decided.number - 1]
            adoption.findings.append(_found(before, fault, promise, case, decided.because, decided.decision))
            if decided.decision != "reworded":
                _take_out(adoption, fault, promise)
        because = "the model left it out of its second proposal"
        adoption.findings += [Finding(kind="withdrawn", promise=one, case="", because=because) for one in sorted(lost)]

    async def _measure(self, candidate: Candidate, adoption: Adoption) -> None:
        """Try small changes of the body against what holds; what no promise tells apart is left open by name."""
        bench = self._bench(candidate, adoption.proposal, None)
        texts = spread(bench.language.mutants(candidate.body), self.config.acceptance.mutants)
        name = candidate.id
        variants = [("mutant", name, Body(text, "", "hand", 0)) for text in texts]
        made = hearing(
            bench, [name], {name: AS_IS}, due=list(bench.artifacts.claims),
            variants=[("independent", name, AS_IS), *variants],
        )  # fmt: skip
        outcome = await self.court.compare(made)
        again = next((one.result for one in outcome.tried if one.kind == "independent"), "same")
        if outcome.faults or again != "same":
            adoption.refused = outcome.faults[0].what if outcome.faults else "it does not answer twice alike"
            return
        results = [one.result for one in outcome.tried if one.kind != "independent"]
        adoption.measured |= {
            "changes": len(results) - results.count("same"), "noticed": results.count("rejected"),
            "same": results.count("same"),
        }  # fmt: skip
        adopted = Adopted(adoption.proposal.asked_of(candidate), bench.artifacts, [])
        adoption.suite = suite(
            name,
            outcome,
            lambda rows: self.adopter.tests(self.package, [replace(adopted, cases=rows)], self.package.root),
        )
        adoption.kept_cases = [*outcome.kept.get(name, []), *adoption.kept_cases][:240]
        adoption.left_open = [
            {"function": name, "case": one.shown, "first": one.first, "second": one.second}
            for one in each_once(outcome.differences)
        ]

    def _bench(self, candidate: Candidate, proposal: Proposal, examples: Promised | None) -> Bench:
        language = self.adopter.language(self.package, proposal.asked_of(candidate))
        return Bench(artifacts_of(candidate, _with(proposal, examples)), language, self.court, self.config)

    def _written(self, candidate: Candidate, artifacts: Artifacts, rows: list[list[Any]]) -> dict[str, str]:
        return self.adopter.tests(self.package, [Adopted(candidate, artifacts, rows)], self.package.root)

    def _told(self, candidate: Candidate, attempt: int, proposal: Proposal) -> None:
        count = len(proposal.contracts) + len(proposal.claims)
        self.emit(PromisesMade(function=candidate.shown, attempt=attempt, promises=count))


def _prompt(name: str, candidate: Candidate) -> str:
    return f"{name}_class" if candidate.members else name


def _name(candidate: Candidate) -> str:
    return candidate.written if candidate.members else candidate.name


def _left_out(notes: Sequence[Note]) -> list[Finding]:
    return [Finding(kind="left_out", promise=promise, case="", because=why) for promise, why in notes]


def _with(proposal: Proposal, examples: Promised | None) -> Proposal:
    return proposal.model_copy(update={"claims": [*proposal.claims, examples]}) if examples else proposal


def _promises(proposal: Proposal) -> set[str]:
    """Return every clause and every test of a claim, in the words that a broken one is told in."""
    tests = {_worded(claim, test) for claim in proposal.claims for test in claim.tests}
    return {one_line(line) for line in proposal.contracts} | tests


def _named(fault: Fault, artifacts: Artifacts) -> tuple[Fault, str, str]:
    """Return a fault with its promise in words that a person reads, and the case."""
    promise = fault.promise
    if fault.claim:
        promise = f"{artifacts.claims[fault.claim].predicate} ({fault.test})"
    return fault, promise, fault.what.partition(" does not hold for ")[2] or fault.what


def _found(whole: Proposal, fault: Fault, promise: str, case: str, because: str, kind: Kind = "finding") -> Finding:
    """Return a deviation with the part of the proposal that it is from."""
    lines = [line for line in whole.contracts if promise.startswith(one_line(line))]
    claims = [claim.model_copy(update={"tests": [test]}) for claim in whole.claims for test in claim.tests
              if promise == _worded(claim, test)]  # fmt: skip
    owed = Proposal(contracts=sorted(lines, key=len)[-1:], claims=claims, errors=whole.errors)
    allowed = "".join(_allowing(fault, _error(fault))) if fault.promise.endswith(_UNSAID) else ""
    told = "left_out" if _error(fault) in _OURS and kind != "reworded" else kind
    return Finding(kind=told, promise=promise, case=case, because=because, owed=owed, allowed=allowed)


def _worded(claim: Promised, test: ClaimTest) -> str:
    return f"{claim.text} ({test.name})"


def _error(fault: Fault) -> str:
    return fault.outcome.removeprefix("it raised ").partition("(")[0]


def _allowing(fault: Fault, *errors: str) -> list[str]:
    """Return the clauses that allow errors which nothing promises, of the method that raises them."""
    return [f"{of}{ALLOWED}{error})" for of in _OF.findall(fault.promise)[:1] for error in errors]


def _allow(adoption: Adoption, fault: Fault) -> None:
    """Allow the errors that a broken promise speaks of, and the one that came: they are one deviation."""
    told = f"{fault.outcome}\n{fault.promise}" if fault.promise.endswith(_UNSAID) or not BEHAVIOUR.before(4) else ""
    named = re.findall(r"(?:raises\(|^it raised )(\w+)", told, re.MULTILINE)
    errors, proposal = dict.fromkeys((one for one in named if one not in _OURS), FOUND), adoption.proposal
    clauses = [line for line in _allowing(fault, *errors) if line not in proposal.contracts]
    changed = {"errors": errors | proposal.errors, "contracts": [*proposal.contracts, *clauses]}
    adoption.proposal = proposal.model_copy(update=changed) if clauses else proposal


def _documented(promise: str, examples: Promised | None) -> bool:
    return examples is not None and promise.startswith(f"{examples.text} (")


def _outside(faults: Sequence[Fault], proposal: Proposal) -> str:
    """Tell why a function cannot be adopted whatever is promised; empty where it may be."""
    for fault in faults:
        if fault.kind == "security":
            return f"it reaches outside: {fault.outcome}"
        if _error(fault) == "ModuleNotFoundError":
            return f"it needs what is not installed: {fault.outcome}"
        changed = "ArgumentChanged" in fault.outcome or "a value that it was given" in fault.outcome
        if changed and not proposal.without(fault.promise):
            return f"it changes what it is given: {fault.what[:300]}"
    return ""


def _take_out(adoption: Adoption, fault: Fault, promise: str) -> str:
    """Take a broken promise out of the proposal; tell why where there is nothing to take out."""
    proposal, unsaid = adoption.proposal, fault.promise.endswith(_UNSAID)
    if unsaid and (error := _error(fault)) in _OURS:
        adoption.proposal = proposal.without(fault.promise) or proposal
        return _OURS[error] if adoption.proposal is proposal else ""
    if fault.claim:
        claims = [left for claim in proposal.claims if (left := _without_test(claim, promise))]
        adoption.proposal = proposal.model_copy(update={"claims": claims})
        return ""
    left = [line for line in proposal.contracts if unsaid or not fault.promise.startswith(one_line(line))]
    adoption.proposal = proposal.model_copy(update={"contracts": left})
    _allow(adoption, fault)
    taken = unsaid or len(left) < len(proposal.contracts)
    return "" if taken or fault.promise.startswith(("ENSURES", "INVARIANT", "COMPL")) else "it cannot be judged"


def _without_test(claim: Promised, promise: str) -> Promised | None:
    left = [test for test in claim.tests if promise != _worded(claim, test)]
    return claim.model_copy(update={"tests": left}) if left else None
