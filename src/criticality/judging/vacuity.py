"""Before there are bodies: would a test say anything? It must fail at least one of several mindless bodies."""

from __future__ import annotations

import hashlib
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.evaluate import Broken, Evaluator, Gone, Postponed
from criticality.judging.hearing import Project
from criticality.judging.served import Outcome, Returned
from criticality.judging.values import Counts, Values
from criticality.judging.wire import Codec, pack
from criticality.spec.claims import ClaimTest, StructuredClaim
from criticality.spec.literals import literals_of

STAND_INS = 8
_CASES = Counts(40, 20, 30, 100, 0)


def vacuous(project: Project) -> list[str]:
    """Return what is wrong with tests of claims, one line each: nothing that they could fail on, or no values.

    Claims on performance are left out: what they measure is the work of the right body.
    """
    claims, domain = project.claims, Domain(project.spec)
    codec = Codec(domain, project.modules)
    functions = codec.functions
    values = Values(domain, literals_of([f.contract for f in functions.values()], claims), "stand-ins")
    stand_in = 0
    memory: dict[tuple[int, str, bytes], Outcome] = {}

    def call(name: str, args: tuple[Any, ...]) -> Outcome:
        """Half of the stand-ins give an argument back where they can; the others any value."""
        key = stand_in, name, pack(codec.request(name, args))
        if key not in memory:
            function = functions[name]
            alike = [v for v, p in zip(args, function.parameters, strict=True) if str(p.type) == str(function.result)]
            if alike and stand_in % 2:
                memory[key] = Returned(alike[stand_in // 2 % len(alike)])
            else:
                values.random.seed(hashlib.sha256(repr(key).encode()).digest())
                values.seen = {}
                memory[key] = Returned(values.draw(function.result))
        return memory[key]

    evaluator = Evaluator(domain, functions, call)
    wrong: list[str] = []
    for claim in claims:
        for test in claim.tests if claim.type != "performance" else ():
            cases = _cases(evaluator, values, test)
            if not cases:
                wrong.append(f"{claim.id}.{test.name}: no values fit {' and '.join(test.assume) or 'its variables'}")
                continue
            failed = False
            for number in range(STAND_INS):
                stand_in = number
                failed = failed or any(_broken(evaluator, claim, test, held) for held in cases)
            if not failed:
                wrong.append(
                    f"{claim.id}.{test.name}: it passes whatever the functions return ({STAND_INS} bodies without "
                    "thought passed it); check something that a wrong body would break"
                )
    return wrong


def _cases(evaluator: Evaluator, values: Values, test: ClaimTest) -> list[dict[str, Any]]:
    params, conditions = evaluator.assumed(test)
    cases = values.cases(params, conditions, (), _CASES)
    return [dict(zip((p.name for p in params), case.args, strict=True)) for case in cases]


def _broken(
    evaluator: Evaluator, claim: StructuredClaim, test: ClaimTest, held: dict[str, Any]
) -> Broken | bool | None:
    try:
        return evaluator.test(claim.type, test, held, [0, 1, 2] * 4)
    except (Gone, Postponed):
        return True
