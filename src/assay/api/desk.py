"""Runs that programs asked for: one for each request, however often it is sent; and what becomes of those left."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

from assay.api.keys import ApiKey
from assay.launch import PerRun
from assay.registry import Prepared, opened
from assay.terms import Terms, in_force
from assay.web.live_runs import LiveRuns
from assay.web.questions import Questions
from assay.web.running import ActiveRuns
from llm_runtime.canonical import canonical_json
from llm_runtime.clock import now_ms
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.store import RunStore, RunSummary, valid_run_id
from llm_runtime.structs import Struct

#: Seconds for which a run goes on although nobody waits for it any more, and those in which the same request is
#: answered by the run that has just ended.
GRACE_S = 120.0
REPEATED_S = 60.0
#: The same where the request has a key of its own for that.
REPEATED_BY_KEY_S = 24 * 3600.0


class Order(Struct):
    """A run that is wanted.

    Args:
        run: what is to be done.
        terms: on what terms.
        name: as :func:`order_name` makes it.
        key: of the program; ``None`` for whoever has the launch's token.
        seed: of the run, where it is set.
        fresh_s: seconds for which the answer of the same request is given again.
    """

    run: Prepared
    terms: Terms
    name: str
    key: ApiKey | None = None
    seed: int | None = None
    fresh_s: float = REPEATED_S


def order_name(key: ApiKey | None, data: Any) -> str:
    """Return the name of an order: whose it is, and what the same order has again; 24 letters and digits."""
    return _owner(key) + _digest(data, 16)


def _owner(key: ApiKey | None) -> str:
    return _digest(key.whose if key else "", 8)


def _digest(data: Any, length: int) -> str:
    return hashlib.sha256(canonical_json(data)).hexdigest()[:length]


@dataclass(slots=True)
class Desk:
    """Takes orders in one store.

    Args:
        store: where runs are kept.
        hub: follows them, whichever process carries them out.
        runs: carries them out.
        questions: what they ask a person.
        grace_s: see :data:`GRACE_S`.
    """

    store: RunStore
    hub: LiveRuns
    runs: ActiveRuns
    questions: Questions
    grace_s: float = GRACE_S
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: Counter[str] = field(default_factory=Counter[str])
    _leaving: dict[str, asyncio.TimerHandle] = field(default_factory=dict[str, asyncio.TimerHandle])
    _stopping: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary[str, asyncio.Lock])

    async def take(self, order: Order) -> str:
        """Return the run that answers an order: the one under way, the one that broke off, or a new one.

        Raises:
            LlmRuntimeError: it could not begin; nothing was stored.
        """
        async with self._turns.setdefault(order.name, asyncio.Lock()):
            for number in count(1):
                run_id = f"api-{order.name}-{number}"
                await self._kept(run_id)
                summary = await asyncio.to_thread(self._summary, run_id)
                if summary is None:
                    model = await self._model(order, order.run, order.terms)
                    return await self.runs.start(order.run, order.terms, seed=order.seed, run_id=run_id, model=model)
                age = (now_ms() - summary.updated_at) / 1000
                if summary.state == "running" or (summary.state == "finished" and age < order.fresh_s):
                    return run_id
                # What was stopped has paid answers. What failed is asked again only by a client that tries again.
                if summary.state in ("stopped", "interrupted") or (summary.state == "failed" and age < REPEATED_S):
                    terms = in_force(event for _, event in self.store.events(run_id))
                    run = opened(self.hub.watch(run_id).started)
                    return await self.runs.resume(run_id, Terms(), model=await self._model(order, run, terms))
        raise AssertionError("numbers do not end")

    def own(self, run_id: str, key: ApiKey | None) -> str:
        """Return the id of a run that a key may see: those that it began; the launch's token sees all.

        Raises:
            RunNotFound: there is none such.
        """
        if not valid_run_id(run_id) or (key is not None and not run_id.startswith(f"api-{_owner(key)}")):
            raise RunNotFound(f"there is no run {run_id[:80]} here")
        return self.store.summary(run_id).run_id

    async def _kept(self, run_id: str) -> None:
        """Keep a run from being stopped because all had left; where it is being stopped, wait until it is."""
        if timer := self._leaving.pop(run_id, None):
            timer.cancel()
        if task := self._stopping.get(run_id):
            await asyncio.wait([task])

    def _summary(self, run_id: str) -> RunSummary | None:
        with suppress(RunNotFound):
            return self.store.summary(run_id)
        return None

    async def _model(self, order: Order, run: Prepared, terms: Terms) -> PerRun | None:
        return None if order.key is None else await self.runs.within(order.key.allowance, terms, run)

    @contextmanager
    def waiting(self, run_id: str, key: ApiKey | None = None) -> Generator[None]:
        """Count somebody who waits for a run. Some time after the last has left it is stopped, to be gone on with
        when the request comes again; runs of a key for the background go on."""
        self._waiting[run_id] += 1
        if timer := self._leaving.pop(run_id, None):
            timer.cancel()
        try:
            yield
        finally:
            self._waiting[run_id] -= 1
            if not self._waiting[run_id]:
                del self._waiting[run_id]
                if not (key and key.background) and self.runs.owns(run_id):
                    self._leaving[run_id] = asyncio.get_running_loop().call_later(self.grace_s, self._left, run_id)

    def _left(self, run_id: str) -> None:
        self._leaving.pop(run_id, None)
        task = self._stopping[run_id] = asyncio.create_task(self._stop(run_id), name=f"stop {run_id}")
        task.add_done_callback(lambda _: self._stopping.pop(run_id, None))

    async def _stop(self, run_id: str) -> None:
        with suppress(ConfigurationError):  # it has ended meanwhile
            await self.runs.stop(run_id)

    async def aclose(self) -> None:
        """Let everything go; the runs are stopped by whoever carries them out."""
        for timer in self._leaving.values():
            timer.cancel()
