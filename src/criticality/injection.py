"""Injection: each function from its own context alone, checked, accepted or discarded whole."""

from __future__ import annotations

from typing import Any

from criticality import events as e
from criticality.acceptance import Gate, compared, written
from criticality.artifacts import Artifacts
from criticality.bodies import SpliceRefused
from criticality.checks import examine
from criticality.context import failure_summary, implement_values, spare
from criticality.labels import Tier
from criticality.lattice_plan import FunctionPlan, dependencies
from criticality.machine.escalation import FailureKind, decide
from criticality.machine.states import Escalating, Implementing, SelectingFunction, Verifying
from criticality.order import waves
from criticality.suspicion import INDEPENDENTS, agreeing, callee_blamed, test_suspected
from criticality.tree import function_key
from criticality.work import Work
from llm_runtime.errors import BadReply
from llm_runtime.events import Event
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct
from llm_runtime.tokens import estimate_tokens


class _Attempt(Struct):
    """One try at a unit.

    Args:
        visit: how often the unit's phase was entered and how often it was reopened: part of every label and key.
        in_tier: its number among the tier's; ``total`` is that among all.
        failure: why the try before was discarded; of a first one, why the unit was reopened.
    """

    unit: str
    visit: tuple[int, int, int]
    tier: Tier
    in_tier: int
    total: int
    failure: dict[str, Any] | None

    @property
    def before(self) -> dict[str, Any] | None:
        """What failed the time before, if there was one."""
        return None if self.total == 1 else self.failure


async def select(work: Work) -> Event:
    """Take the next unit of the order; lanes begin for the units beside it."""
    remaining = work.at(SelectingFunction).progress.remaining
    if not remaining:
        return e.NoFunctionsRemaining()
    levels = waves(work.artifacts.order, dependencies(work.artifacts.plan))
    beside = [unit for unit in next(level for level in levels if remaining[0] in level) if unit in remaining]
    for unit in beside[: work.config.orchestrator.max_parallel_injections]:
        work.lanes.begin((unit, _visit(work, unit)), lambda unit=unit: _lane(work, unit))
    return e.FunctionSelected(unit=remaining[0], tier=first_tier(work, remaining[0]))


def _visit(work: Work, unit: str) -> tuple[int, int, int]:
    progress = getattr(work.state.phase, "progress", None)
    return work.round, progress.pass_number if progress else 1, len(work.artifacts.reopened.get(unit, ()))


def first_tier(work: Work, unit: str) -> Tier:
    """Return the worker, or the structurer where signals are strong: big input, complex signature."""
    functions = work.artifacts.functions
    if estimate_tokens("".join(implement_values(work.language, work.artifacts, unit).values())) > 12_000:
        return "fallback1"
    return "fallback1" if max(signature_complexity(functions[n][1]) for n in unit.split("+")) > 5 else "worker"


def signature_complexity(function: FunctionPlan) -> float:
    """Weigh a signature: generic parameters twice, union members, depth of nesting, half a point a parameter."""
    unions = sum(2 for kind in function.kinds for name in kind.names() if name == "Option")
    return unions + (max(kind.depth for kind in function.kinds) - 1) + 0.5 * len(function.parameters)


async def _lane(work: Work, unit: str) -> None:
    """Take a unit from its first attempt to its acceptance or its end, as the machine will find it."""
    attempt = _attempt(work, unit, first_tier(work, unit), 1, 1)
    while True:
        event = await _verified(work, await _received(work, attempt), attempt)
        if not isinstance(event, e.VerificationFailed) or event.next in ("break", "review", "lattice"):
            return
        tier, in_tier = attempt.tier, attempt.in_tier + 1
        if event.next == "escalate":
            assert event.to_tier is not None
            tier, in_tier = event.to_tier, 1
        attempt = _Attempt(unit, attempt.visit, tier, in_tier, attempt.total + 1, event.failure)


def _attempt(work: Work, unit: str, tier: Tier, in_tier: int, total: int) -> _Attempt:
    if total == 1:
        reasons = [what for what in work.artifacts.reopened.get(unit, ()) if what]
        failure = {"kind": "test", "what": reasons[-1:]} if reasons else None
    else:
        failure = _failed(work.artifacts, unit)
    return _Attempt(unit, _visit(work, unit), tier, in_tier, total, failure)


def _under_way(work: Work, phase: Implementing | Verifying) -> _Attempt:
    return _attempt(work, phase.function_id, phase.current_tier, phase.attempt_in_tier, phase.total_attempts)


def _failed(artifacts: Artifacts, unit: str) -> dict[str, Any] | None:
    return next((f.failure for f in reversed(artifacts.failures) if f.unit == unit), None)


