"""The time, as the caller tells it."""

from stash.errors import StashError


class Clock:
    """Goes forward only."""

    def __init__(self):
        self.now = None

    def to(self, now):
        """Set the time."""
        if self.now is not None and now < self.now:
            raise StashError(f"{now} is before {self.now}")
        self.now = now
