"""What of a run waits for the disk before anybody goes on: three levels, by the fault that they outlive.

A killed process loses nothing at any level: the system has what was committed. A power cut takes what the system
has not flushed. Every movement of money under a cap, and a run's beginning and end, are flushed at every level.

``sync`` flushes every record; ``paid`` every answer and failure of a call, which may have been paid for; ``exit``
only what every level flushes.
"""

from __future__ import annotations

from llm_runtime.settings import Durability
from llm_runtime.store.committing import Row

__all__ = ["Durability", "must_flush"]

# Canonical JSON has one spelling, so a record's kind shows without parsing.
_ALWAYS = (b'"type":"budget.', b'"type":"run.')
#: What a call of a capped run holds, or has taken, stands first in its events: canonical JSON sorts the keys.
_ACCOUNT = b'{"account":'
_PAID = (*_ALWAYS, b'"type":"call.f')


def must_flush(durability: Durability, rows: list[Row]) -> bool:
    """Tell whether a commit of these rows has to wait for the disk."""
    if durability == "sync":
        return True
    kinds = _PAID if durability == "paid" else _ALWAYS
    return any(row[-1].startswith(_ACCOUNT) or any(kind in row[-1] for kind in kinds) for row in rows)
