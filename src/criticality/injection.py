"""Injection: each function from its own context alone, checked, accepted or discarded whole."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any

from criticality import events as e
from criticality.artifacts import Artifacts, Body
from criticality.bodies import BodyUnreadable, SpliceRefused
from criticality.budget import tokens
from criticality.context import failure_summary, implement_values, spare
from criticality.labels import Tier
from criticality.language import Language
from criticality.lattice import dependencies
from criticality.machine.escalation import FailureKind, decide
from criticality.machine.states import Escalating, Implementing, SelectingFunction, Verifying
from criticality.order import waves
from criticality.tree import claim_tests, contract_tests, full_tree, function_key, skeleton
from criticality.work import Work
from llm_runtime.errors import BadReply
from llm_runtime.events import Event

_SECTION = re.compile(r"^###[ \t]+`?([a-z_][a-z0-9_]*)`?[ \t]*$", re.MULTILINE)


class Lanes:
    """Work that was begun early: every attempt of every unit of a wave is computed at most once.

    The machine takes units one after the other; while it does, the other units of the same wave are
    worked on beside it. What a lane computes depends on the unit and on earlier waves only, so results do not
    depend on who finished first.
    """

    def __init__(self, limit: int) -> None:
        self._slots = asyncio.Semaphore(limit)
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    async def once(self, key: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result for ``key``, computed now, by a lane already, or by one that is at it."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(make())
        return await asyncio.shield(task)

    def begin(self, key: Hashable, make: Callable[[], Awaitable[Any]]) -> None:
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

    async def aclose(self) -> None:
        """End what is still going on."""
        tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def select(work: Work, lanes: Lanes) -> Event:
    """Take the next unit of the order; lanes begin for the units beside it."""
    phase = work.state.phase
    assert isinstance(phase, SelectingFunction)
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
    """Tell how often the unit's phase was entered, and what failed before: part of every label and key."""
    progress = getattr(work.state.phase, "progress", None)
    return work.round, progress.pass_number if progress else 1, 0


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
    visit, failure = _visit(work, unit), None
    while True:
        received = await _received(work, unit, tier, total, visit, failure, lanes)
        event = await _verified(work, received, in_tier, visit, lanes)
        if isinstance(event, e.VerificationPassed) or event.next in ("break", "review", "lattice"):
            return
        failure = event.failure
        if event.next == "escalate":
            assert event.to_tier is not None
            tier, in_tier = event.to_tier, 0
        in_tier, total = in_tier + 1, total + 1


async def implement(work: Work, lanes: Lanes) -> Event:
    """One attempt: a model's bodies."""
    phase = work.state.phase
    assert isinstance(phase, Implementing)
    return await _received(
        work, phase.function_id, phase.current_tier, phase.total_attempts, _visit(work, phase.function_id),
        _last_failure(work, phase), lanes,
    )  # fmt: skip


def _last_failure(work: Work, phase: Implementing) -> dict[str, Any] | None:
    if phase.total_attempts == 1:
        return None
    return next((f.failure for f in reversed(work.artifacts.failures) if f.unit == phase.function_id), None)


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
    role = tier if tier != "worker" else "worker"
    label_round = visit[0] * 100 + visit[1]
    question = work.ask.question("injection", unit, role, label_round, total)
    values = implement_values(work.language, work.artifacts, unit)
    shorter = spare(work.language, work.artifacts, unit, failure)
    try:
        answer = await work.ask.text(
            question, "implement", spare=shorter, **values, summary=failure_summary(failure)
        )
    except BadReply as refused:
        fault = {"kind": "syntax_fatal", "what": [f"the answer was of no use: {type(refused).__name__}"]}
        return e.ImplementationReceived(unit=unit, attempt=total, tier=tier, fault=fault)
    try:
        bodies = _bodies(work.language, answer, unit)
    except SpliceRefused as refused:
        fault = {"kind": "syntax", "what": [str(refused)]}
        return e.ImplementationReceived(unit=unit, attempt=total, tier=tier, fault=fault)
    return e.ImplementationReceived(unit=unit, attempt=total, tier=tier, bodies=bodies)


def _bodies(language: Language, answer: str, unit: str) -> dict[str, str]:
    """Return the body of each function of a unit; several stand under headings of their names."""
    names = unit.split("+")
    if len(names) == 1:
        return {names[0]: language.read_body(answer, names[0].partition(".")[2])}
    parts = _SECTION.split(answer)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in names if name.partition(".")[2] not in bodies]
    if missing:
        raise SpliceRefused(f"the answer has no section for {', '.join(missing)}")
    return {name: language.read_body(bodies[name.partition(".")[2]], name.partition(".")[2]) for name in names}


async def verify(work: Work, received: e.ImplementationReceived, lanes: Lanes) -> Event:
    """Accept or discard what was received."""
    phase = work.state.phase
    assert isinstance(phase, Verifying)
    return await _verified(work, received, phase.attempt_in_tier, _visit(work, phase.function_id), lanes)


