"""Who is at fault when a body fails: the body, an accepted function that it calls, or the test itself."""

from __future__ import annotations

from typing import Any

from criticality import events as e
from criticality.artifacts import Artifacts
from criticality.canonical import pretty
from criticality.composition_audit import contract_text, units_in_order
from criticality.judging.hearing import Guilty, Verdict
from criticality.lattice_plan import dependencies
from criticality.order import resting_on
from criticality.spec.claims import StructuredClaim
from criticality.tree import claim_fault
from criticality.work import Work
from llm_runtime.errors import StructuredOutputError

#: Bodies that fail one test alike, each written anew, before the test is suspected; derivations before the person.
INDEPENDENTS, DERIVATIONS = 3, 2
_BLAMED = 3


def callee_blamed(work: Work, received: e.ImplementationReceived, guilty: Guilty) -> e.CalleeBlamed | dict[str, Any]:
    """Reopen the callee, or say what a person has to decide after three times."""
    times = work.artifacts.blamed.get((received.unit, guilty.function), 0)
    if times >= _BLAMED:
        what = (
            f"{guilty.function} was written {times + 1} times and still breaks its contract where {received.unit} "
            f"calls it: {guilty.what}; change one of the two contracts"
        )
        return {"kind": "test", "what": [what[:800]]}
    return e.CalleeBlamed(
        unit=received.unit, callee=guilty.function, args=guilty.args, what=guilty.what, tier=received.tier,
        units=_again(work.artifacts, guilty.function, received.unit), bodies=received.bodies,
    )  # fmt: skip


def _again(artifacts: Artifacts, callee: str, unit: str) -> list[str]:
    """Return the callee's unit, those that are accepted and rest on it, and the unit itself, in order."""
    accepted = {name for name in resting_on(dependencies(artifacts.plan), [callee]) if name in artifacts.bodies}
    return [one for one in units_in_order(artifacts) if one == unit or accepted.intersection(one.split("+"))]


def agreeing(failure: dict[str, Any], verdict: Verdict, before: dict[str, Any] | None) -> dict[str, Any]:
    """Return a failure with the test that alone fails, and how many bodies in a row failed it alike."""
    tests = {(fault.claim, fault.test) for fault in verdict.faults}
    if len(tests) != 1 or not all(claim for claim, _ in tests):
        return failure
    ((claim, test),) = tests
    alike = before is not None and before.get("claim") == claim and before["what"] == failure["what"]
    return {**failure, "claim": claim, "test": test, "agreed": 1 + (before or {}).get("agreed", 0) * alike}


async def test_suspected(
    work: Work, received: e.ImplementationReceived, failure: dict[str, Any], visit: tuple[int, ...]
) -> e.TestSuspected | dict[str, Any]:
    """Have a claim's tests derived anew; nothing where they stand as they are, a reason after the second time."""
    artifacts, claim, what = work.artifacts, str(failure["claim"]), str(failure["what"][0])
    times = artifacts.suspected.get(claim, 0)
    if times >= DERIVATIONS:
        reason = f"{failure['agreed']} bodies that keep every clause fail this test alike, after {times} derivations: "
        return {"what": [reason + what]}
    old = artifacts.claims[claim]
    structured = await work.lanes.once(("retest", claim, times, visit), lambda: _derived(work, old, what, times))
    if structured is None or structured.tests == old.tests:
        return {}
    return e.TestSuspected(
        unit=received.unit, claim=claim, test=str(failure["test"]), what=what, tier=received.tier,
        structured=structured.model_dump(mode="json"), units=[received.unit], bodies=received.bodies,
    )  # fmt: skip


async def _derived(work: Work, claim: StructuredClaim, what: str, times: int) -> StructuredClaim | None:
    """Ask for the tests of one claim again, with the case that all bodies fail."""
    artifacts, spec = work.artifacts, work.artifacts.approved
    text = spec.claims[claim.id].text
    question = work.ask.question("tests", f"{claim.id}+again", "structurer", work.round, times + 1)

    def fault(answer: StructuredClaim) -> str | None:
        if answer.id != claim.id or not answer.tests:
            return f"give tests for {claim.id}"
        return claim_fault(work.language, artifacts, answer, text) or None

    shown = spec.model_dump(mode="json", include={"system", "newtypes", "errors", "data_models", "enums"})
    try:
        return await work.ask.data(
            question, StructuredClaim, "retest", check=fault,
            spec=question.fence("SPECIFICATION", pretty(shown)),
            signatures=question.fence("SIGNATURES", contract_text(work.language, artifacts.plan)),
            claim=question.fence("CLAIM", f"{claim.id}: {text}\n\n{pretty(claim.model_dump(mode='json'))}"),
            case=question.fence("CASE", what),
        )  # fmt: skip
    except StructuredOutputError:
        return None
