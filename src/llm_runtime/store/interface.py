"""What a run store is, whatever stands behind it: the protocols and the data they pass."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from llm_runtime.events import Event, Record, RunStarted
from llm_runtime.store.anchor import Head, Heads

RunState: TypeAlias = Literal["running", "interrupted", "finished", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of a list of runs.

    Args:
        run_id: the name of the run in this store.
        protocol: the import package of its protocol.
        title: one line for lists.
        state: how it ended; ``"running"`` while a live process holds it, ``"interrupted"`` where none does.
        origin: ``"live"``, ``"demo"`` or ``"replay"``.
        started_at: of its first event, in milliseconds since the Unix epoch.
        updated_at: of its last event, likewise.
        parent: the run it was forked from, or empty.
        events: length of its log.
        calls: finished calls that a model answered; answers out of a recording do not count, here and below.
        input_tokens: sum over those calls.
        output_tokens: likewise.
        cost: micro-dollars, of the calls whose price is known.
        cost_unknown: true where the price of at least one call is not known.
        unknown: micro-dollars that attempts may have taken besides, of which nobody knows the end.
    """

    run_id: str
    protocol: str
    title: str
    state: RunState
    origin: str
    started_at: int
    updated_at: int
    parent: str
    events: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int
    cost_unknown: bool
    unknown: int = 0


class RunLog(Protocol):
    """The one writer of a run. It holds the run's lock for as long as it lives."""

    @property
    def run_id(self) -> str: ...

    @property
    def length(self) -> int:
        """Records in the log."""
        ...

    @property
    def digest(self) -> bytes:
        """Digest of the last record."""
        ...

    def emit(self, event: Event) -> Awaitable[None]:
        """Append ``event``. What this returns, awaited, has it on disk: killing the process no longer loses it.

        In an event loop, what is not awaited is written some milliseconds later, together with others; events are
        on disk in order, an answer never without its call. Without a running event loop it is there on return.

        Raises, at once or where it is awaited:
            StoreError: it, or one before it, could not be written yet; the next write takes what waits along.
            ValueError: the log is closed.
        """
        ...

    def close(self) -> None:
        """Write what waits, sign the head and let the run go. A second call does nothing.

        Raises:
            StoreError: something could not be written; the run is let go all the same.
        """
        ...

    async def aclose(self) -> None:
        """Do what :meth:`close` does, without stopping the event loop for it."""
        ...


class RunStore(Protocol):
    """Where runs are kept."""

    @property
    def heads(self) -> Heads:
        """The signed heads, kept apart from the logs."""
        ...

    def start(self, started: RunStarted) -> RunLog:
        """Open a new run, whose first event is ``started``.

        Raises:
            ValueError: its id is not one (:func:`~llm_runtime.store.ids.valid_run_id`).
            StoreError: a run by that id exists, or the store cannot be written.
        """
        ...

    def reopen(self, run_id: str) -> RunLog:
        """Go on with a run.

        Raises:
            RunNotFound: there is none by that id.
            StoreBusy: another live process, or another log of this one, holds it.
            StoreDamaged: its log is not the one that was written.
        """
        ...

    def runs(
        self,
        *,
        protocol: str | Sequence[str] | None = None,
        search: str | None = None,
        state: RunState | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[RunSummary]:
        """Return runs, newest first.

        Args:
            protocol: only those of this kind, or of one of these.
            search: only those whose title or id contains this text, in either case (ASCII).
            state: only those in this state.
            limit: at most so many.
            before: only those older than the run of this id: the last one of the page before.
        """
        ...

    def summary(self, run_id: str) -> RunSummary:
        """Return one run's line. Raises :class:`~llm_runtime.errors.RunNotFound`."""
        ...

    def records(self, run_id: str, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Yield the log from ``seq > after`` on, at most ``limit`` records, in constant memory.

        Another process may be writing: what it has appended when the iterator gets there is seen.
        """
        ...

    def events(self, run_id: str, after: int = 0) -> Iterator[tuple[Record, Event]]:
        """Return the same, with each record's event."""
        ...

    def find(self, prefix: str) -> str:
        """Return the id of the one run whose id begins with ``prefix``; of the newest for ``"latest"``.

        Raises:
            RunNotFound: there is none, or there are several.
        """
        ...

    def adopt(self, run_id: str, records: Iterable[Record], head: Head | None = None) -> None:
        """Take over a whole log as it is: all of it, or nothing where ``records`` raises.

        Args:
            run_id: its name here.
            records: the log; the first one holds a ``run.started``.
            head: what of it is vouched for; signed with this store's key.
        """
        ...

    def delete(self, run_id: str) -> None:
        """Remove a run and its head. Raises ``RunNotFound``, or ``StoreBusy`` while somebody writes it."""
        ...

    def close(self) -> None:
        """Let go of the store; logs still open are closed first."""
        ...