async def _verified(
    work: Work, received: e.ImplementationReceived, in_tier: int, visit: tuple[int, ...], lanes: Lanes
) -> Any:
    key = ("verify", received.unit, visit, received.attempt)
    return await lanes.once(key, lambda: _verify(work, received, in_tier))


async def _verify(work: Work, received: e.ImplementationReceived, in_tier: int) -> Event:
    failure, tests = await examine(work, received)
    if failure is None:
        names = received.unit.split("+")
        return e.VerificationPassed(
            unit=received.unit,
            attempt=received.attempt,
            tier=received.tier,
            bodies=received.bodies,
            keys={name: function_key(work.language, work.artifacts, name) for name in names},
            tests=tests,
        )
    kind: FailureKind = failure["kind"]
    decision = decide(kind, received.tier, in_tier, received.attempt, work.config.escalation)
    if decision.hint:
        failure = {**failure, "hint": decision.hint}
    return e.VerificationFailed(
        unit=received.unit,
        attempt=received.attempt,
        tier=received.tier,
        failure=failure,
        next=decision.action,
        to_tier=decision.tier if decision.action == "escalate" else None,
    )


async def examine(work: Work, received: e.ImplementationReceived) -> tuple[dict[str, Any] | None, int]:
    """Return what is wrong with bodies, as a typed failure without code, and how many tests ran.

    From cheap to dear: splice, look at the tree, security scan, type checker, tests.
    """
    if received.fault is not None:
        return received.fault, 0
    static = static_failure(work.language, work.artifacts, received.bodies)
    if static is not None:
        return static, 0
    bodies = _bodies_of_others(work, received) | {
        name: Body(text, "", received.tier, received.attempt) for name, text in received.bodies.items()
    }
    spec = work.artifacts.spec
    assert spec is not None
    errors = await work.tools.check(work.language.sources(spec, work.artifacts.plan, bodies))
    if errors:
        return {"kind": "type", "what": [error.message[:300] for error in errors[:8]]}, 0
    files = tests_of(work, received.unit)
    if not files:
        return None, 0
    outcome = await work.tools.test(full_tree(work.language, work.artifacts, bodies), files, stop_early=False)
    if outcome.state in ("timeout", "cpu"):
        return {"kind": "timeout", "what": [f"the tests took more than {work.tools.limits.seconds:g} s"]}, 0
    if outcome.state != "done" or not outcome.tests:
        return {"kind": "timeout", "what": ["the tests were ended: too much memory, or the process died"]}, 0
    if outcome.failures:
        kind = "complexity" if all(t.name.endswith("_grows") for t in outcome.failures) else "test"
        return {"kind": kind, "what": [f"{t.name}: {_first_line(t.message)}" for t in outcome.failures[:8]]}, 0
    return None, len(outcome.tests)


def _first_line(message: str) -> str:
    return message.removeprefix("AssertionError: ").split("\n")[0][:600]


def static_failure(language: Language, artifacts: Artifacts, bodies: Mapping[str, str]) -> dict[str, Any] | None:
    """Return what is wrong with bodies before anything runs: they reach too far, or do what they may not."""
    spec, functions = artifacts.spec, artifacts.functions
    assert spec is not None
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


def _bodies_of_others(work: Work, received: e.ImplementationReceived) -> dict[str, Body]:
    """Bodies that the unit may rest on: those of earlier waves, so that lanes do not see each other."""
    edges = dependencies(work.artifacts.plan)
    wanted: set[str] = set()
    queue = [t for name in received.unit.split("+") for t in edges[name]]
    queue += [f for c in _claims_of(work, received.unit) for f in work.artifacts.claims[c].functions]
    while queue:
        name = queue.pop()
        if name not in wanted:
            wanted.add(name)
            queue += edges.get(name, [])
    own = set(received.unit.split("+"))
    return {name: body for name, body in work.artifacts.bodies.items() if name in wanted - own}


def _claims_of(work: Work, unit: str) -> list[str]:
    """Claims that this unit alone makes true or false; claims over several units belong to Mesoscopic."""
    own = set(unit.split("+"))
    return [name for name, claim in work.artifacts.claims.items() if claim.tests and set(claim.functions) <= own]


def tests_of(work: Work, unit: str) -> list[str]:
    """Return the test files that decide on a unit."""
    contracts, claims = contract_tests(work.language, work.artifacts), claim_tests(work.language, work.artifacts)
    files = [contracts[name].path for name in unit.split("+") if contracts[name].promises]
    return files + [claims[name].path for name in _claims_of(work, unit)]


async def escalate(work: Work) -> Event:
    """On to the next tier, or out."""
    phase = work.state.phase
    assert isinstance(phase, Escalating)
    reason = next(f for f in reversed(work.artifacts.failures) if f.unit == phase.function_id)
    if phase.to_tier is None:
        return e.TiersExhausted(unit=phase.function_id, reason=f"{phase.failure_type}: {reason.failure['what'][0]}")
    return e.Escalated(
        unit=phase.function_id,
        from_tier=phase.from_tier,
        to_tier=phase.to_tier,
        reason=f"{phase.failure_type}_error",
    )
