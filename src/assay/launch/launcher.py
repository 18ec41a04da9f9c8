"""Start, resume, fork and replay runs, and stop them."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from assay import __version__
from assay.launch.behaviours import names_of, of_log, todays
from assay.launch.checks import check_terms, require_own_tools, require_replayable
from assay.launch.execution import (
    Execution,
    Followers,
    LateEmit,
    Outcome,
    PerRun,
    beside_panel,
    carry_through,
    model_of,
    served,
    who_of,
)
from assay.launch.hearing import hearing
from assay.launch.logs import first_event, result_of, told_when_kept
from assay.launch.telemetry import instruments
from assay.protocol import RunContext
from assay.registry import Prepared, opened, prepared, read_run, tools_of
from assay.seat_tools.answering import beside
from assay.seat_tools.offered import Call
from assay.seat_tools.using import tooled
from assay.terms import Terms, configured, in_force
from llm_runtime.behaviour import behaving, recalls
from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError, StoreBusy
from llm_runtime.events import Event, RunFinished, RunResumed, RunStarted, tee
from llm_runtime.http import Http
from llm_runtime.messages import Generate
from llm_runtime.replay import Recording
from llm_runtime.settings import Settings, load_settings
from llm_runtime.shared import Shared
from llm_runtime.store import RunLog, RunStore, new_run_id
from llm_runtime.structs import Struct
from llm_runtime.wrappers.accounts import Account, moved
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import as_recorded, replaying

T = TypeVar("T")

Pace = Callable[[int], Awaitable[None]]
NOBODY = Followers()
#: How often, and how many seconds apart, a run is asked for that ended and is still being let go of.
_LOOKS, _LOOK_S = 200, 0.05


class Replayed(Struct):
    """What a replay came to, and what was recorded; ``recorded`` is ``None`` where the run has no result."""

    result: dict[str, Any]
    recorded: dict[str, Any] | None


class Running:
    """A run under way, its log open."""

    def __init__(self, run_id: str, task: asyncio.Task[Outcome]) -> None:
        self.run_id = run_id
        self._task = task

    async def outcome(self) -> Outcome:
        """Wait for the end. Where the waiting is cancelled, the run is stopped, and can be resumed.

        Raises:
            StoreError: the log cannot be written.
            Exception: an error that is not ours; the log says which.
        """
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            await self.stop()
            raise

    async def ended(self) -> None:
        """Wait until it has ended in whatever way and its log is let go."""
        await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Stop it; it can be resumed."""
        self._task.cancel()
        await self.ended()
        if not self._task.cancelled():
            # Whoever stops it hears of no error: that its log is another's by now, say, is none.
            self._task.exception()

    def on_end(self, call: Callable[[BaseException | None], None]) -> None:
        """Call ``call`` when it has ended, with the error that its log could not take."""
        self._task.add_done_callback(lambda task: call(None if task.cancelled() else task.exception()))


