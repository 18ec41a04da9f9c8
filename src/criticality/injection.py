"""Injection: each function from its own context alone, checked, accepted or discarded whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from criticality import events as e
from criticality.acceptance import Gate, compared, written
from criticality.artifacts import Artifacts, Body
from criticality.bodies import BodyUnreadable, SpliceRefused
from criticality.budget import tokens
from criticality.context import failure_summary, implement_values, spare
from criticality.judging.hearing import Verdict
from criticality.labels import Tier
from criticality.language import Language
from criticality.lattice import dependencies
from criticality.machine.escalation import FailureKind, decide
from criticality.machine.states import Escalating, Implementing, SelectingFunction, Verifying
from criticality.order import waves
from criticality.suspicion import INDEPENDENTS, agreeing, callee_blamed, test_suspected
from criticality.tree import function_key, skeleton
from criticality.verdicts import due, judged, rested_on
from criticality.work import Work
from llm_runtime.errors import BadReply
from llm_runtime.events import Event

_Key: TypeAlias = tuple[Hashable, ...]


class Lanes:
    """Work that was begun early: every attempt of every unit of a wave is computed at most once.

    The machine takes units one after the other; while it does, the other units of the same wave are
    worked on beside it. What a lane computes depends on the unit and on earlier waves only, so results do not
    depend on who finished first.
    """

    def __init__(self, limit: int) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._tasks: dict[_Key, asyncio.Task[Any]] = {}

    async def once(self, key: _Key, make: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result for ``key``, computed now, by a lane already, or by one that is at it."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(make())
        return await asyncio.shield(task)

    def begin(self, key: _Key, make: Callable[[], Awaitable[Any]]) -> None:
        """Start a lane in the background; what goes wrong in it is told to whoever asks for its results."""
        if ("lane", key) in self._tasks:
            return

        async def lane() -> None:
            async with self._slots:
                try:
                    await make()
                except Exception:
                    return

        self._tasks["lane", key] = asyncio.ensure_future(lane())

    async def forget_verdicts(self) -> None:
        """Give up what was judged: it rested on a body or a test that is no more. Answers of models are kept."""
        old = [key for key in self._tasks if key[0] in ("verify", "lane")]
        tasks = [self._tasks.pop(key) for key in old]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def aclose(self) -> None:
        """End what is still going on."""
        tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def select(work: Work, lanes: Lanes) -> Event:
    """Take the next unit of the order; lanes begin for the units beside it."""
    phase = work.at(SelectingFunction)
    remaining = phase.progress.remaining
    if not remaining:
        return e.NoFunctionsRemaining()
    beside = _wave(work, remaining)
    for unit in beside[: work.config.orchestrator.max_parallel_injections]:
        lanes.begin((unit, _visit(work, unit)), lambda unit=unit: _lane(work, unit, lanes))
    return e.FunctionSelected(unit=remaining[0], tier=first_tier(work, remaining[0]))


def _wave(work: Work, remaining: tuple[str, ...]) -> list[str]:
    """Units of the same wave as the first one left that are left too."""
    levels = waves(work.artifacts.order, dependencies(work.artifacts.plan))
    wave = next(level for level in levels if remaining[0] in level)
    return [unit for unit in wave if unit in remaining]


def _visit(work: Work, unit: str) -> tuple[int, int, int]:
    """Tell how often the unit's phase was entered, and how often it was reopened: part of every label and key."""
    progress = getattr(work.state.phase, "progress", None)
    return work.round, progress.pass_number if progress else 1, len(work.artifacts.reopened.get(unit, ()))


def first_tier(work: Work, unit: str) -> Tier:
    """Return the worker, or the structurer where signals are strong: big input, complex signature."""
    functions = work.artifacts.functions
    values = implement_values(work.language, work.artifacts, unit)
    if tokens("".join(values.values())) > 12_000:
        return "fallback1"
    return "fallback1" if max(signature_complexity(functions[n][1]) for n in unit.split("+")) > 5 else "worker"


def signature_complexity(function: Any) -> float:
    """Weigh a signature: generic parameters twice, union members, depth of nesting, half a point a parameter."""
    kinds = [*(p.type for p in function.parameters), function.result]
    names = [name for kind in kinds for name in kind.names()]
    unions = sum(2 for name in names if name == "Option")
    depth = max(kind.depth for kind in kinds) - 1
    return unions + depth + 0.5 * len(function.parameters)


