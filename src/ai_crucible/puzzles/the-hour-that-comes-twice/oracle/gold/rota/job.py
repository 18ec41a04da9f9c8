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
        # A clock is less than a day from UTC, and a window reaches over two days at the most.
        found, day = set(), since.date() - 4 * DAY
        while day <= until.date() + 2 * DAY:
            if day in self.days and self.zone.shows(day):
                found.update(self.runs_of(day))
            day += DAY
        return sorted(instant for instant in found if since <= instant < until)

    def runs_of(self, day):
        """Return the instants of the runs that belong to a day of its zone."""
        midnight = datetime(day.year, day.month, day.day)
        if self.window is None:
            return [self.zone.first(midnight + time) for time in self.times]
        over = self.window.end <= self.window.begin
        end = self.zone.last(midnight + self.window.end + (DAY if over else timedelta(0)))
        instant, found = self.zone.first(midnight + self.window.begin), []
        while instant < end:
            found.append(instant)
            instant += timedelta(minutes=self.window.step)
        return found