class Launcher:
    """Opens runs in one store.

    Args:
        store: where they are kept.
        settings: reads the user's configuration; called for each run, so that a key stored meanwhile counts.
        clock: milliseconds since 1970.
        new_id: draws a run's id.
        draw_seed: draws a run's seed, 0 to 2^53-1.
    """

    def __init__(
        self, store: RunStore, settings: Callable[[], Settings] = load_settings, *,
        clock: Callable[[], int] = now_ms, new_id: Callable[[], str] | None = None,
        draw_seed: Callable[[], int] = lambda: secrets.randbelow(2**53),
    ) -> None:  # fmt: skip
        self.store = store
        self._settings = settings
        self._clock = clock
        self.new_id = new_id or (lambda: new_run_id(clock(), random.SystemRandom()))
        self._draw_seed = draw_seed
        # One run after another finds its connections open: for a hosted model that is a handshake less a call. And
        # limits hold for all of them together.
        self.shared = Shared(Http())

    async def start(
        self, run: Prepared, terms: Terms | None = None, *, seed: int | None = None, title: str = "",
        run_id: str = "", origin: Literal["live", "demo"] = "live", answers: Recording | None = None,
        before: Account | None = None, behaviours: Mapping[str, int] | None = None,
        model: Generate | PerRun | None = None, followers: Followers = NOBODY,
    ) -> Running:  # fmt: skip
        """Start a run; return once its log is open.

        Args:
            run: its kind, task and options; completed here.
            terms: its models and bounds, laid over the user's configuration.
            seed: drawn where left out.
            title: one line for lists; taken from the task where left out.
            run_id: drawn where left out.
            origin: ``"demo"`` for a recording.
            answers: calls that were answered before.
            before: what they took, where that counts against the bounds.
            behaviours: the numbers of its engines' behaviours; today's where left out.
            model: answers in place of the gateway. Bounds hold for it too.
            followers: hear its events and words, and may answer for ``terminal:``.

        Raises:
            ConfigurationError: the task, an option, a seat or a bound is not possible; nothing was stored.
            NoModelError: there is no model to ask; nothing was stored.
            StoreError: the log cannot be written.
        """
        # It may read files, or fetch a page.
        run = await asyncio.to_thread(prepared, self._taken_up(run))
        own = terms or Terms()
        check_terms(run.run, own)
        settings = beside_panel(self._settings() if origin == "live" else Settings(), run.run, run.options)
        terms = own.over(configured(settings))
        run = replace(run, options=run.hooks.seated(run.options, terms))
        task, options = run.data()
        started = RunStarted(
            run_id=run_id or self.new_id(),
            protocol=run.run.name,
            title=title or run.title,
            task=task,
            settings={"options": options, "terms": terms.data()},
            seed=self._draw_seed() if seed is None else seed,
            origin=origin,
            version=__version__,
            behaviours={**todays(run.run.name), **(behaviours or {})},
        )
        answers, laid = answers or Recording(), own.settings(settings)
        numbers = await of_log(run, [started])
        job = Execution(run, started, terms, laid, answers, followers, model, numbers=numbers, before=before)
        return await self._begin(job)

    async def resume(
        self, run_id: str, terms: Terms | None = None, *, model: Generate | PerRun | None = None,
        followers: Followers = NOBODY,
    ) -> Running:  # fmt: skip
        """Go on with a run that was interrupted, stopped or failed; no answer that it has is paid for again.

        Bounds hold for the whole run: what it has spent counts, and so does a call that was in flight.

        Args:
            terms: laid over those in force, and in force from now on.

        Raises:
            ConfigurationError: it is finished, or a recording; or as for :meth:`start`.
            StoreBusy: another process carries it out.
            NoModelError, StoreError: as for :meth:`start`.
        """
        own = terms or Terms()
        started = self.first_event(run_id)
        if self.store.summary(run_id).state == "finished":
            raise ConfigurationError(
                f"run {run_id} is finished; to go another way from it, fork it",
                advice=f"assay runs fork {run_id} --at EVENT",
            )
        if started.origin == "demo":
            raise ConfigurationError("a demonstration is not gone on with; play it again", advice="assay demo")
        run = opened(started)
        check_terms(run.run, own)
        await asyncio.to_thread(require_own_tools, self.store, run_id, run)
        numbers = await of_log(run, [event for _, event in self.store.events(run_id)])
        job = Execution(run, started, own, Settings(), Recording(), followers, model, numbers=numbers, resumed=True)
        return await self._begin(job)

    async def fork(
        self, parent_id: str, at: int, terms: Terms | None = None, *, task: Mapping[str, Any] | None = None,
        say: str = "", run_id: str = "", model: Generate | PerRun | None = None, followers: Followers = NOBODY,
    ) -> Running:  # fmt: skip
        """Start a run that shares the answers of another up to its event ``at``.

        Args:
            terms: laid over those in force in the other run.
            task: fields that replace the other run's.
            say: what every call that is not shared is told besides.
            run_id: drawn where left out.
            model: as for :meth:`start`.

        Raises:
            ConfigurationError: the run has no such event, or works on something outside its log; or as for
                :meth:`start`.
            NoModelError, StoreError: as for :meth:`start`.
        """
        length = self.store.summary(parent_id).events
        if not 0 <= at <= length:
            raise ConfigurationError(f"run {parent_id} has {length} events; there is no event {at} to fork at")
        parent = self.first_event(parent_id)
        run = opened(parent)
        require_replayable(run.run)
        own = terms or Terms()
        check_terms(run.run, own)
        await asyncio.to_thread(require_own_tools, self.store, parent_id, run)
        events = [event for _, event in self.store.events(parent_id)]
        numbers = await of_log(run, events)
        if task:
            run = read_run(run.run.name, {**run.task.model_dump(), **task}, run.options.model_dump())
        settings = beside_panel(self._settings(), run.run, run.options)
        terms = own.over(in_force(events))
        data, options = run.data()
        remarks = [*parent.settings.get("remarks", ()), *([say.strip()] if say.strip() else ())]
        child = {
            "run_id": run_id or self.new_id(),
            "protocol": run.run.name,
            "parent": parent_id,
            "forked_at": at,
            "origin": "live",
            "version": __version__,
            "behaviours": names_of(numbers),
            "task": data,
            "settings": {"options": options, "terms": terms.data(), **({"remarks": remarks} if remarks else {})},
        }
        started = parent.model_copy(update=child)
        answers = Recording.from_events(events, until=at)
        laid = terms.settings(settings)
        return await self._begin(Execution(run, started, terms, laid, answers, followers, model, numbers=numbers))

    async def replay(self, run_id: str, *, pace: Pace | None = None, followers: Followers = NOBODY) -> Replayed:
        """Run a recorded run again by the behaviour of its log, answered by its recording alone; nothing is stored.

        Raises:
            ConfigurationError: the run works on something outside its log, or a newer release wrote it.
            ReplayMismatch: the engine now asks what the recording has no answer to; says what differs.
        """
        events = [event for _, event in self.store.events(run_id)]
        started = self.first_event(run_id)
        run = opened(started)
        require_replayable(run.run)
        numbers = await of_log(run, events)
        recorded = Recording.from_events(events)
        emit = tee(*followers.listeners)
        emit(started)
        generate = recording(replaying(recorded, pace=pace), emit, replayed=recorded.has)
        generate = as_recorded(generate, recorded, recalled=recalls(numbers))
        generate = hearing(generate, recorded, started)
        generate = tooled(generate, tools_of(run), started.seed, run.run.tooled_seats)
        place = partial(served, self._settings(), self.shared.http, None)
        context = RunContext(started.run_id, started.seed, generate, emit, self._clock, in_force(events), served=place)
        with behaving(numbers):
            result = await run.hooks.run(run.task, run.options, context)
            anew = run.hooks.read_anew(run.options)
        emit(RunFinished(state="finished", result=result))
        told = result_of(events)
        return Replayed(result, told and told | {name: result[name] for name in anew if name in told})

    def _taken_up(self, run: Prepared) -> Prepared:
        """Return a run that goes on from another with what it is to know of that one."""
        other: str = run.data()[0].get(run.hooks.follow, "")
        if not other:
            return run
        other = self.store.find(other)
        state, started = self.store.summary(other).state, self.first_event(other)
        result = result_of(event for _, event in self.store.events(other))
        parent = {"run_id": other, "state": state, "task": started.task, "result": result}
        return replace(run, task=run.hooks.take_up(run.task, parent))

    def first_event(self, run_id: str) -> RunStarted:
        """Return the first event of a run, which says what to do."""
        return first_event(event for _, event in self.store.events(run_id))

    async def _begin(self, job: Execution) -> Running:
        """Carry a run out in a task of its own; return when its log is open."""
        logged: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._carry_out(job, logged), name=f"run {job.started.run_id}")
        try:
            await asyncio.wait([task, logged], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait([task])
            raise
        if not logged.done():
            logged.cancel()
            await task
        return Running(job.started.run_id, task)

    def _reopened(self, run_id: str) -> RunLog:
        """Open a log again: where its end was written just now, as soon as whoever wrote it has let go of it."""
        for _ in range(_LOOKS):
            with suppress(StoreBusy):
                return self.store.reopen(run_id)
            if self.store.summary(run_id).state == "running":
                break
            time.sleep(_LOOK_S)
        return self.store.reopen(run_id)

    async def _carry_out(self, job: Execution, logged: asyncio.Future[None]) -> Outcome:
        measuring = instruments()
        async with AsyncExitStack() as stack:
            relay = LateEmit()
            events: list[Event] = []
            log: RunLog | None = None
            settings, terms, answers = job.settings, job.terms, job.answers
            if job.resumed:
                log = await _opened(self._reopened, job.started.run_id, stack)
                events = [event for _, event in self.store.events(job.started.run_id)]
                terms = job.terms.over(in_force(events))
                settings = terms.settings(beside_panel(self._settings(), job.run.run, job.run.options))
                answers = Recording.from_events(events)
            reached = await model_of(job, settings, terms, events, relay, self.shared, stack)
            tools = tools_of(job.run)
            programs: dict[str, Call] = {}
            answering = beside(reached.generate, tools, programs)
            if log is None:
                log = await _opened(self.store.start, job.started, stack)
            heard, words = tee(*job.followers.listeners), job.followers.words
            for event in events or [job.started]:
                heard(event)
            watched = [heard] if words is None else [heard, words]
            if measuring is not None:
                watched.append(measuring.run(job.started))
            emit = relay.target = told_when_kept(log.emit, tee(*watched))
            # A run that has ended hears no more of its endpoints, whose pauses others bring about, too.
            stack.callback(setattr, relay, "target", None)
            if job.resumed:
                emit(RunResumed(finished_calls=len(answers), terms=job.terms.data()))
            if job.before is not None:
                # Whoever goes on with this run has its log alone to know it from.
                emit(moved(job.before))
            logged.set_result(None)
            who = who_of(job, reached)
            answered = replaying(answers, answering)
            recorded = recording(answered, emit, replayed=answers.has_reply, who=who, budget=reached.budget)
            if len(answers):
                recorded = as_recorded(recorded, answers, recalled=recalls(job.numbers))
            seed = job.started.seed
            recorded = tooled(hearing(recorded, answers, job.started), tools, seed, job.run.run.tooled_seats)
            place = partial(served, settings, self.shared.http, job.model)
            context = RunContext(
                log.run_id, seed, recorded, emit, self._clock, terms, reached.local, reached.window, place, programs
            )
            with behaving(job.numbers):
                return await carry_through(job.run, context)


async def _opened(open_log: Callable[[T], RunLog], what: T, stack: AsyncExitStack) -> RunLog:
    """Open a log in a thread, and have it closed with ``stack``, also where nobody waits for it any more."""
    opening = asyncio.create_task(asyncio.to_thread(open_log, what))

    async def close() -> None:
        await asyncio.wait([opening])
        if opening.exception() is None:
            await opening.result().aclose()

    stack.push_async_callback(close)
    return await asyncio.shield(opening)
