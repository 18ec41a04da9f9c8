"""Zones: what their clocks show at an instant, and when they show a time."""

from bisect import bisect_left
from datetime import timedelta


class Zone:
    """A clock: its offset in minutes, and the changes (instant in UTC, offset from then on) in order."""

    def __init__(self, name, offset, changes=()):
        self.name = name
        self.starts = [instant for instant, _ in changes]
        self.offsets = [timedelta(minutes=each) for each in (offset, *(offset for _, offset in changes))]
        if self.starts != sorted(set(self.starts)):
            raise ValueError("changes come one after another")

    def offset(self, instant):
        """Return how far the clock is ahead of UTC."""
        return self.offsets[bisect_left(self.starts, instant)]

    def local(self, instant):
        """Return what the clock shows."""
        return instant + self.offset(instant)

    def first(self, local):
        """Return the first instant at which the clock shows a time or a later one."""
        return local - self.offset(local)

    def last(self, local):
        """Return the first instant from which on the clock shows no time before this one any more."""
        return local - self.offset(local)
