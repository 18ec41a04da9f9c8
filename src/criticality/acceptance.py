"""The gate before acceptance: a body that passes is compared with other bodies, and what differs is decided."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from criticality import events as e
from criticality.artifacts import Body, bodies_of
from criticality.asking import Question
from criticality.bodies import SpliceRefused
from criticality.budget import Spare
from criticality.checks import unfit
from criticality.context import implement_values, spare
from criticality.judging.hearing import Difference, Hearing, Verdict
from criticality.labels import Tier
from criticality.language import Language
from criticality.verdicts import delivered, due, figures, hearing, rested_on
from criticality.work import Work
from llm_runtime.errors import BadReply, StructuredOutputError
from llm_runtime.models import Model

_ROUNDS = 3
_SECTION = re.compile(r"^###[ \t]+`?([a-z_][a-z0-9_]*)`?[ \t]*$", re.MULTILINE)
#: Who writes the bodies that are compared: never the tier that wrote the accepted one first.
_OTHERS: dict[str, tuple[Tier, ...]] = {
    "worker": ("fallback1", "worker"), "fallback1": ("worker", "fallback1"), "fallback2": ("worker", "fallback1"),
}  # fmt: skip


class Settlement(Model):
    """A model's decision on a case that a contract leaves open."""

    right: Literal["first", "second", "neither", "both"]
    clause: str = Field(default="", max_length=600)
    because: str = Field(default="", max_length=400)


@dataclass(slots=True)
class Gate:
    """What the comparison came to.

    Args:
        failure: why the body is not accepted after all.
        settled: clauses that decided a case; ``left_open``: cases that the specification leaves open.
        measured: by function, how many other bodies were tried and told apart.
    """

    failure: dict[str, Any] | None = None
    cases: dict[str, list[list[Any]]] = field(default_factory=dict[str, list[list[Any]]])
    settled: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    left_open: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    measured: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


async def compared(
    work: Work, received: e.ImplementationReceived, verdict: Verdict, visit: tuple[int, ...],
    settled: Mapping[str, list[str]],
) -> Gate:  # fmt: skip
    """Compare a body that passed with small changes of it and with bodies that others write for the same prompt.

    Args:
        settled: clauses that were settled on while earlier bodies of the unit were compared.
    """
    gate, unit = Gate(cases=dict(verdict.kept)), received.unit.split("+")
    others = rested_on(work.artifacts, received.unit)
    variants = _mutants(work, received)
    numbers = range(work.config.acceptance.independent_bodies)
    for bodies in [await _independent(work, received, number, visit) for number in numbers]:
        if bodies is not None and await unfit(work, bodies, others) is None:
            variants += [("independent", name, body) for name, body in bodies_of(bodies).items()]
    own = {**others, **bodies_of(received.bodies)}
    made = hearing(work, unit, own, due=due(work.artifacts, received.unit), variants=variants, settled=settled)
    outcome = await work.court.compare(made)
    if outcome.faults:
        gate.failure = {"kind": outcome.faults[0].kind, "what": [outcome.faults[0].what]}
        return gate
    for name in unit:
        gate.measured[name] = figures(work, name, verdict, outcome)
        gate.cases[name] = delivered(name, verdict, outcome)
    for difference in each_once(outcome.differences):
        await _settled(work, made, difference, gate, visit)
        if gate.failure is not None:
            break
    return gate


