"""Zones: what their clocks show at an instant, and when they show a time."""

from bisect import bisect_right
from datetime import datetime, timedelta

DAY = timedelta(days=1)


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
        return self.offsets[bisect_right(self.starts, instant)]

    def local(self, instant):
        """Return what the clock shows."""
        return instant + self.offset(instant)

    def first(self, local):
        """Return the first instant at which the clock shows a time or a later one."""
        for start, end, offset in self._periods():
            instant = max(start, local - offset)
            if instant < end:
                return instant
        raise OverflowError

    def last(self, local):
        """Return the first instant from which on the clock shows no time before this one any more."""
        for start, end, offset in reversed(self._periods()):
            instant = min(end, local - offset)
            if start < instant:
                return instant
        raise OverflowError

    def shows(self, day):
        """Tell whether the clock shows any minute of a day."""
        midnight = datetime(day.year, day.month, day.day)
        return any(
            max(start, midnight - offset) < min(end, midnight + DAY - offset) for start, end, offset in self._periods()
        )

    def _periods(self):
        return list(zip([datetime.min, *self.starts], [*self.starts, datetime.max], self.offsets))
