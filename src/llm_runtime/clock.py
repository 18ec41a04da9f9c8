"""The wall clock in the unit that logs use. Pass it as a parameter, so that a test can pass another."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Return milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