def _mutants(work: Work, received: e.ImplementationReceived) -> list[tuple[str, str, Body]]:
    """Return changes of each body, spread evenly over it."""
    most = work.config.acceptance.mutants
    return [
        ("mutant", name, Body(text))
        for name, body in received.bodies.items()
        for text in spread(work.language.mutants(body), max(1, most // len(received.bodies)) if most else 0)
    ]


def spread(texts: list[str], count: int) -> list[str]:
    """``count`` of them, evenly over the body."""
    return texts if len(texts) <= count else [texts[i * len(texts) // count] for i in range(count)]


async def _independent(
    work: Work, received: e.ImplementationReceived, number: int, visit: tuple[int, ...]
) -> dict[str, str] | None:
    """Return bodies that another model, or another try, writes for the same prompt; none where it fails."""
    unit = received.unit
    role = _OTHERS[received.tier][number % 2]

    async def ask() -> dict[str, str] | None:
        item, time = f"{unit}+other{number + 1}", visit[0] * 100 + visit[1]
        question = work.ask.question("injection", item, role, time, number + 1)
        try:
            return await written(work, question, unit, "")
        except (BadReply, SpliceRefused):
            return None

    return await work.lanes.once(("independent", unit, visit[:2], role, number), ask)


async def written(
    work: Work, question: Question, unit: str, summary: str, shorter: list[Spare] | None = None
) -> dict[str, str]:
    """Ask for the bodies of a unit.

    Raises:
        BadReply: the answer was of no use.
        SpliceRefused: it holds no body.
    """
    values = implement_values(work.language, work.artifacts, unit)
    shorter = spare(work.language, work.artifacts, unit, None) if shorter is None else shorter
    answer = await work.ask.text(question, "implement", spare=shorter, **values, summary=summary)
    return bodies_in(work.language, answer, unit)


def bodies_in(language: Language, answer: str, unit: str) -> dict[str, str]:
    """Return the body of each function of a unit; several stand under headings of their names.

    Raises:
        SpliceRefused: a function has none.
    """
    names = unit.split("+")
    if len(names) == 1:
        return {names[0]: language.read_body(answer, names[0].partition(".")[2])}
    parts = _SECTION.split(answer)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in names if name.partition(".")[2] not in bodies]
    if missing:
        raise SpliceRefused(f"the answer has no section for {', '.join(missing)}")
    return {name: language.read_body(bodies[name.partition(".")[2]], name.partition(".")[2]) for name in names}


def each_once(differences: list[Difference]) -> list[Difference]:
    """Return one difference for each way to differ, those of bodies that somebody wrote first."""
    order = {"independent": 0, "mutant": 1, "lazy": 2}
    by_case: dict[tuple[str, str, str], Difference] = {}
    for difference in sorted(differences, key=lambda d: order.get(d.kind, 3)):
        by_case.setdefault((difference.function, difference.shown, difference.second), difference)
    return list(by_case.values())[:6]


async def _settled(work: Work, made: Hearing, difference: Difference, gate: Gate, visit: tuple[int, ...]) -> None:
    """Have one difference decided: by a clause, or by saying that it is left open."""
    open_case = {
        "function": difference.function, "case": difference.shown, "first": difference.first,
        "second": difference.second,
    }  # fmt: skip
    name = difference.function
    now = [entry["clause"] for entry in gate.settled if entry["function"] == name]
    made.settled = {**made.settled, name: list(dict.fromkeys([*made.settled.get(name, ()), *now]))}
    # The clauses that were settled on may reject the other body here already.
    if gate.settled and not await work.court.clause_fault(made, difference, "True", 1):
        return
    if work.config.acceptance.settle == "ask":
        gate.left_open.append(open_case)
        return
    number = len(gate.settled) + len(gate.left_open) + 1
    key = ("settle", difference.function, difference.shown, difference.second, number, visit[:2])
    answer = await work.lanes.once(key, lambda: _asked(work, made, difference, number, visit))
    if answer is None or answer.right == "both":
        gate.left_open.append(open_case)
        return
    gate.settled.append(
        {"function": difference.function, "clause": answer.clause, "case": difference.shown, "because": answer.because}
    )
    if answer.right != "first":
        what = f"{answer.clause} does not hold for {difference.shown}; {difference.first}"
        gate.failure = {"kind": "test", "what": [what[:600]]}


async def _asked(
    work: Work, made: Hearing, difference: Difference, number: int, visit: tuple[int, ...]
) -> Settlement | None:
    """Ask who is right, up to three times: a clause that does not decide is sent back with what is wrong."""
    artifacts, name = work.artifacts, difference.function
    spec, function = artifacts.approved, artifacts.functions[difference.function][1]
    claims = "\n".join(f"{c}: {spec.claims[c].text}" for c in function.contract.claims if c in spec.claims)
    fault = ""
    for attempt in range(1, _ROUNDS + 1):
        time = visit[0] * 100 + visit[1]
        question = work.ask.question("injection", f"{name}+settle{number}", "structurer", time, attempt)
        shown = f"CASE: {difference.shown}\nFIRST: {difference.first}\nSECOND: {difference.second}"
        if fault:
            shown += f"\n\nYour last clause does not decide it: {fault}"
        try:
            answer = await work.ask.data(
                question, Settlement, "settle", signature=work.language.signature(function), purpose=function.doc,
                clauses="\n".join(f"  {line}" for line in function.contract.lines),
                claims=question.fence("CLAIMS", claims), case=question.fence("CASE", shown),
            )  # fmt: skip
        except StructuredOutputError:
            return None
        if answer.right == "both":
            return answer
        loser = {"first": 1, "second": 0, "neither": 2}[answer.right]
        clause = answer.clause.removeprefix("ENSURES:").strip()
        fault = await work.court.clause_fault(made, difference, clause, loser) if clause else "it is empty"
        if not fault:
            return answer.model_copy(update={"clause": clause})
    return None
