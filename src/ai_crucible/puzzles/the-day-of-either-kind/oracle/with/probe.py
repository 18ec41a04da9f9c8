"""Asks the schedules of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile
from datetime import datetime

from wheel import FieldError, Run, Schedule, TableError, due, read_table, write_table
from wheel.__main__ import main
from wheel.fields import KINDS, read_field


def after(words, moment, count=1):
    """The moments at which a schedule comes next."""
    try:
        schedule = Schedule.read(words)
    except FieldError:
        return "FieldError"
    at, seen = datetime.fromisoformat(moment), []
    for _ in range(count):
        at = schedule.after(at)
        if at is None:
            return [*seen, None]
        seen.append(at.isoformat())
        if not schedule.includes(at):
            return "it is not due when it comes"
    return seen


def planned(table, since, until, most):
    """What is due, or the line of a fault."""
    try:
        jobs = read_table(table)
    except TableError as fault:
        return ["fault", fault.line]
    before = list(jobs)
    runs = due(jobs, datetime.fromisoformat(since), datetime.fromisoformat(until), most)
    if jobs != before or due(tuple(jobs), datetime.fromisoformat(since), datetime.fromisoformat(until), most=most) != runs or not all(type(run) is Run for run in runs):
        return "not the same when it is asked again"
    return [[run.at.isoformat(), run.job.name, run.job.command] for run in runs]


def counted(table, since, until):
    """How many runs there are where nobody says how many at the most."""
    return len(due(read_table(table), datetime.fromisoformat(since), datetime.fromisoformat(until)))


def told(words):
    """What is wrong with a schedule; empty where nothing is."""
    try:
        Schedule.read(words)
    except FieldError as fault:
        return str(fault)
    return ""


def is_due(words, moments):
    """Whether each moment is one of the schedule's, and its day one of the schedule's."""
    schedule = Schedule.read(words)
    for at in map(datetime.fromisoformat, moments):
        if schedule.falls_on(at.date()) != schedule.falls_on(at):
            return "a day is other without its time"
    return [[schedule.includes(at), schedule.falls_on(at)] for at in map(datetime.fromisoformat, moments)]


def numbers(place, text):
    """What a field holds, on its own and in a schedule."""
    seen = sorted(read_field(text, KINDS[place]))
    words = ["*"] * 5
    words[place] = text
    schedule = Schedule.read(" ".join(words))
    own = (schedule.minutes, schedule.hours, schedule.days, schedule.months, schedule.weekdays)[place]
    return seen if sorted(own) == seen else [seen, sorted(own)]


def rows(table):
    return [[job.name, job.words, job.command] for job in read_table(table)]


def values(words):
    """Whether two of the same are equal, to hash tables too, and how many kinds of value stay as they were made."""
    one, same, firm = Schedule.read(words), Schedule.read(words), 0
    for value, name in ((one, "minutes"), (KINDS[0], "low"), (Run(datetime(2026, 1, 1), None), "at")):
        try:
            setattr(value, name, None)
        except AttributeError:
            firm += 1
    return [one == same, hash(one) == hash(same), firm]


def again(table):
    return write_table(read_table(table))


def printed(table, *words):
    """Exit and output of the command line."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        with open(path, "w", encoding="utf-8") as file:
            file.write(table)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            try:
                code = main([*([path] if table else []), *words])
            except SystemExit as end:
                return ["exit", end.code]
    return [code, out.getvalue()]
