"""Asks the rotas of a solution what the checks compare."""

import contextlib
import io
import os
import tempfile
from datetime import datetime

from rota import Run, TableError, Zone, catch_up, due, next_run, read_table
from rota.__main__ import main


def at(text):
    return datetime.fromisoformat(text)


def clock(offset, changes, instants, locals_):
    """What a zone's clock shows at instants, and the first and last instants of times."""
    zone = Zone("z", offset, [(at(instant), to) for instant, to in changes])
    shown = [zone.local(at(one)).isoformat() for one in instants]
    return [shown, [[zone.first(at(one)).isoformat(), zone.last(at(one)).isoformat()] for one in locals_]]


def planned(table, since, until):
    return told(due(read_table(table), at(since), at(until)))


def told(runs):
    return [[run.at.isoformat(), run.job.name] for run in runs]


def upcoming(table, afters):
    """The next run of each job after each instant."""
    seen = []
    for job in read_table(table):
        for after in afters:
            found = next_run(job, at(after))
            seen.append(found and found.isoformat())
    return seen


def missed(table, since, now):
    return told(catch_up(read_table(table), at(since), at(now)))


def read(table):
    """The jobs of a table as plain values, or the line of its fault."""
    try:
        jobs = read_table(table)
    except TableError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    seen = []
    for job in jobs:
        window = job.window and [job.window.step, str(job.window.begin), str(job.window.end)]
        seen.append([job.name, job.zone.name, [str(time) for time in job.times], window, job.missed, job.grace])
    return seen


def firm(table):
    """Whether jobs and runs stay as they were made, and equal ones are equal."""
    (one, every), same = read_table(table), Run(at("2026-01-01"), None)
    seen = [same == Run(at("2026-01-01"), None), isinstance(hash(same), int)]
    bare, window = type(one)(one.name, one.zone, one.days), every.window
    seen += [[bare.times, bare.window, bare.missed, bare.grace] == [(), None, "all", 0]]
    seen += [window == type(window)(window.step, window.begin, window.end), isinstance(hash(window), int)]
    for value, name in ((one, "name"), (same, "at"), (window, "step")):
        try:
            setattr(value, name, None)
            seen.append(False)
        except AttributeError:
            seen.append(True)
    try:
        Zone("z", 0, [(at("2026-01-02"), 1), (at("2026-01-01"), 2)])
        seen.append(False)
    except ValueError:
        seen.append(True)
    return seen


def printed(table, *words):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "t")
        with open(path, "w", encoding="utf-8") as file:
            file.write(table)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path, *words])
    return [code, out.getvalue()]
