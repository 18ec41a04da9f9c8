"""Jobs on their way."""

from dataclasses import dataclass

from foreman.table import Job

COMING, WAITING, RUNNING, DONE, DROPPED = "coming", "waiting", "running", "done", "dropped"


@dataclass(eq=False)
class Task:
    """A job, its place in the table, what it has done and kept, all that it ran, and since when it runs."""

    job: Job
    place: int
    state: str = COMING
    kept: int = 0
    ran: int = 0
    since: int | None = None
    over_at: int | None = None

    @property
    def here(self):
        """Whether it has come and is not over."""
        return self.state in (WAITING, RUNNING)

    @property
    def over(self):
        return self.state in (DONE, DROPPED)

    def next(self):
        """Return the instants at which something happens to it."""
        if self.state == COMING:
            return [self.job.at]
        ends = [self.since + self.job.ticks - self.kept] if self.state == RUNNING else []
        return ends + ([self.job.until] if self.here and self.job.until is not None else [])

    def stop(self, now):
        """Stop it; what it did is kept as far as it was saved."""
        done = self.kept + now - self.since
        self.kept = done - done % self.job.save if self.job.save else 0
        self.state, self.since = WAITING, None
