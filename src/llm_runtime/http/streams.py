"""Bytes of a streamed answer into events: server-sent events, and one JSON value a line."""

from __future__ import annotations

from typing import ClassVar, Final, TypeAlias

_BOM = b"\xef\xbb\xbf"
_COLON = ord(":")

StreamEvent: TypeAlias = tuple[bytes, bytes]
"""One event: the name that the server gave it, mostly none, and its data."""


class _Parts:
    """Cuts chunks into parts, whichever of the three line ends is used and wherever a chunk ends.

    Args:
        max_bytes: of one part; a longer one sets :attr:`overflow`.
    """

    #: What ends a part: one line feed, or two.
    _end: ClassVar[bytes]
    __slots__ = ("_after_cr", "_max_bytes", "_pending", "_size", "_started", "overflow")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes: Final = max_bytes
        self._pending: list[bytes] = []
        self._size = 0
        self._started = False
        self._after_cr = False
        self.overflow = False

    def feed(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        pending = self._pending
        self._size += len(chunk)
        in_two = bool(pending) and chunk.startswith(b"\n") and pending[-1].endswith(b"\n")
        if self._end not in chunk and not in_two:
            pending.append(chunk)
            self.overflow = self._size > self._max_bytes
            return []
        if pending:
            # Joined once a part, so that many small chunks of a long one are not copied over and over.
            chunk = b"".join((*pending, chunk))
            pending.clear()
        *parts, rest = chunk.split(self._end)
        if rest:
            pending.append(rest)
        if self._size > self._max_bytes:
            self.overflow = any(len(part) > self._max_bytes for part in (*parts, rest))
        self._size = len(rest)
        if parts and not self._started:
            self._started = True
            parts[0] = parts[0].removeprefix(_BOM)
        return parts


class EventStream(_Parts):
    """Server-sent events (WHATWG HTML, "Server-sent events"): read chunks as they come.

    An event that the end of the stream cuts is not lost: servers leave out the last empty line. ``id`` and
    ``retry`` are of no use here, since a call is never resumed.

    Args:
        max_bytes: of one event; a longer one sets ``overflow``, and nothing is to be read any more.
    """

    _end = b"\n\n"

    def read(self, chunk: bytes) -> list[StreamEvent]:
        """Return the events that ``chunk`` ends."""
        events: list[StreamEvent] = []
        for block in self.feed(chunk):
            # Nearly all are such, and come by the thousand.
            if block.startswith(b"data: ") and b"\n" not in block:
                events.append((b"", block[6:]))
            # Comments that keep a connection alive, and empty lines, hold none.
            elif block and (block[0] != _COLON or b"\n" in block) and (event := _event(block)) is not None:
                events.append(event)
        return [] if self.overflow else events

    def close(self) -> list[StreamEvent]:
        """Return the event that the end of the stream ends."""
        return self.read(b"\n\n")


class LineStream(_Parts):
    """One value a line, with ``max_bytes`` of one at the most: read chunks as they come."""

    _end = b"\n"

    def read(self, chunk: bytes) -> list[StreamEvent]:
        """Return the values that ``chunk`` ends, as events without a name."""
        lines = self.feed(chunk)
        return [] if self.overflow else [(b"", line) for line in lines if line.strip()]

    def close(self) -> list[StreamEvent]:
        """Return the value that the end of the stream ends."""
        return self.read(b"\n")


def _event(block: bytes) -> StreamEvent | None:
    name, data = b"", list[bytes]()
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            data.append(line[6:] if line.startswith(b" ", 5) else line[5:])
        elif line.startswith(b"event:"):
            name = line[6:].strip()
        elif line == b"data":
            data.append(b"")
    return (name, b"\n".join(data)) if data else None