async def _lane(work: Work, unit: str, lanes: Lanes) -> None:
    """Take a unit from its first attempt to its acceptance or its end, as the machine will find it."""
    tier, in_tier, total = first_tier(work, unit), 1, 1
    visit, failure = _visit(work, unit), _why_reopened(work, unit)
    before: dict[str, Any] | None = None
    while True:
        received = await _received(work, unit, tier, total, visit, failure, lanes)
        event = await _verified(work, received, in_tier, visit, before, lanes)
        if not isinstance(event, e.VerificationFailed) or event.next in ("break", "review", "lattice"):
            return
        failure = before = event.failure
        if event.next == "escalate":
            assert event.to_tier is not None
            tier, in_tier = event.to_tier, 0
        in_tier, total = in_tier + 1, total + 1


async def implement(work: Work, lanes: Lanes) -> Event:
    """One attempt: a model's bodies."""
    phase = work.at(Implementing)
    return await _received(
        work, phase.function_id, phase.current_tier, phase.total_attempts, _visit(work, phase.function_id),
        _last_failure(work, phase), lanes,
    )  # fmt: skip


def _last_failure(work: Work, phase: Implementing) -> dict[str, Any] | None:
    if phase.total_attempts == 1:
        return _why_reopened(work, phase.function_id)
    return _failed(work, phase.function_id)


def _failed(work: Work, unit: str) -> dict[str, Any] | None:
    return next((f.failure for f in reversed(work.artifacts.failures) if f.unit == unit), None)


def _why_reopened(work: Work, unit: str) -> dict[str, Any] | None:
    """Return the case for which a unit was reopened, as the summary of what failed."""
    reasons = [what for what in work.artifacts.reopened.get(unit, ()) if what]
    return {"kind": "test", "what": reasons[-1:]} if reasons else None


async def _received(
    work: Work,
    unit: str,
    tier: Tier,
    total: int,
    visit: tuple[int, ...],
    failure: dict[str, Any] | None,
    lanes: Lanes,
) -> e.ImplementationReceived:
    return await lanes.once(
        ("implement", unit, visit, total), lambda: _implement(work, unit, tier, total, visit, failure)
    )


async def _implement(
    work: Work, unit: str, tier: Tier, total: int, visit: tuple[int, ...], failure: dict[str, Any] | None
) -> e.ImplementationReceived:
    waiting = work.artifacts.waiting.get(unit)
    if waiting is not None and total == 1:
        return waiting
    label_round = (visit[2] * 100 + visit[0]) * 100 + visit[1]
    question = work.ask.question("injection", unit, tier, label_round, total)
    shorter = spare(work.language, work.artifacts, unit, failure)
    try:
        bodies = await written(work, question, unit, failure_summary(failure), shorter)
    except BadReply as refused:
        fault = {"kind": "syntax_fatal", "what": [f"the answer was of no use: {type(refused).__name__}"]}
    except SpliceRefused as refused:
        fault = {"kind": "syntax", "what": [str(refused)]}
    else:
        return e.ImplementationReceived(unit=unit, attempt=total, tier=tier, bodies=bodies)
    return e.ImplementationReceived(unit=unit, attempt=total, tier=tier, fault=fault)


async def verify(work: Work, received: e.ImplementationReceived, lanes: Lanes) -> Event:
    """Accept or discard what was received."""
    phase = work.at(Verifying)
    unit = phase.function_id
    before = None if phase.total_attempts == 1 else _failed(work, unit)
    return await _verified(work, received, phase.attempt_in_tier, _visit(work, unit), before, lanes)


async def _verified(
    work: Work, received: e.ImplementationReceived, in_tier: int, visit: tuple[int, ...],
    before: dict[str, Any] | None, lanes: Lanes,
) -> Any:  # fmt: skip
    key = ("verify", received.unit, visit, received.attempt)
    return await lanes.once(key, lambda: _verify(work, received, in_tier, visit, before, lanes))


