"""The line before a purse that has not room for all: earlier jobs go first, and keep room for what they need."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from assay.batch.ledger import Claim
from assay.batch.pacing import Pace
from llm_runtime.wrappers.accounts import NOTHING, Spend


@dataclass(order=True, slots=True)
class QueuePlace:
    """Where a call stands: by its job's place in the input, then by when it came. Ready while it may ask.

    ``opened`` says how often the batch had been opened when its job was claimed: its budget may have grown since.
    """

    order: tuple[int, ...]
    number: int
    opened: int = field(compare=False, default=0)
    ready: asyncio.Event = field(compare=False, default_factory=asyncio.Event)


class WaitingLine:
    """Calls of one worker that wait for room, and what its jobs took; empty as long as there is room for all.

    Args:
        pace: what a job takes.

    Attributes:
        changes: how often something may have made room.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.changes = 0
        self._waiting: list[QueuePlace] = []
        self._numbers = count()
        self._taken: dict[tuple[int, ...], Spend] = {}
        self._largest = NOTHING
        self._last: QueuePlace | None = None

    @contextmanager
    def job(self, claim: Claim) -> Generator[None]:
        """Leave room for what ``claim`` still needs, for the block."""
        self._taken[claim.order] = NOTHING
        try:
            yield
        finally:
            del self._taken[claim.order]
            self.call()

    @contextmanager
    def place(self, claim: Claim | None) -> Generator[QueuePlace]:
        """Give a call on behalf of ``claim`` a place for the block; it stands in the line once it has to wait."""
        place = QueuePlace(() if claim is None else claim.order, next(self._numbers), claim.opened if claim else 0)
        place.ready.set()
        try:
            yield place
        finally:
            self.leave(place)

    async def turn(self, place: QueuePlace) -> None:
        """Wait until ``place`` may ask: nobody before it waits, and something changed since it was refused."""
        if self.is_behind(place):
            self.join(place)
        await place.ready.wait()

    def is_behind(self, place: QueuePlace) -> bool:
        """Tell whether an earlier call waits. May be asked from any thread."""
        return next(iter(self._waiting), place) < place

    def may_change(self, place: QueuePlace) -> bool:
        """Tell whether earlier jobs may yet make room for ``place``, or wait for some."""
        return self.is_behind(place) or any(order < place.order for order in self._taken)

    def is_over(self, place: QueuePlace) -> bool:
        """Tell whether there was no room at all for a job before: what is left is not for later ones."""
        last = self._last
        return last is not None and last.opened == place.opened and last.order < place.order

    def end(self, place: QueuePlace) -> None:
        """Note that there is no room for ``place``, whatever others give back."""
        self._last = min(self._last or place, place, key=lambda one: (-one.opened, one.order))

    def beside(self, place: QueuePlace, hold: Spend) -> Spend:
        """Return what has to be left for jobs before: what each may still take, and room for the largest call."""
        self._largest = self._largest.or_more(hold)
        earlier = [taken for order, taken in self._taken.items() if order < place.order]
        if not earlier:
            return NOTHING
        left = self._largest
        for taken in earlier:
            left = left.plus(self._pace.one.or_more(taken).less(taken))
        return left

    def moved(self, claim: Claim | None, took: Spend) -> None:
        """Count what a job took, or holds; less than nothing where it holds something no more."""
        if claim is not None and claim.order in self._taken:
            self._taken[claim.order] = self._taken[claim.order].plus(took)

    def join(self, place: QueuePlace, *, ready: bool = False) -> None:
        """Let ``place`` stand in the line: until it is called, or ``ready`` to ask again at once."""
        if place not in self._waiting:
            insort(self._waiting, place)
        if not ready:
            place.ready.clear()

    def leave(self, place: QueuePlace) -> None:
        """Let the next one ask, if ``place`` stood in the line."""
        if place in self._waiting:
            self._waiting.remove(place)
            self.call()

    def call(self) -> None:
        """Let the first one ask: there may be room."""
        self.changes += 1
        if self._waiting:
            self._waiting[0].ready.set()
