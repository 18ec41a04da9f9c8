"""Bodies as a store keeps them: what a run says again and again, whole requests above all, it stores once.

The larger bodies of a run are one stream of Zstandard (RFC 8878), flushed after each of them, as WebSockets send their
messages (RFC 7692): a record holds what is new in it, and refers for the rest to the 256 KiB before. A stream begins
anew every so often, so that no record is far from where reading has to begin. Before version 0.3 streams were of raw
deflate (RFC 1951), which reaches back 32 KiB and takes four times as long. A plain body begins with a brace.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import TypeAlias

from zstandard import COMPRESSOBJ_FLUSH_BLOCK, ZstdCompressionParameters, ZstdCompressor, ZstdDecompressor, ZstdError

_FIRST, _NEXT = b"\x03", b"\x04"
_LATER = (_NEXT, b"\x02")
"""What a body begins with that is the first, or a later one, of its stream; of deflate it is 1 and 2."""

_LEAST = 512  # bytes; what is shorter gains little and can be read alone
_STREAM = 2**20
_WINDOW_LOG = 18
_SLICE = 1024
_MOST = 64 * 1024 * 1024  # more of one body is nobody's event
_END = b"\x00\x00\xff\xff"  # of every flush of deflate, and therefore left out
#: Smaller tables than its level has are as good here, and take half a MiB less for each run.
_HOW = ZstdCompressionParameters.from_level(
    3, window_log=_WINDOW_LOG, hash_log=15, chain_log=15, write_content_size=False
)

_Reading: TypeAlias = Callable[[bytes], bytes]


class Packer:
    """Packs the bodies of one run, in their order."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._mark, self._left = _FIRST, _STREAM
        self._stream = ZstdCompressor(compression_params=_HOW).compressobj()

    def pack(self, body: bytes) -> bytes:
        """Return a body as it is stored."""
        if len(body) < _LEAST:
            return body
        if self._left <= 0:
            self._begin()
        mark, self._mark = self._mark, _NEXT
        self._left -= len(body)
        return mark + self._stream.compress(body) + self._stream.flush(COMPRESSOBJ_FLUSH_BLOCK)


def _zstandard() -> _Reading:
    stream = ZstdDecompressor(max_window_size=2**_WINDOW_LOG).decompressobj()

    def read(packed: bytes) -> bytes:
        body = bytearray()
        # Four bytes may stand for 128 KiB.
        for at in range(0, len(packed), _SLICE):
            body += stream.decompress(packed[at : at + _SLICE])
            if len(body) > _MOST:
                raise ValueError("larger than any event")
        return bytes(body)

    return read


def _deflate() -> _Reading:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)

    def read(packed: bytes) -> bytes:
        body = stream.decompress(packed + _END, _MOST)
        if stream.unconsumed_tail:
            raise ValueError("larger than any event")
        return body

    return read


BEGINS: Mapping[bytes, Callable[[], _Reading]] = {_FIRST: _zstandard, b"\x01": _deflate}
"""What reads a stream, by what its first body begins with."""


class Unpacker:
    """Unpacks the bodies of one run, in their order."""

    def __init__(self) -> None:
        self._read: _Reading | None = None

    def lacks(self, stored: bytes) -> bool:
        """Tell whether bodies before this one have to be unpacked first."""
        return self._read is None and stored.startswith(_LATER)

    def unpack(self, stored: bytes) -> bytes:
        """Return the body; what cannot be unpacked as it is, which no digest fits."""
        mark, packed = stored[:1], stored[1:]
        if mark in BEGINS:
            self._read = BEGINS[mark]()
        if self._read is None or mark not in (*BEGINS, *_LATER):
            return stored
        try:
            return self._read(packed)
        except (zlib.error, ZstdError, ValueError):
            self._read = None
            return stored
