"""What came of a table."""

from dataclasses import dataclass, field

from foreman.table import Job


@dataclass(frozen=True)
class Run:
    """A job from one tick up to another one, which is not in it."""

    start: int
    end: int
    job: Job


@dataclass(frozen=True)
class Outcome:
    """What became of a job, when, and how many ticks it lost."""

    state: str
    at: int | None = None
    lost: int = 0


@dataclass
class Report:
    """Runs in their order, outcomes by job, and what each user used."""

    runs: list = field(default_factory=list)
    outcomes: dict = field(default_factory=dict)
    used: dict = field(default_factory=dict)
