"""What runs when."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rota.job import Job

REACH = timedelta(days=100)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Run:
    """A job at an instant."""

    at: datetime
    job: Job


def due(jobs, since, until):
    """Return the runs of jobs from one instant on and before another one, in order."""
    return sorted((Run(at, job) for job in jobs for at in job.runs(since, until)), key=lambda run: run.at)


def next_run(job, after):
    """Return the first instant after another one at which a job runs, or None."""
    since = after + MINUTE
    while since <= after + REACH:
        if runs := job.runs(since, since + DAY):
            return runs[0]
        since += DAY
    return None
