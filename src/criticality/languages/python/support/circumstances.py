"""Circumstances that claims speak of: a clock that is moved by hand, and lanes that take turns."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

#: Seconds since 1970 at the beginning of every example.
BEGINNING = 1_700_000_000
_time = BEGINNING


def clock() -> None:
    """Set the clock to the beginning."""
    global _time
    _time = BEGINNING


def now() -> int:
    """The time, in seconds since 1970."""
    return _time


def advance(seconds: int) -> int:
    """Move the clock forward; the new time."""
    global _time
    if seconds < 0:
        raise ValueError("a clock goes forward")
    _time += int(seconds)
    return _time


def side_by_side(lane: Callable[[], Generator[None, None, Any]], turns: Sequence[int]) -> list[Any]:
    """What three lanes come to that do the same, each pausing at every ``yield``.

    Args:
        turns: which lane goes on next; after the last turn each lane goes on to its end.
    """
    lanes = [lane() for _ in range(3)]
    ended: dict[int, Any] = {}
    for number in [*turns, *(n for n in range(3) for _ in range(100))]:
        if number not in ended:
            try:
                next(lanes[number])
            except StopIteration as end:
                ended[number] = end.value
    return [ended[number] for number in range(3)]