async def implement(work: Work) -> Event:
    """One attempt: a model's bodies."""
    return await _received(work, _under_way(work, work.at(Implementing)))


async def _received(work: Work, attempt: _Attempt) -> e.ImplementationReceived:
    key = ("implement", attempt.unit, attempt.visit, attempt.total)
    return await work.lanes.once(key, lambda: _implement(work, attempt))


async def _implement(work: Work, attempt: _Attempt) -> e.ImplementationReceived:
    unit, visit = attempt.unit, attempt.visit
    waiting = work.artifacts.waiting.get(unit)
    if waiting is not None and attempt.total == 1:
        return waiting
    label_round = (visit[2] * 100 + visit[0]) * 100 + visit[1]
    question = work.ask.question("injection", unit, attempt.tier, label_round, attempt.total)
    shorter = spare(work.language, work.artifacts, unit, attempt.failure)
    bodies, fault = dict[str, str](), None
    try:
        bodies = await written(work, question, unit, failure_summary(attempt.failure), shorter)
    except BadReply as refused:
        fault = {"kind": "syntax_fatal", "what": [f"the answer was of no use: {type(refused).__name__}"]}
    except SpliceRefused as refused:
        fault = {"kind": "syntax", "what": [str(refused)]}
    return e.ImplementationReceived(unit=unit, attempt=attempt.total, tier=attempt.tier, bodies=bodies, fault=fault)


async def verify(work: Work) -> Event:
    """Accept or discard what was received."""
    assert work.received is not None
    return await _verified(work, work.received, _under_way(work, work.at(Verifying)))


async def _verified(work: Work, received: e.ImplementationReceived, attempt: _Attempt) -> Event:
    key = ("verify", received.unit, attempt.visit, received.attempt)
    return await work.lanes.once(key, lambda: _verify(work, received, attempt))


async def _verify(work: Work, received: e.ImplementationReceived, attempt: _Attempt) -> Event:
    before = attempt.before
    earlier: list[dict[str, str]] = list((before or {}).get("settled", ()))
    settled = grouped((entry["function"], entry["clause"]) for entry in earlier)
    failure, verdict = await examine(work, received, settled)
    if verdict.guilty is not None:
        blamed = callee_blamed(work, received, verdict.guilty)
        if isinstance(blamed, e.CalleeBlamed):
            return blamed
        return _discarded(work, received, attempt, blamed, verdict.cases, review=True)
    gate = Gate(cases=verdict.kept)
    if failure is None:
        gate = await compared(work, received, verdict, attempt.visit, settled)
        failure = gate.failure
    if failure is None:
        names = received.unit.split("+")
        return e.VerificationPassed(
            unit=received.unit,
            attempt=received.attempt,
            tier=received.tier,
            bodies=received.bodies,
            keys={name: function_key(work.language, work.artifacts, name) for name in names},
            tests=verdict.cases,
            cases=gate.cases,
            measured=gate.measured,
            settled=gate.settled,
            left_open=gate.left_open,
        )
    failure = agreeing(failure, verdict, before)
    if earlier or gate.settled:
        failure["settled"] = [*earlier, *gate.settled]
    if failure.get("agreed", 0) >= INDEPENDENTS:
        suspected = await test_suspected(work, received, failure, attempt.visit)
        if isinstance(suspected, e.TestSuspected):
            return suspected
        failure = {**failure, **suspected}
        return _discarded(work, received, attempt, failure, verdict.cases, review=bool(suspected))
    return _discarded(work, received, attempt, failure, verdict.cases)


def _discarded(
    work: Work, received: e.ImplementationReceived, attempt: _Attempt, failure: dict[str, Any], tests: int, *,
    review: bool = False,
) -> e.VerificationFailed:  # fmt: skip
    kind: FailureKind = failure["kind"]
    decision = decide(kind, received.tier, attempt.in_tier, received.attempt, work.config.escalation)
    if decision.hint:
        failure = {**failure, "hint": decision.hint}
    return e.VerificationFailed(
        unit=received.unit,
        attempt=received.attempt,
        tier=received.tier,
        failure=failure,
        settled=failure.get("settled", []),
        tests=tests,
        next="review" if review else decision.action,
        to_tier=decision.tier if decision.action == "escalate" and not review else None,
    )


async def escalate(work: Work) -> Event:
    """On to the next tier, or out."""
    phase = work.at(Escalating)
    if phase.to_tier is None:
        failure = _failed(work.artifacts, phase.function_id)
        assert failure is not None
        return e.TiersExhausted(unit=phase.function_id, reason=f"{phase.failure_type}: {failure['what'][0]}")
    why = f"{phase.failure_type}_error"
    return e.Escalated(unit=phase.function_id, from_tier=phase.from_tier, to_tier=phase.to_tier, reason=why)
