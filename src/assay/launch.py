"""One run of any protocol: store, recording, gateway and displays around a runner."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Literal, cast

from assay.runners import require_unbound, runner
from llm_runtime.errors import BudgetExceeded, DeadlineExceeded, LlmRuntimeError, StoreError
from llm_runtime.events import Emit, Event, RunFinished, RunResumed, RunStarted, tee
from llm_runtime.gateway import Gateway
from llm_runtime.messages import Generate
from llm_runtime.replay import Recording
from llm_runtime.settings import Settings
from llm_runtime.store import RunLog, RunStore
from llm_runtime.wrappers.budgeted import Budget, Caps, spent_before
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

Pace = Callable[[int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    Args:
        run_id: its id in the store.
        state: ``"finished"``, ``"stopped"`` (it can be resumed) or ``"failed"``.
        result: the protocol's own result as data; empty unless finished.
        error: why it did not finish.
    """

    run_id: str
    state: Literal["finished", "stopped", "failed"]
    result: dict[str, Any]
    error: Exception | None = None


async def start(
    started: RunStarted,
    store: RunStore,
    settings: Settings,
    *,
    caps: Caps | None = None,
    sinks: Iterable[Emit] = (),
    model: Generate | None = None,
    recorded: Recording | None = None,
    person: Generate | None = None,
) -> Outcome:
    """Make a new run.

    Args:
        started: what is run; the first event of its log.
        store: where it is kept.
        settings: how models are reached.
        caps: what it may spend.
        sinks: told of every event after the log has it.
        model: asked in place of the gateway, as in a demonstration.
        recorded: calls that a parent run has answered already, for a fork.
        person: who answers for ``terminal:``; the keyboard where left out.

    Raises:
        NoModelError: there is no model to ask; nothing was stored.
        StoreError: the log cannot be written.
    """
    sinks = tuple(sinks)
    async with AsyncExitStack() as stack:
        relay = _Relay()
        if model is None:
            gateway = await stack.enter_async_context(Gateway(settings, caps=caps, emit=relay.emit, person=person))
            await _reach(gateway, started)
            model = gateway.generate
        log = store.start(started)
        stack.callback(log.close)
        for sink in sinks:
            sink(started)
        return await _run(started, log, model, recorded or Recording(), relay, sinks)


async def resume(
    run_id: str,
    store: RunStore,
    settings: Settings,
    *,
    caps: Caps | None = None,
    sinks: Iterable[Emit] = (),
    model: Generate | None = None,
    person: Generate | None = None,
) -> Outcome:
    """Go on with a run that was interrupted or stopped; no answer that it has is asked for again.

    ``caps`` hold for the whole run: what it has spent counts, and so does a call that was in flight.

    Raises:
        StoreBusy: another process runs it.
        NoModelError, StoreError: as for :func:`start`.
    """
    sinks = tuple(sinks)
    async with AsyncExitStack() as stack:
        log = store.reopen(run_id)
        stack.callback(log.close)
        events = [event for _, event in store.events(run_id)]
        started = opening(events)
        recorded = Recording.from_events(events)
        relay = _Relay()
        if model is None:
            budget = Budget(caps or Caps(), spent_before(events), emit=relay.emit)
            gateway = await stack.enter_async_context(
                Gateway(settings, emit=relay.emit, budget=budget, person=person)
            )
            await _reach(gateway, started)
            model = gateway.generate
        for event in events:
            for sink in sinks:
                sink(event)
        resumed = RunResumed(finished_calls=len(recorded))
        log.emit(resumed)
        for sink in sinks:
            sink(resumed)
        return await _run(started, log, model, recorded, relay, sinks)


async def replay(
    run_id: str, store: RunStore, *, sinks: Iterable[Emit] = (), pace: Pace | None = None
) -> dict[str, Any]:
    """Run a recorded run again through today's engine, answered by its recording alone; nothing is stored.

    Raises:
        ConfigurationError: the protocol works on something outside its log.
        ReplayMismatch: the engine now asks what the recording has no answer to; says what differs.
    """
    events = [event for _, event in store.events(run_id)]
    started = opening(events)
    require_unbound(started.protocol)
    recorded = Recording.from_events(events)
    emit = tee(*sinks)
    emit(started)
    generate = recording(replaying(recorded, pace=pace), emit, replayed=recorded.has)
    result = await runner(started.protocol)(started, generate, emit)
    emit(RunFinished(state="finished", result=result))
    return result


def opening(events: Iterable[Event]) -> RunStarted:
    """The first event of a run, which says what to do."""
    first = next(iter(events), None)
    if not isinstance(first, RunStarted):
        raise LlmRuntimeError("the run's log does not begin with run.started; see: assay runs verify")
    return first


def result_of(events: Iterable[Event]) -> dict[str, Any] | None:
    """The result of a run that finished; ``None`` where it has none, or was resumed since and has not ended."""
    result = None
    for event in events:
        if isinstance(event, RunFinished):
            result = event.result if event.state == "finished" else None
    return result


async def _reach(gateway: Gateway, started: RunStarted) -> None:
    """Refuse a run whose models cannot be reached: those it names, or whichever it will choose."""
    for asked in started.settings.get("engine", {}).get("models") or ("openrouter/auto",):
        await gateway.ready(asked)


class _Relay:
    """Lets the gateway speak before the log is open: what it says then has no run to belong to."""

    def __init__(self) -> None:
        self.target: Emit | None = None

    def emit(self, event: Event) -> None:
        if self.target is not None:
            self.target(event)


async def _run(
    started: RunStarted,
    log: RunLog,
    model: Generate,
    recorded: Recording,
    relay: _Relay,
    sinks: Iterable[Emit],
) -> Outcome:
    emit = relay.target = tee(log.emit, *sinks)
    generate = recording(replaying(recorded, model), emit, replayed=recorded.has_reply)
    try:
        result = await runner(started.protocol)(started, generate, emit)
    except asyncio.CancelledError:
        emit(RunFinished(state="stopped", error="Interrupted", message="interrupted"))
        raise
    except Exception as error:
        cause = _cause(error)
        if isinstance(cause, StoreError):
            raise cause from None
        if not isinstance(cause, LlmRuntimeError):
            emit(RunFinished(state="failed", error=type(cause).__name__, message=str(cause)))
            raise
        state = "stopped" if isinstance(cause, BudgetExceeded | DeadlineExceeded) else "failed"
        emit(RunFinished(state=state, error=type(cause).__name__, message=str(cause)))
        return Outcome(log.run_id, state, {}, cause)
    emit(RunFinished(state="finished", result=result))
    return Outcome(log.run_id, "finished", result)


def _cause(error: Exception) -> Exception:
    """The one error inside a task group's; one of ours, where there is one."""
    if not isinstance(error, ExceptionGroup):
        return error
    causes = [_cause(inner) for inner in cast("ExceptionGroup[Exception]", error).exceptions]
    return next((cause for cause in causes if isinstance(cause, LlmRuntimeError)), causes[0])
