"""Tables of jobs as text."""

import re
from dataclasses import dataclass, field

NAME = re.compile(r"[a-z][a-z0-9_]*")
NUMBER = re.compile(r"-?[0-9]+")


class TableError(ValueError):
    """A table that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True)
class Job:
    """A job as it is asked for."""

    name: str
    user: str
    slots: int
    ticks: int
    priority: int = 0
    at: int = 0
    after: tuple = ()
    save: int | None = None
    until: int | None = None


@dataclass(frozen=True)
class Table:
    """How many slots there are, the weights of users, and the jobs by name."""

    slots: int
    weights: dict = field(default_factory=dict)
    jobs: dict = field(default_factory=dict)


def read_table(text):
    """Return the table of a text."""
    table, lines = None, {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if table is None:
                table = _slots(words)
            elif words[0] == "user":
                _user(table, words)
            elif words[0] == "job":
                lines[_job(table, words)] = number
            else:
                raise ValueError(f"{words[0]!r} is neither a user nor a job")
        except ValueError as fault:
            raise TableError(number, str(fault)) from None
    if table is None:
        raise TableError(1, "there are no slots")
    for name, job in table.jobs.items():
        for each in job.after:
            if each not in table.jobs:
                raise TableError(lines[name], f"there is no job {each}")
    return table


def _slots(words):
    if len(words) != 2 or words[0] != "slots":
        raise ValueError("the first line has the slots")
    return Table(_number(words[1], 1))


def _user(table, words):
    if len(words) != 3:
        raise ValueError("a user has a name and a weight")
    table.weights[_name(words[1], table.weights)] = _number(words[2], 1)


def _job(table, words):
    if len(words) < 5 or len(words) % 2 == 0:
        raise ValueError("a job has a name, a user, slots and ticks, and then pairs")
    _, name, user, slots, ticks, *rest = words
    _name(name, table.jobs)
    if user not in table.weights:
        raise ValueError(f"there is no user {user} yet")
    if _number(slots, 1) > table.slots:
        raise ValueError(f"there are no {slots} slots")
    more = {}
    for key, value in zip(rest[::2], rest[1::2]):
        if key in more:
            raise ValueError(f"{key} is there twice")
        more[key] = _more(key, value)
    table.jobs[name] = Job(name, user, int(slots), _number(ticks, 1), **more)
    return name


def _more(key, value):
    if key == "after":
        return tuple(value.split(","))
    least = {"priority": None, "at": 0, "save": 1, "until": 0}
    if key not in least:
        raise ValueError(f"{key!r} is nothing that a job has")
    return _number(value, least[key])


def _name(text, known):
    if not NAME.fullmatch(text) or text in known:
        raise ValueError(f"{text!r} is no new name")
    return text


def _number(text, least):
    if not NUMBER.fullmatch(text) or (least is not None and int(text) < least):
        raise ValueError(f"{text!r} is no number, or too small")
    return int(text)
