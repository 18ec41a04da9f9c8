"""How long one clause may take: processor time of our own, and none while another process answers."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress

#: For one case, and for all of them together.
LONGEST_S, BUDGET_S = 10.0, 60.0


class TooSlow(Exception):
    """A clause takes longer than it may."""


#: What keeps a clause from being evaluated and is no fault of a body; and in words.
UNJUDGED = (TooSlow, MemoryError, RecursionError)
WHY: dict[type[BaseException], str] = {
    TooSlow: f"it takes more than {LONGEST_S:g} s of processor time for one case",
    MemoryError: "it takes too much memory",
    RecursionError: "it is nested too deep",
}


@contextmanager
def clocked() -> Generator[None]:
    """End what is evaluated when it takes too long; in another thread than the first there is no clock."""
    with suppress(ValueError):
        signal.signal(signal.SIGVTALRM, _ended)
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@contextmanager
def uncut() -> Generator[None]:
    """Let an exchange with another process come to its end: what is cut off leaves it out of step."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGVTALRM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGVTALRM})


def _ended(*_: object) -> None:
    raise TooSlow