async def _verify(
    work: Work, received: e.ImplementationReceived, in_tier: int, visit: tuple[int, ...],
    before: dict[str, Any] | None, lanes: Lanes,
) -> Event:  # fmt: skip
    earlier: list[dict[str, str]] = list((before or {}).get("settled", ()))
    settled: dict[str, list[str]] = {}
    for entry in earlier:
        settled.setdefault(entry["function"], []).append(entry["clause"])
    failure, verdict = await examine(work, received, settled)
    if verdict.guilty is not None:
        blamed = callee_blamed(work, received, verdict.guilty)
        if isinstance(blamed, e.CalleeBlamed):
            return blamed
        return _discarded(work, received, in_tier, blamed, verdict.cases, review=True)
    gate = Gate(cases=verdict.kept)
    if failure is None:
        others = rested_on(work.artifacts, received.unit)

        async def refused(bodies: dict[str, str]) -> bool:
            return await unfit(work, bodies, others) is not None

        gate = await compared(work, received, verdict, others, visit, lanes.once, refused, settled)
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
        suspected = await test_suspected(work, received, failure, visit, lanes.once)
        if isinstance(suspected, e.TestSuspected):
            return suspected
        return _discarded(work, received, in_tier, {**failure, **suspected}, verdict.cases, review=bool(suspected))
    return _discarded(work, received, in_tier, failure, verdict.cases)


def _discarded(
    work: Work, received: e.ImplementationReceived, in_tier: int, failure: dict[str, Any], tests: int, *,
    review: bool = False,
) -> e.VerificationFailed:  # fmt: skip
    kind: FailureKind = failure["kind"]
    decision = decide(kind, received.tier, in_tier, received.attempt, work.config.escalation)
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


async def examine(
    work: Work, received: e.ImplementationReceived, settled: Mapping[str, Sequence[str]] | None = None
) -> tuple[dict[str, Any] | None, Verdict]:
    """Return what is wrong with bodies, as a typed failure without code, and the judge's verdict.

    From cheap to dear: splice, look at the tree, security scan, type checker, the judge.
    """
    if received.fault is not None:
        return received.fault, Verdict()
    others = rested_on(work.artifacts, received.unit)
    failure = await unfit(work, received.bodies, others)
    if failure is not None:
        return failure, Verdict()
    bodies = others | {
        name: Body(text, "", received.tier, received.attempt) for name, text in received.bodies.items()
    }
    verdict = await judged(
        work, received.unit.split("+"), bodies, due(work.artifacts, received.unit), settled=settled
    )
    return failure_of(verdict), verdict


async def unfit(work: Work, texts: Mapping[str, str], others: Mapping[str, Body]) -> dict[str, Any] | None:
    """Return what is wrong with bodies before they run."""
    static = static_failure(work.language, work.artifacts, texts)
    if static is not None:
        return static
    spec = work.artifacts.approved
    bodies = {**others, **{name: Body(text, "", "worker", 1) for name, text in texts.items()}}
    errors = await work.tools.check(work.language.sources(spec, work.artifacts.plan, bodies))
    return {"kind": "type", "what": [error.message[:300] for error in errors[:8]]} if errors else None


def failure_of(verdict: Verdict) -> dict[str, Any] | None:
    """Return a verdict as a typed failure."""
    if not verdict.faults:
        return None
    kinds = {fault.kind for fault in verdict.faults}
    kind = next((k for k in ("security", "coherence", "timeout", "semantic", "test") if k in kinds), "complexity")
    return {"kind": kind, "what": [fault.what for fault in verdict.faults[:8]]}


def static_failure(language: Language, artifacts: Artifacts, bodies: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what is wrong with bodies before anything runs: they reach too far, or do what they may not."""
    spec, functions = artifacts.approved, artifacts.functions
    every = {name.partition(".")[2] for name in functions}
    for name, body in bodies.items():
        module, function = functions[name]
        source = skeleton(language, artifacts)[language.module_path(spec, module.name)]
        try:
            language.splice(source, function.name, body)
        except BodyUnreadable as refused:
            return {"kind": "syntax", "what": [f"{function.name}: {refused}"]}
        except SpliceRefused as refused:
            return {"kind": "security", "what": [f"{function.name}: {refused}"]}
        findings = language.inspect_body(body, function, module=module.name, siblings=every)
        findings += language.security_findings(body, function)
        if findings:
            kind = "security" if any(f.kind == "security" for f in findings) else "semantic"
            return {"kind": kind, "what": [f"{function.name}: {f.what}" for f in findings[:6]]}
    return None


async def escalate(work: Work) -> Event:
    """On to the next tier, or out."""
    phase = work.at(Escalating)
    reason = next(f for f in reversed(work.artifacts.failures) if f.unit == phase.function_id)
    if phase.to_tier is None:
        return e.TiersExhausted(unit=phase.function_id, reason=f"{phase.failure_type}: {reason.failure['what'][0]}")
    return e.Escalated(
        unit=phase.function_id,
        from_tier=phase.from_tier,
        to_tier=phase.to_tier,
        reason=f"{phase.failure_type}_error",
    )
