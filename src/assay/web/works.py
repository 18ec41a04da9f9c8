"""The runs that this process carries out: started, resumed, forked and stopped from the pages."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from assay import __version__, launch
from assay.demo.openings import Opening
from assay.launch import Outcome
from assay.runners import require_unbound, runner
from assay.web.desk import Desk
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Emit, Event, RunStarted
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.replay import Recording
from llm_runtime.settings import Settings, merged
from llm_runtime.store import RunStore, new_run_id
from llm_runtime.wrappers.budgeted import Caps


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a run is to go: which models, and what it may spend.

    Args:
        model: for every call, as ``PROVIDER:MODEL``; empty leaves it to the configuration.
        seats: a model by role or phase.
        budget: dollars; ``None`` sets no bound. So for the rest.
        max_calls: model calls.
        deadline: seconds.
        max_tokens: upper bound of each answer.
    """

    model: str = ""
    seats: dict[str, str] = field(default_factory=dict[str, str])
    budget: float | None = None
    max_calls: int | None = None
    deadline: float | None = None
    max_tokens: int | None = None

    def caps(self) -> Caps | None:
        """The bounds, where there are any."""
        if self.budget is None and self.max_calls is None and self.deadline is None:
            return None
        cost = None if self.budget is None else round(self.budget * 1_000_000)
        return Caps(cost=cost, calls=self.max_calls, seconds=self.deadline)


