"""The journal ``.criticality/events.jsonl``: every event, one line each, appended before the state advances.

A line is ``{"seq", "timestamp", "event", "data", "digest"}``. ``event`` is one of the five names that telemetry
uses (specification, section 7.3 "Telemetry & Observability") where one fits. ``digest`` chains the lines, so a
changed or missing one is noticed. State, ledger and every artifact are folds over the journal: a crash loses at
most the line that was being written (CT4).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from llm_runtime.canonical import canonical_json
from llm_runtime.errors import StoreDamaged, StoreUnwritable
from llm_runtime.events import GENESIS, Event, chain_digest, link, parse_event
from llm_runtime.files import saying
from llm_runtime.rewording import instead
from llm_runtime.toml import own_table

Clock = Callable[[], int]
"""Milliseconds since the Unix epoch."""

#: The specification's names of events, where it has one.
_NAMES: dict[str, str] = own_table("criticality.project", "names.toml")


def iso(at: int) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Journal:
    """An open journal. :meth:`append` has written to the disk when it returns.

    Args:
        path: the file; made where there is none.
        clock: stamps each line.

    ``seq`` is how many lines there are so far.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path, self._clock = path, clock
        self.seq, self._digest = 0, GENESIS
        self._file: int | None = None

    def open(self) -> list[tuple[int, Event]]:
        """Everything in it, with the time of each; a last line that was cut by a crash is taken off.

        Raises:
            StoreDamaged: a line is not what was written there.
            StoreUnwritable: the file cannot be opened.
        """
        events, good, self.seq, self._digest = _read(self.path)
        with saying(f"{self.path.name} cannot be opened", StoreUnwritable):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            if os.fstat(self._file).st_size != good:
                os.ftruncate(self._file, good)
        return events

    def append(self, event: Event) -> int:
        """Write one event; returns its time.

        Raises:
            StoreUnwritable: the disk is full or fails; nothing of the line stays.
        """
        assert self._file is not None, "open() comes first"
        entry = link(self._digest, self.seq + 1, self._clock(), event)
        name = _NAMES.get(event.type, event.type)
        line = b'{"seq":%d,"timestamp":"%s","event":"%s","data":%s,"digest":"%s"}\n' % (
            entry.seq, iso(entry.at).encode(), name.encode(), entry.body, entry.digest.hex().encode(),
        )  # fmt: skip
        size = os.fstat(self._file).st_size
        try:
            view = memoryview(line)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except OSError as fault:
            os.ftruncate(self._file, size)
            raise StoreUnwritable(
                f"{self.path.name} cannot be written: {fault.strerror}; free the disk, then: criticality resume"
            ) from None
        self.seq, self._digest = entry.seq, entry.digest
        return entry.at

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def read_journal(path: Path) -> list[tuple[int, Event]]:
    """Everything in a journal, without opening it for writing.

    Raises:
        StoreDamaged: a line is not what was written there.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[list[tuple[int, Event]], int, int, bytes]:
    events: list[tuple[int, Event]] = []
    seq, digest, good = 0, GENESIS, 0
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return events, good, seq, digest
    except OSError as fault:
        raise StoreDamaged(f"{path.name} cannot be read: {fault.strerror}") from None
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        event, at, digest = _line(path, number, line, digest)
        events.append((at, event))
        seq, good = number, good + len(line) + 1
    return events, good, seq, digest


def _line(path: Path, number: int, line: bytes, previous: bytes) -> tuple[Event, int, bytes]:
    damaged = StoreDamaged(
        f"{path.name}, line {number} is not what was written there; restore the file, or cut it before that "
        "line and resume"
    )
    with instead(damaged, ValueError, KeyError, TypeError, RecursionError):
        entry = cast("dict[str, Any]", json.loads(line))
        event = parse_event(entry["data"])
        at = round(datetime.fromisoformat(entry["timestamp"]).timestamp() * 1000)
        # Over what stands there, not over what this version would write: events gain fields in time.
        digest = chain_digest(previous, number, at, canonical_json(entry["data"]))
    if entry.get("seq") != number or digest.hex() != entry.get("digest"):
        raise damaged
    return event, at, digest
