"""A table of jobs, read and written."""

import re
from dataclasses import dataclass

from wheel.fields import FieldError
from wheel.schedule import Schedule

_NAME = re.compile(r"[a-z][a-z0-9-]*")


class TableError(ValueError):
    """A table that cannot be read; ``line`` counts from 1."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line


@dataclass(frozen=True)
class Job:
    """What is to be done, and when."""

    name: str
    words: str
    schedule: Schedule
    command: str


def read_table(text):
    """Return the jobs of a table in its order."""
    jobs, commands = [], {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|", 2)]
        if len(parts) != 3 or not parts[2]:
            raise TableError(number, "not NAME | SCHEDULE | COMMAND")
        name, words, command = parts
        if _NAME.fullmatch(name) is None:
            raise TableError(number, f"{name!r} is no name")
        if commands.setdefault(name, command) != command:
            raise TableError(number, f"{name} has another command already")
        try:
            schedule = Schedule.read(words)
        except FieldError as fault:
            raise TableError(number, str(fault)) from None
        jobs.append(Job(name, " ".join(words.split()), schedule, command))
    return jobs


def write_table(jobs):
    """Return a table that reads as these jobs do."""
    name = max((len(job.name) for job in jobs), default=0)
    words = max((len(job.words) for job in jobs), default=0)
    return "".join(f"{job.name:<{name}} | {job.words:<{words}} | {job.command}\n" for job in jobs)
