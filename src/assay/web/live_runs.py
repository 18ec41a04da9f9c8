"""A run as this server follows it: folded from the store as it grows, whichever process writes it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import islice

from assay.registry import fold_for, standing
from assay.report.frame import headed
from assay.report.generic import GenericFold
from assay.report.run import RunFold, RunTotals
from assay.report.standing import RunStanding
from assay.report.story import Story
from assay.web.calls import CallLog
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import RunStarted, UnknownEvent
from llm_runtime.store import RunState, RunStore
from llm_runtime.structs import Struct

_LOOK_S = 0.04
"""Between two looks at a run that is being written: part of the 200 ms in which an event is to be seen."""
_GLANCE_S = 1.0
"""The same for a run that nobody writes, and for whether somebody does."""
_KEPT = 8
"""Runs that stay folded although nobody watches them, so that a page and its stream fold once."""


class EventLine(Struct):
    """An event in a list.

    Args:
        seq: its number.
        at: milliseconds since the epoch.
        type: as in the log.
        step: the step that it completed, in one line, or empty.
        about: which call it is about, or empty.
    """

    seq: int
    at: int
    type: str
    step: str = ""
    about: str = ""


class LiveRun:
    """One run, folded up to :attr:`seq`.

    Args:
        store: where it is.
        run_id: which it is.
    """

    def __init__(self, store: RunStore, run_id: str) -> None:
        self.run_id = run_id
        self.seq = 0
        self.version = 0
        """Counts up whenever something that a page shows has changed."""
        self.turns = 0
        """Counts up with the changes that a person waits for: a question, or how the run stands."""
        self.fold: RunFold = GenericFold()
        self.head = RunTotals()
        self.calls = CallLog()
        self.lines: list[EventLine] = []
        """Every event up to :attr:`seq`, in order."""
        self.fault: Exception | None = None
        self.viewers = 0
        self._store = store
        self._state: RunState = "running"
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def state(self) -> RunState:
        """How the run stands; ``"interrupted"`` where its log has no end and nobody writes it."""
        ended = self.head.state
        return self._state if ended == "running" else ended

    @property
    def standing(self) -> RunStanding:
        """How it stands, as every page says it."""
        return standing(self.head, self.state)

    def story(self) -> Story:
        """Return its report, with how it stands in its head."""
        return headed(self.fold.story(), self.standing)

    @property
    def started(self) -> RunStarted:
        """The first event of the log."""
        assert self.head.started is not None, "a log begins with run.started: the store sees to it"
        return self.head.started

    def catch_up(self) -> None:
        """Fold what the log has gained.

        Raises:
            RunNotFound: the run is gone.
            StoreDamaged: an event's data does not fit its type.
        """
        before = self.seq, self.state
        for record, event in self._store.events(self.run_id, self.seq):
            if isinstance(event, RunStarted):
                self.fold = fold_for(event.protocol)
            self.fold.apply(event, record.at)
            self.head.apply(event, record.at)
            self.calls.apply(record.seq, event, record.at)
            self.seq = record.seq
            step, about = self.fold.announce(event) or "", self.calls.about(event)
            kind = event.name if isinstance(event, UnknownEvent) else event.type
            self.lines.append(EventLine(record.seq, record.at, kind, step, about))
        if self.seq != before[0] or self._state != "running":
            self._look_for_writer()
        if self.state != before[1]:
            self.take_turn()
        elif self.seq != before[0]:
            self.touch()

    def take_turn(self) -> None:
        """Note that a question came or went, or that the run stands otherwise: pages show it at once."""
        self.turns += 1
        self.touch()

    def touch(self) -> None:
        """Note that something which the page shows has changed."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self, version: int, seconds: float) -> bool:
        """Wait until there is something newer than ``version``; ``False`` where ``seconds`` passed without."""
        if self.version != version:
            return True
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._changed.wait()
        return False

    def steps(self, most: int) -> list[EventLine]:
        """Return the latest events that completed a step, at most ``most``, oldest first."""
        return list(islice((line for line in reversed(self.lines) if line.step), most))[::-1]

    @contextmanager
    def viewed(self) -> Generator[None]:
        """Follow the run for as long as the block lasts, and any other of them."""
        self.viewers += 1
        if self._task is None:
            self._task = asyncio.create_task(self._follow(), name=f"follow {self.run_id}")
        try:
            yield
        finally:
            self.viewers -= 1
            if self.viewers == 0:
                self._task.cancel()
                self._task = None

    async def _follow(self) -> None:
        looks = 0
        while True:
            try:
                self.catch_up()
                if self.state == "running" and looks % round(_GLANCE_S / _LOOK_S) == 0:
                    self.glance()
            except Exception as fault:
                # Whatever is wrong with this run, or with its fold, ends the watching of it and nothing else.
                self.fault = fault
                self.touch()
                return
            looks += 1
            await asyncio.sleep(_LOOK_S if self.state == "running" else _GLANCE_S)

    def glance(self) -> None:
        """See whether somebody writes the run; one that has ended needs no look."""
        before = self.state
        self._look_for_writer()
        if self.state != before:
            self.take_turn()

    def _look_for_writer(self) -> None:
        if self.head.state == "running":
            self._state = self._store.summary(self.run_id).state


class LiveRuns:
    """The runs that are looked at, each folded once however many look."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._watches: OrderedDict[str, LiveRun] = OrderedDict()

    def watch(self, run_id: str) -> LiveRun:
        """Return a run, folded up to now.

        Raises:
            RunNotFound, StoreDamaged: as for :meth:`LiveRun.catch_up`.
        """
        watch = self._watches.get(run_id)
        if watch is None or watch.fault is not None:
            watch = self._watches[run_id] = LiveRun(self._store, run_id)
        self._watches.move_to_end(run_id)
        try:
            watch.catch_up()
            watch.glance()
        except LlmRuntimeError:
            del self._watches[run_id]
            raise
        self._forget()
        return watch

    def take_turn(self, run_id: str) -> None:
        """Tell whoever watches the run that a question came or went, or that it stands otherwise."""
        if watch := self._watches.get(run_id):
            watch.take_turn()

    def touch_all(self) -> None:
        """Wake whoever watches anything."""
        for watch in self._watches.values():
            watch.touch()

    def _forget(self) -> None:
        idle = [run_id for run_id, watch in self._watches.items() if not watch.viewers]
        for run_id in idle[:-_KEPT]:
            del self._watches[run_id]
