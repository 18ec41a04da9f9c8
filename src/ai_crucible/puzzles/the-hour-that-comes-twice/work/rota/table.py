"""Tables of zones and jobs as text."""

import re
from datetime import datetime, timedelta

from rota.days import Days
from rota.job import Job, Window
from rota.zones import Zone

TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
OFFSET = re.compile(r"[+-][0-9]{1,4}")
DAY_MINUTES = 24 * 60


class TableError(ValueError):
    """A table that cannot be read: says the line and why."""

    def __init__(self, line, reason):
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def read_table(text):
    """Return the jobs of a table in its order."""
    zones, jobs = {}, {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if words[0] == "zone":
                _once(zones, _zone(words))
            elif words[0] == "job":
                _once(jobs, _job(words, zones))
            else:
                raise ValueError(f"{words[0]!r} is neither a zone nor a job")
        except ValueError as fault:
            raise TableError(number, str(fault)) from None
        except IndexError:
            raise TableError(number, "words are missing") from None
    return list(jobs.values())


def _once(table, one):
    if one.name in table:
        raise ValueError(f"{one.name} is there already")
    table[one.name] = one


def _zone(words):
    _, name, offset, *rest = [*words] if len(words) > 2 else [*words, *[""] * 3][:3]
    if len(rest) % 2:
        raise ValueError("an offset stands behind each change")
    changes = [(instant(at), _offset(to)) for at, to in zip(rest[::2], rest[1::2])]
    return Zone(name, _offset(offset), changes)


def _offset(text):
    if not OFFSET.fullmatch(text) or abs(int(text)) >= DAY_MINUTES:
        raise ValueError(f"{text!r} is no offset")
    return int(text)


def instant(text):
    """Return an instant in UTC; ValueError where it is none."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M")
    except ValueError:
        raise ValueError(f"{text!r} is no instant (2026-03-29T01:00)") from None


def _time(text):
    match = TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no time")
    return timedelta(hours=int(match[1]), minutes=int(match[2]))


def _job(words, zones):
    _, name, zone, kind, *rest = words
    if zone not in zones:
        raise ValueError(f"{zone!r} is no zone")
    if kind == "daily":
        days = Days(kind)
    elif kind in ("weekly", "monthly"):
        days = Days.read(kind, rest.pop(0))
    else:
        raise ValueError(f"{kind!r} is neither daily, weekly nor monthly")
    times, window = (), None
    if rest[0] == "every":
        if rest[2] != "from" or rest[4] != "to":
            raise ValueError("a window is every N from A to B")
        window = Window(_count(rest[1], 1), _time(rest[3]), _time(rest[5]))
        rest = rest[6:]
    else:
        times = tuple(map(_time, rest.pop(0).split(",")))
    return Job(name, zones[zone], days, times, window, *_missed(rest))


def _missed(words):
    if not words:
        return "all", 0
    if words[0] != "missed" or words[1] not in ("all", "once", "skip") or len(words) > 3:
        raise ValueError("the end of a job is missed, all or once or skip, and a grace")
    return words[1], _count(words[2], 0) if len(words) == 3 else 0


def _count(text, least):
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ValueError(f"{text!r} is no number of minutes")
    return int(text)
