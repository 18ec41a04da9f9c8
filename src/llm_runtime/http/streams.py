"""Bytes of a streamed answer into events: server-sent events, and one JSON value a line."""

from __future__ import annotations

from typing import Final, NamedTuple

_BOM = b"\xef\xbb\xbf"


class StreamEvent(NamedTuple):
    """One event: the name that the server gave it, mostly none, and its data."""

    name: bytes
    data: bytes


class _Lines:
    """Cuts chunks into lines, whichever of the three line ends is used and wherever a chunk ends."""

    __slots__ = ("_after_cr", "_pending", "_started", "size")

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._started = False
        self._after_cr = False
        #: Bytes of the line that is not ended yet.
        self.size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._pending.append(chunk)
            self.size += len(chunk)
            return []
        if self._pending:
            # Joined once a line, so that many small chunks of a long line are not copied over and over.
            chunk = b"".join((*self._pending, chunk))
            self._pending.clear()
        lines = chunk.split(b"\n")
        if rest := lines.pop():
            self._pending.append(rest)
        self.size = len(rest)
        if not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(_BOM)
        return lines

    def rest(self) -> bytes:
        """Return the line that no line end followed."""
        return b"".join(self._pending)


class EventStream:
    """Server-sent events (WHATWG HTML, "Server-sent events"): feed it chunks as they come.

    An event that the end of the stream cuts is not lost: servers leave out the last empty line. ``id`` and
    ``retry`` are of no use here, since a call is never resumed.

    Args:
        max_bytes: of one event; a longer one sets :attr:`overflow`, and nothing is read any more.
    """

    __slots__ = ("_data", "_lines", "_max_bytes", "_name", "_size", "overflow")

    def __init__(self, max_bytes: int) -> None:
        self._lines = _Lines()
        self._max_bytes: Final = max_bytes
        self._name = b""
        self._data: list[bytes] = []
        self._size = 0
        self.overflow = False

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """Return the events that ``chunk`` completes."""
        events: list[StreamEvent] = []
        for line in self._lines.feed(chunk):
            if line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
                self._size += len(line)
                if self._size > self._max_bytes:
                    self.overflow = True
                    return events
            elif not line:
                if self._data:
                    events.append(self._event())
                self._name = b""
            elif line.startswith(b"event:"):
                self._name = line[6:].strip()
            elif line == b"data":
                self._data.append(b"")
        self.overflow = self._size + self._lines.size > self._max_bytes
        return events

    def close(self) -> list[StreamEvent]:
        """Return the event that the end of the stream completes, if there is one."""
        return [*self.feed(b"\n\n")]

    def _event(self) -> StreamEvent:
        data = self._data
        event = StreamEvent(self._name, data[0] if len(data) == 1 else b"\n".join(data))
        self._data = []
        self._size = 0
        return event


class LineStream:
    """One JSON value a line (NDJSON); empty lines mean nothing. The same interface as :class:`EventStream`."""

    __slots__ = ("_lines", "_max_bytes", "overflow")

    def __init__(self, max_bytes: int) -> None:
        self._lines = _Lines()
        self._max_bytes: Final = max_bytes
        self.overflow = False

    def feed(self, chunk: bytes) -> list[StreamEvent]:
        """Return the lines that ``chunk`` completes."""
        lines = self._lines.feed(chunk)
        self.overflow = self._lines.size > self._max_bytes or any(len(line) > self._max_bytes for line in lines)
        return [] if self.overflow else [StreamEvent(b"", line) for line in lines if line.strip()]

    def close(self) -> list[StreamEvent]:
        """Return the last line, where no line end followed it."""
        return self.feed(b"\n")
