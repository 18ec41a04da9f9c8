"""Python's collector of garbage, in processes that do nothing but carry out runs."""

from __future__ import annotations

import gc

#: It looks for rings of garbage whenever so many objects more are alive. Its own 700 are reached all the time where
#: many runs are under way, whose objects live as long as their calls: a tenth of all CPU. With 64 councils at once it
#: is a sixteenth at 10,000 and a sixtieth here, for a few MB more.
_COLLECT_AFTER = 50_000


def collect_rarely() -> None:
    """Let the collector of this process look less often, unless it looks seldom or never already.

    For the process that is ours: the command line, a worker. A program that uses the library decides for itself.
    """
    if 0 < gc.get_threshold()[0] < _COLLECT_AFTER:
        gc.set_threshold(_COLLECT_AFTER)
