"""Are the tests able to fail? Each accepted body is changed a little, and somebody has to notice."""

from __future__ import annotations

from typing import Any

from criticality.artifacts import Body
from criticality.injection import tests_of
from criticality.tree import claim_tests, full_tree
from criticality.work import Work
from llm_runtime.tasks import gather


async def strength(work: Work, per_function: int) -> dict[str, Any]:
    """For each function, how many changes were made and noticed, and its tests that never failed on one."""
    names = list(work.artifacts.functions)
    results = await gather(_of_function(work, name, per_function) for name in names)
    return dict(zip(names, results, strict=True))


async def _of_function(work: Work, name: str, count: int) -> dict[str, Any]:
    body = work.artifacts.bodies[name]
    files = deciding_tests(work, name)
    made = spread(work.language.mutants(body.text), count)
    outcomes = await gather(_failing(work, name, body, text, files) for text in made)
    noticed = [tests for tests in outcomes if tests]
    return {"changes": len(made), "noticed": len(noticed), "failed_on_a_change": sorted(set[str]().union(*noticed))}


def deciding_tests(work: Work, name: str) -> list[str]:
    """Return the tests that a body has to pass: those of its function, and of every claim that names it."""
    unit = next("+".join(members) for members in work.artifacts.order if name in members)
    function = work.artifacts.functions[name][1]
    claims = {
        file.path
        for claim_id, file in claim_tests(work.language, work.artifacts).items()
        if name in work.artifacts.claims[claim_id].functions or claim_id in function.contract.claims
    }
    return sorted({*tests_of(work, unit), *claims})


async def _failing(work: Work, name: str, body: Body, text: str, files: list[str]) -> set[str]:
    """Return tests that fail on a changed body; a run that does not end counts as noticed by all."""
    changed = {**work.artifacts.bodies, name: Body(text, body.key, body.tier, body.attempts, body.declarations)}
    outcome = await work.tools.test(full_tree(work.language, work.artifacts, changed), files)
    if outcome.state != "done":
        return {"(the run did not end)"}
    return {test.name for test in outcome.failures}


def spread(texts: list[str], count: int) -> list[str]:
    """``count`` of them, evenly over the body."""
    if len(texts) <= count:
        return texts
    return [texts[i * len(texts) // count] for i in range(count)]
