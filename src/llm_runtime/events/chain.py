"""The hash chain over a run's log: each record commits to all that stand before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from llm_runtime.events.event import Event

GENESIS = bytes(32)
"""The digest before the first record."""


@dataclass(frozen=True, slots=True)
class Record:
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
