"""Jobs, and the instants at which they run."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rota.days import Days
from rota.zones import Zone

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Window:
    """Every so many minutes from one time of the day up to another one."""

    step: int
    begin: timedelta
    end: timedelta


@dataclass(frozen=True)
class Job:
    """A job: its times (as distances from midnight) or its window, and what becomes of runs that were missed."""

    name: str
    zone: Zone
    days: Days
    times: tuple = ()
    window: Window | None = None
    missed: str = "all"
    grace: int = 0

    def runs(self, since, until):
        """Return the instants of its runs from one instant on and before another one, in order."""
        day = self.zone.local(since).date()
        found = []
        while day <= self.zone.local(until).date():
            if day in self.days:
                found += self.runs_of(day)
            day += DAY
        return sorted(instant for instant in found if since <= instant < until)

    def runs_of(self, day):
        """Return the instants of the runs that belong to a day of its zone."""
        midnight = datetime(day.year, day.month, day.day)
        if self.window is None:
            return [self.zone.first(midnight + time) for time in self.times]
        begin, end = midnight + self.window.begin, midnight + self.window.end
        count = (end - begin) // timedelta(minutes=self.window.step)
        return [self.zone.first(begin + timedelta(minutes=self.window.step * number)) for number in range(count)]