class Works:
    """Runs under way in this process.

    Args:
        store: where they are kept.
        desk: where they ask a person.
        settings: reads the configuration; asked anew for each run, so that a key stored meanwhile counts.
    """

    def __init__(self, store: RunStore, desk: Desk, settings: Callable[[], Settings]) -> None:
        self._store = store
        self._desk = desk
        self._settings = settings
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}
        self.faults: dict[str, str] = {}
        """Why a run's task ended, by run id, where it ended with an error that its log could not take."""

    def owns(self, run_id: str) -> bool:
        """Whether this process carries the run out now."""
        return run_id in self._tasks

    async def start(
        self, protocol: str, title: str, task: dict[str, Any], settings: dict[str, Any], terms: Terms
    ) -> str:
        """Start a run; returns its id once its log is open. ``settings`` are the protocol's own.

        Raises:
            NoModelError, ConfigurationError, StoreError: it could not begin; nothing was stored.
        """
        runner(protocol)
        reached = self._merged(terms, {})
        started = RunStarted(
            run_id=_new_id(),
            protocol=protocol,
            title=title,
            task=task,
            settings={**settings, "models": _models(reached)},
            seed=secrets.randbelow(2**53),
            version=__version__,
        )
        return await self._begin(
            started.run_id,
            lambda sink: launch.start(
                started,
                self._store,
                reached,
                caps=terms.caps(),
                sinks=[sink],
                model=_own_model(protocol),
                person=self._desk.person(started.run_id),
            ),
        )

    async def play(self, recorded: Opening, speed: float = 1.0) -> str:
        """Play a recording through the real engine; returns the run's id once its log is open.

        Raises:
            StoreError: the log cannot be written.
        """
        started = RunStarted(
            run_id=_new_id(),
            protocol=recorded.protocol,
            title=recorded.title,
            task=recorded.task,
            settings=recorded.settings,
            seed=recorded.seed,
            origin="demo",
            version=__version__,
        )
        model = recorded.model(speed) if recorded.model else _nobody
        return await self._begin(
            started.run_id,
            lambda sink: launch.start(started, self._store, Settings(), sinks=[sink], model=model),
        )

    async def resume(self, run_id: str, terms: Terms) -> str:
        """Go on with a run; ``terms`` are laid over those that it began with.

        Raises:
            ConfigurationError: it is finished, or no runner knows its protocol.
            StoreBusy: another process carries it out.
            NoModelError, StoreError: as for :meth:`start`.
        """
        if self._store.summary(run_id).state == "finished":
            raise ConfigurationError("a finished run has nothing to go on with; fork it at an event instead")
        opened = self._opening(run_id)
        runner(opened.protocol)
        settings = self._merged(terms, opened.settings.get("models", {}))
        person = self._desk.person(run_id)
        model = _own_model(opened.protocol)
        if opened.origin == "demo":
            raise ConfigurationError("a recording that was stopped cannot go on; play it again from the start")
        return await self._begin(
            run_id,
            lambda sink: launch.resume(
                run_id, self._store, settings, caps=terms.caps(), sinks=[sink], model=model, person=person
            ),
        )

    async def fork(self, run_id: str, at: int, terms: Terms) -> str:
        """Start a run that shares the answers of another up to its event ``at``.

        Raises:
            ConfigurationError: the run has no such event, or works on something outside its log.
            NoModelError, StoreError: as for :meth:`start`.
        """
        length = self._store.summary(run_id).events
        if not 0 <= at <= length:
            raise ConfigurationError(f"run {run_id} has {length} events; there is no event {at} to fork at")
        parent = self._opening(run_id)
        runner(parent.protocol)
        require_unbound(parent.protocol)
        settings = self._merged(terms, parent.settings.get("models", {}))
        started = parent.model_copy(
            update={
                "run_id": _new_id(),
                "parent": run_id,
                "forked_at": at,
                "origin": "live",
                "version": __version__,
                "settings": {**parent.settings, "models": _models(settings)},
            }
        )
        recorded = Recording.from_events((event for _, event in self._store.events(run_id)), until=at)
        return await self._begin(
            started.run_id,
            lambda sink: launch.start(
                started,
                self._store,
                settings,
                caps=terms.caps(),
                sinks=[sink],
                recorded=recorded,
                person=self._desk.person(started.run_id),
            ),
        )

    async def stop(self, run_id: str) -> None:
        """Stop a run, which can be resumed later.

        Raises:
            ConfigurationError: this process does not carry it out.
        """
        task = self._tasks.get(run_id)
        if task is None:
            raise ConfigurationError("this run is not carried out by this server; stop it where it was started")
        task.cancel()
        await asyncio.wait([task])

    async def close(self) -> None:
        """Stop every run; each can be resumed."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _begin(self, run_id: str, work: Callable[[Emit], Coroutine[Any, Any, Outcome]]) -> str:
        if run_id in self._tasks:
            raise ConfigurationError("this run is under way")
        opened = asyncio.Event()

        def sink(event: Event) -> None:
            opened.set()

        self.faults.pop(run_id, None)
        task = self._tasks[run_id] = asyncio.create_task(work(sink), name=f"run {run_id}")
        task.add_done_callback(lambda done: self._ended(run_id, done))
        waiting = asyncio.create_task(opened.wait())
        try:
            await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if not opened.is_set():
            await task
        return run_id

    def _ended(self, run_id: str, task: asyncio.Task[Outcome]) -> None:
        self._tasks.pop(run_id, None)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.faults[run_id] = f"{type(fault).__name__}: {fault}"

    def _merged(self, terms: Terms, began: dict[str, Any]) -> Settings:
        settings = self._settings()
        seats = {**settings.config.seats, **began.get("seats", {}), **terms.seats}
        model = terms.model or began.get("model")
        return merged(settings, model=model, seats=seats, max_tokens=terms.max_tokens)

    def _opening(self, run_id: str) -> RunStarted:
        return launch.opening(event for _, event in self._store.events(run_id))


def _models(settings: Settings) -> dict[str, Any]:
    return {"model": settings.config.model, "seats": settings.config.seats}


def _new_id() -> str:
    return new_run_id(time.time_ns() // 1_000_000, random.SystemRandom())


def _own_model(protocol: str) -> Generate | None:
    """The model function of a protocol that reaches its models by itself; ``None`` for all others."""
    return _nobody if protocol == "trial" else None


async def _nobody(request: Request) -> Reply:
    raise ConfigurationError(f"nobody answers {request.label}: this run reaches its models by itself")
