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
    """Return what is due from one moment until before another."""
    first = {}
    for job in jobs:
        first.setdefault(job.name, job)
    order = list(first)
    moments = set()
    for job in jobs:
        own, at = set(), since - timedelta(minutes=1)
        while len(own) < most:
            at = job.schedule.after(at)
            if at is None or at >= until:
                break
            if at >= since:
                own.add(at)
        moments |= {(at, order.index(job.name)) for at in own}
    return [Run(at, first[order[place]]) for at, place in sorted(moments)][:most]
