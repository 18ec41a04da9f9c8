"""Bodies as a store keeps them: what a run says again and again, whole requests above all, it stores once.

The larger bodies of a run are one stream of raw deflate (RFC 1951), flushed after each of them, as WebSockets send
their messages (RFC 7692): a record holds what is new in it, and refers for the rest to the 32 KiB before. A stream
begins anew every so often, so that no record is far from where reading has to begin. A plain body begins with a
brace.
"""

from __future__ import annotations

import zlib
from typing import Protocol

FIRST, NEXT = b"\x01", b"\x02"
"""What a body begins with that is the first, or a later one, of its stream."""

_LEAST = 512  # bytes; what is shorter gains little and can be read alone
_STREAM = 256 * 1024
_MOST = 64 * 1024 * 1024  # more of one body is nobody's event
_LEVEL = 5
_END = b"\x00\x00\xff\xff"  # of every flush, and therefore left out


class _Inflating(Protocol):
    """The type of what ``zlib.decompressobj`` makes, which has no public name."""

    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


class Packer:
    """Packs the bodies of one run, in their order."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._mark, self._left = FIRST, _STREAM
        self._stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)

    def pack(self, body: bytes) -> bytes:
        """Return a body as it is stored."""
        if len(body) < _LEAST:
            return body
        if self._left <= 0:
            self._begin()
        mark, self._mark = self._mark, NEXT
        self._left -= len(body)
        return mark + (self._stream.compress(body) + self._stream.flush(zlib.Z_SYNC_FLUSH)).removesuffix(_END)


class Unpacker:
    """Unpacks the bodies of one run, in their order."""

    def __init__(self) -> None:
        self._stream: _Inflating | None = None

    def lacks(self, stored: bytes) -> bool:
        """Tell whether bodies before this one have to be unpacked first."""
        return self._stream is None and stored.startswith(NEXT)

    def unpack(self, stored: bytes) -> bytes:
        """Return the body; what cannot be unpacked as it is, which no digest fits."""
        if not stored.startswith((FIRST, NEXT)):
            return stored
        if stored.startswith(FIRST):
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        if self._stream is None:
            return stored
        try:
            body = self._stream.decompress(stored[1:] + _END, _MOST)
        except zlib.error:
            self._stream = None
            return stored
        return stored if self._stream.unconsumed_tail else body
