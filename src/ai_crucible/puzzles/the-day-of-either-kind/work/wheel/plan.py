"""What is due between two moments."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from wheel.table import Job


@dataclass(frozen=True)
class Run:
    """A job that is due at a moment."""

    at: datetime
    job: Job


def due(jobs, since, until, most=1000):
    """Return what is due from one moment until before another, in order of time and then of the table.

    At most so many runs are returned, the first ones.
    """
    runs = []
    places = {}
    for job in jobs:
        places.setdefault((job.name, job.command), len(places))
        at = job.schedule.after(since - timedelta(minutes=1))
        count = 0
        while at is not None and at < until and count < most:
            if at >= since:
                runs.append(Run(at, job))
                count += 1
            at = job.schedule.after(at)
    return sorted(runs, key=lambda run: (run.at, places[run.job.name, run.job.command]))[:most]
