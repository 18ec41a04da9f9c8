"""The hash chain over a run's log: each record commits to all that stand before it."""

from __future__ import annotations

import hashlib
import re

from llm_runtime.events.event import Event
from llm_runtime.structs import Struct

GENESIS = bytes(32)
"""The digest before the first record."""

_LINE = re.compile(
    rb'\{"seq":([1-9][0-9]{0,9}),"at":(0|[1-9][0-9]{0,15}),"digest":"([0-9a-f]{64})","body":(\{.*\})\}\n', re.DOTALL
)


class Record(Struct):
    """One entry of a run's log.

    Args:
        seq: 1-based position.
        at: milliseconds since the Unix epoch, stamped by the log.
        body: the event's payload in canonical JSON.
        digest: SHA-256 over the previous digest, ``seq``, ``at`` and ``body``.
    """

    seq: int
    at: int
    body: bytes
    digest: bytes


def chain_digest(previous: bytes, seq: int, at: int, body: bytes) -> bytes:
    """Return the SHA-256 of ``previous || "seq:at:" || body``; the colons keep the fields apart."""
    return hashlib.sha256(previous + b"%d:%d:" % (seq, at) + body).digest()


def link(previous: bytes, seq: int, at: int, event: Event) -> Record:
    """Return the record that puts ``event`` behind ``previous``."""
    body = event.canonical()
    return Record(seq, at, body, chain_digest(previous, seq, at, body))


def written(record: Record) -> bytes:
    """Return a record as a line of a file."""
    start = b'{"seq":%d,"at":%d,"digest":"%s","body":' % (record.seq, record.at, record.digest.hex().encode())
    return start + record.body + b"}\n"


def read_record(line: bytes) -> Record | None:
    """Return the record that :func:`written` made a line of; ``None`` where it is no such line."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    return Record(int(match[1]), int(match[2]), match[4], bytes.fromhex(match[3].decode()))
