"""What there is to read in a run store: lists of runs, their logs, their names."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import ClassVar, Literal, TypeAlias

from llm_runtime.errors import RunNotFound
from llm_runtime.events import Event, Record, RunResumed
from llm_runtime.store.database import SQL, Database
from llm_runtime.store.packing import BEGINS, Unpacker
from llm_runtime.store.reading import read_event
from llm_runtime.store.summary import RunState, RunSummary

#: Records, and runs, that are read at once.
_BATCH = 256
_PAGE = 64
_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 20

Order: TypeAlias = Literal["newest", "dearest", "longest", "calls"]
_ORDERS: dict[Order, str] = {
    "newest": "r.started_at",
    "dearest": "coalesce(l.cost, 0)",
    "longest": "coalesce(l.at - r.started_at, 0)",
    "calls": "coalesce(l.calls, 0)",
}


class RunReader(ABC):
    """The reading half of a run store; safe from any thread.

    Args:
        place: what messages call it.

    Attributes:
        reader: the database to read in.
    """

    #: The last record of each of the runs ``r``, as ``l``: a summary is its sums.
    last_records: ClassVar[str]
    #: The records of a run behind one of them (values: number of the run, place), and what orders them.
    behind: ClassVar[str]
    in_order: ClassVar[str]
    #: A record by its run's number, its place, its time and its digest.
    this_one: ClassVar[str]
    #: The runs whose words match (value: what :meth:`_pattern` makes).
    with_words: ClassVar[str]

    reader: Database

    def __init__(self, place: str) -> None:
        self._place = place

    @abstractmethod
    def _held(self, run_id: str) -> bool:
        """Tell whether a live process, this one included, holds the run."""

    @abstractmethod
    def _write_out(self, run_id: str) -> None:
        """Let whoever reads here see all that was emitted here."""

    @abstractmethod
    def _pattern(self, words: Sequence[str]) -> str:
        """Return what the database looks for: runs that have every word, or one that begins so."""

    def runs(
        self, *, protocol: str | Sequence[str] | None = None, search: str | None = None,
        state: RunState | None = None, tag: str | None = None, apart: Sequence[str] = (),
        among: Sequence[str] | None = None, order: Order = "newest", limit: int = 50, before: str | None = None,
    ) -> list[RunSummary]:  # fmt: skip
        """Return runs, newest first or in another order.

        Args:
            protocol: only those of this kind, or of one of these.
            search: only those whose title or id contains this text, in either case (ASCII), or that have all words
                of it, as far as :func:`~llm_runtime.store.searching.index_runs` has taken them.
            state: only those in this state.
            tag: only those that have it.
            apart: what the ids of runs that are left out begin with; all of one length.
            among: only those that have one of these tags; ``None`` for all.
            order: what comes first.
            limit: at most so many.
            before: only those behind the run of this id: the last one of the page before.
        """
        conditions: dict[str, Sequence[object]] = {}  # with their values
        if protocol is not None:
            names = [protocol] if isinstance(protocol, str) else protocol
            conditions[f"r.protocol IN ({', '.join('?' * len(names))})"] = names
        if search:
            ways = {"instr(lower(r.title), lower(?)) > 0": search, "instr(r.run_id, lower(?)) > 0": search}
            if words := _WORD.findall(search)[:_MOST_WORDS]:
                ways[f"r.run IN ({self.with_words})"] = self._pattern(words)
            conditions[f"({' OR '.join(ways)})"] = list(ways.values())
        if tag is not None:
            conditions["r.run_id IN (SELECT run_id FROM tags WHERE tag = ?)"] = [tag]
        if among is not None:
            listed = ", ".join("?" * len(among))
            conditions[f"r.run_id IN (SELECT run_id FROM tags WHERE tag IN ({listed}))"] = among
        if apart:
            conditions[f"substr(r.run_id, 1, {len(apart[0])}) NOT IN ({', '.join('?' * len(apart))})"] = apart
        if state is not None:
            conditions["l.ending = ?"] = ["open" if state in ("running", "interrupted") else state]
        key, runs = _ORDERS[order], list[RunSummary]()
        while len(runs) < limit:
            # A page at a time: whether a run is held is not known to the table.
            paged = dict(conditions)
            if before is not None:
                last = f"SELECT {key}, r.run FROM runs r {self.last_records} WHERE r.run_id = ?"
                paged[f"({key}, r.run) < ({last})"] = [before]
            where = f"WHERE {' AND '.join(paged)}" if paged else ""
            ordered = f"ORDER BY {key} DESC, r.run DESC"
            # Which they are is found out first: what a summary shows lies behind bodies, which are long to pass by.
            query = f"SELECT r.run FROM runs r {self.last_records} {where} {ordered} LIMIT ?"
            rows = self._summaries(f"WHERE r.run IN ({query}) {ordered}", (*chain.from_iterable(paged.values()), _PAGE))
            runs += [summary for summary in rows if state is None or summary.state == state]
            if len(rows) < _PAGE:
                break
            before = rows[-1].run_id
        return runs[:limit]

    def summary(self, run_id: str) -> RunSummary:
        """Return one run's line. Raises :class:`~llm_runtime.errors.RunNotFound`."""
        self._write_out(run_id)
        rows = [] if "\0" in run_id else self._summaries("WHERE r.run_id = ?", (run_id,))
        if not rows:
            raise _not_found(run_id)
        return rows[0]

    def records(self, run_id: str, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Yield the log from ``seq > after`` on, at most ``limit`` records, in constant memory.

        Another process may be writing: what it has appended when the iterator gets there is seen.
        """
        run = self._run(run_id)
        self._write_out(run_id)
        query = f"SELECT seq, at, body, digest FROM records WHERE {self.behind} ORDER BY {self.in_order} LIMIT ?"
        unpacker = Unpacker()
        left = limit
        while left is None or left > 0:
            count = _BATCH if left is None else min(left, _BATCH)
            rows = self.reader.execute(query, (run, after, count))
            for seq, at, stored, digest in rows:
                if unpacker.lacks(stored):
                    self._read_before(run, seq, unpacker)
                yield Record(seq, at, unpacker.unpack(stored), digest)
            if len(rows) < count:
                return
            after = rows[-1][0]
            left = None if left is None else left - count

    def _read_before(self, run: int, seq: int, unpacker: Unpacker) -> None:
        """Unpack what the record at a place refers to: all from where its stream begins."""
        of_run = f"FROM records WHERE {self.behind} AND seq < ?"
        begins = f"SELECT seq {of_run} AND substr(body, 1, 1) IN (?, ?) ORDER BY {self.in_order} DESC LIMIT 1"
        for (first,) in self.reader.execute(begins, (run, 0, seq, *BEGINS)):
            query = f"SELECT body {of_run} ORDER BY {self.in_order}"
            for (stored,) in self.reader.execute(query, (run, first - 1, seq)):
                unpacker.unpack(stored)

    def idle(self, run_id: str) -> int:
        """Return for how many milliseconds nobody carried a run out before it was resumed, each time a minute or more.

        Few records are read for it, however long the log is.
        """
        query = SQL["silences"].format(behind=self.behind, in_order=self.in_order)
        silences = self.reader.execute(query, (self._run(run_id), 0))
        ended_by = ((silent, read_event(next(self.records(run_id, seq - 1, 1)))) for seq, silent in silences)
        return sum(silent for silent, event in ended_by if isinstance(event, RunResumed))

    def events(self, run_id: str, after: int = 0) -> Iterator[tuple[Record, Event]]:
        """Return the same, with each record's event."""
        for record in self.records(run_id, after):
            yield record, read_event(record)

    def find(self, prefix: str) -> str:
        """Return the id of the one run whose id begins with ``prefix``; of the newest for ``"latest"``.

        Raises:
            RunNotFound: there is none, or there are several.
        """
        if prefix == "latest":
            newest = self.runs(limit=1)
            if not newest:
                raise RunNotFound(f"there are no runs yet in {self._place}")
            return newest[0].run_id
        # A run that is gone altogether has its head, and can be asked about.
        rows = [] if "\0" in prefix else self.reader.execute(SQL["find"], (len(prefix), prefix, prefix))
        ids = [str(row[0]) for row in rows]
        if not ids or not prefix:
            raise _not_found(prefix)
        if len(ids) > 1 and ids[0] != prefix:
            raise RunNotFound(f"several runs begin with {prefix}: {', '.join(ids[:2])}, ...; give more of the id")
        return ids[0]

    def totals(self) -> list[tuple[str, str, list[int]]]:
        """Return all runs added up, by protocol and ending (``"open"`` where the log has none).

        Each with the number of runs, calls, input and output tokens, micro-dollars, and micro-dollars that nobody
        knows the end of.
        """
        rows = self.reader.execute(SQL["totals"].format(last_records=self.last_records))
        return [(str(protocol), str(ending), [int(each) for each in sums]) for protocol, ending, *sums in rows]

    def _exists(self, run_id: str) -> bool:
        return "\0" not in run_id and bool(self.reader.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)))

    def _run(self, run_id: str) -> int:
        if not self._exists(run_id):
            raise _not_found(run_id)
        return int(self.reader.execute("SELECT run FROM runs WHERE run_id = ?", (run_id,))[0][0])

    def _summaries(self, which: str, values: Sequence[object]) -> list[RunSummary]:
        rows = self.reader.execute(SQL["summaries"].format(last_records=self.last_records, which=which), values)
        return [self._summary(RunSummary(*row)) for row in rows]

    def _summary(self, row: RunSummary) -> RunSummary:
        state: RunState = row.state
        if state not in ("finished", "stopped", "failed"):
            state = "running" if self._held(row.run_id) else "interrupted"
        return replace(row, state=state, cost_unknown=bool(row.cost_unknown))


def _not_found(run_id: str) -> RunNotFound:
    return RunNotFound(f"there is no run {run_id[:80]!r}; list the runs to see their ids")
