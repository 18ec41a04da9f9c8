"""Run ids: what they look like, and how a new one is drawn."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from random import Random

_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_RESERVED = frozenset({"latest", "con", "prn", "aux", "nul"})


def new_run_id(now: int, random: Random) -> str:
    """Make a run id such as ``"20261120-182241-k3f9x2"``: sorts by time, is easy to read aloud, fits a file name.

    Args:
        now: milliseconds since the Unix epoch.
        random: where the last six characters (30 bits) come from.
    """
    when = datetime.fromtimestamp(now / 1000, UTC)
    return f"{when:%Y%m%d-%H%M%S}-{''.join(random.choice(_LETTERS) for _ in range(6))}"


def valid_run_id(text: str) -> bool:
    """Tell whether ``text`` may name a run: 1 to 64 of ``a-z 0-9 _ -``, and no name that a system reserves."""
    return _PATTERN.fullmatch(text) is not None and text not in _RESERVED
